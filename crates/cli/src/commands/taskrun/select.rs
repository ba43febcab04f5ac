//! Which runtimes a command is for: the rules of orchestrations, from what the broker lists.

use anyhow::Context as _;
use regex::Regex;
use serde_json::Value;

use super::super::upgrade::targets::Target;
use crate::view::Runtime;
use serde::Deserialize as _;

/// Keys of a target that are regular expressions, and what they are compared with.
const PATTERNS: [(&str, &str); 4] = [
    ("globalAccount", "globalAccountID"),
    ("subAccount", "subAccountID"),
    ("region", "region"),
    ("kymaVersion", "kymaVersion"),
];
/// Keys that must be equal.
const WORDS: [(&str, &str); 4] = [
    ("runtimeID", "runtimeID"),
    ("instanceID", "instanceID"),
    ("planName", "servicePlanName"),
    ("shoot", "shootName"),
];

/// A target that can be compared.
struct Selector {
    patterns: Vec<(Regex, &'static str)>,
    words: Vec<(String, &'static str)>,
}

impl Selector {
    fn of(target: &Target) -> anyhow::Result<Self> {
        let text = |key: &str| target.0.get(key).and_then(Value::as_str);
        let mut patterns = Vec::new();
        for (key, field) in PATTERNS {
            let Some(text) = text(key) else { continue };
            let pattern = Regex::new(text);
            patterns.push((
                pattern.with_context(|| format!("{key}: invalid regular expression {text}"))?,
                field,
            ));
        }
        let words = WORDS.iter().filter_map(|(key, field)| Some((text(key)?.to_owned(), *field)));
        Ok(Self { patterns, words: words.collect() })
    }

    fn fits(&self, runtime: &Value) -> bool {
        let text = |field: &str| runtime[field].as_str().unwrap_or_default();
        self.patterns.iter().all(|(pattern, field)| pattern.is_match(text(field)))
            && self.words.iter().all(|(word, field)| text(field) == word)
    }
}

/// The runtimes that are meant, each once, in the order of the targets. Those without a cluster that works are left out, and so are clusters
/// that customers brought along: nobody has a kubeconfig of them.
pub(super) fn chosen(
    runtimes: &[Value],
    include: &[Target],
    exclude: &[Target],
) -> anyhow::Result<Vec<Value>> {
    let selectors =
        |targets: &[Target]| targets.iter().map(Selector::of).collect::<Result<Vec<_>, _>>();
    let (include, exclude) = (selectors(include)?, selectors(exclude)?);
    let mut chosen: Vec<Value> = Vec::new();
    for selector in &include {
        for value in runtimes.iter().filter(|it| selector.fits(it)) {
            let runtime = Runtime::deserialize(value)?;
            let there = runtime.status.is_ready()
                && !runtime.id.is_empty()
                && runtime.service_plan_name != "own_cluster";
            let known = chosen.iter().any(|it| it["instanceID"] == value["instanceID"]);
            if there && !known && !exclude.iter().any(|it| it.fits(value)) {
                chosen.push(value.clone());
            }
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::super::upgrade::targets::target, *};

    fn runtime(shoot: &str, account: &str, plan: &str, state: &str) -> Value {
        json!({
            "instanceID": format!("i-{shoot}"), "runtimeID": format!("r-{shoot}"),
            "globalAccountID": account, "subAccountID": "sa", "subAccountRegion": "cf-eu10",
            "shootName": shoot, "region": "eu-central-1", "servicePlanName": plan,
            "status": {"createdAt": "2026-01-01T12:00:00Z", "state": state},
        })
    }

    #[test]
    fn runtimes_are_chosen_by_every_selector_each_once_and_in_the_order_of_the_targets() {
        let all = [
            runtime("a", "CA0001", "aws", "succeeded"),
            runtime("b", "CA0001", "azure", "error"),
            runtime("c", "CA0002", "aws", "succeeded"),
            runtime("d", "CA0002", "aws", "provisioning"),
            runtime("e", "CA0002", "own_cluster", "succeeded"),
        ];
        let names = |include: &[&str], exclude: &[&str]| {
            let read = |texts: &[&str]| -> Vec<Target> {
                texts.iter().map(|text| target(text).unwrap()).collect()
            };
            let found = chosen(&all, &read(include), &read(exclude)).unwrap();
            found.iter().map(|it| it["shootName"].as_str().unwrap().to_owned()).collect::<String>()
        };

        assert_eq!(names(&["all"], &[]), "abc");
        assert_eq!(names(&["plan=aws", "account=CA0001"], &[]), "acb");
        assert_eq!(names(&["all"], &["account=1$"]), "c");
        assert_eq!(names(&["shoot=c", "runtime-id=r-a", "instance-id=i-b"], &[]), "cab");
        assert_eq!(names(&["region=^eu-,plan=azure"], &[]), "b");
        assert_eq!(names(&["region=europe"], &[]), "");
        assert!(chosen(&all, &[target("region=[").unwrap()], &[]).is_err());
    }
}
