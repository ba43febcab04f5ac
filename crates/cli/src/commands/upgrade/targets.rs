//! Targets on the command line: `all`, or pairs that must all fit.

use serde_json::{Map, Value};
use uuid::Uuid;

use super::super::which::{self, IdMatch};
use crate::client::Client;

/// A target in the words of the API.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::commands) struct Target(pub(in crate::commands) Value);

const KEYS: [(&str, &str); 8] = [
    ("account", "globalAccount"),
    ("subaccount", "subAccount"),
    ("region", "region"),
    ("runtime-id", "runtimeID"),
    ("instance-id", "instanceID"),
    ("plan", "planName"),
    ("shoot", "shoot"),
    ("kyma-version", "kymaVersion"),
];

/// Reads `--target`.
pub(in crate::commands) fn target(text: &str) -> Result<Target, String> {
    read(text, "--target", true)
}

/// Reads `--target-exclude`.
pub(in crate::commands) fn target_exclude(text: &str) -> Result<Target, String> {
    read(text, "--target-exclude", false)
}

/// Targets with whole ids instead of names and parts of ids.
pub(in crate::commands) async fn resolve(
    client: &Client,
    targets: &mut [Target],
    enough: IdMatch,
) -> anyhow::Result<()> {
    for Target(target) in targets {
        for key in ["runtimeID", "instanceID"] {
            let Some(word) = target[key].as_str() else { continue };
            let id = match key {
                "runtimeID" => which::runtime_id(client, word, enough).await?,
                _ if Uuid::parse_str(word).is_ok() => continue,
                _ => which::instance(client, word, enough).await?,
            };
            target[key] = id.into();
        }
    }
    Ok(())
}

/// Targets as they are typed.
pub(in crate::commands) fn text(targets: &[Target]) -> String {
    let one = |Target(target): &Target| {
        let word = |key: &str| target[key].as_str();
        let pairs = KEYS.iter().filter_map(|(name, key)| Some(format!("{name}={}", word(key)?)));
        word("target").map(str::to_owned).into_iter().chain(pairs).collect::<Vec<_>>().join(",")
    };
    targets.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn read(text: &str, flag: &str, all: bool) -> Result<Target, String> {
    let mut target = Map::new();
    for pair in pairs(text) {
        if pair == "all" && all {
            target.insert("target".into(), "all".into());
            continue;
        }
        // Only the first one separates: patterns may have others.
        let (name, value) = pair.split_once('=').unwrap_or((pair.as_str(), ""));
        let Some((_, key)) = KEYS.iter().find(|(known, _)| *known == name) else {
            return Err(format!("invalid selector: {flag} {pair}"));
        };
        if value.is_empty() {
            return Err(format!("{flag} {name} is missing required value ({name}={{VALUE}})"));
        }
        target.insert((*key).into(), value.into());
    }
    Ok(Target(Value::Object(target)))
}

/// Splits at commas before a known word: a comma inside of a pattern stays.
fn pairs(text: &str) -> Vec<String> {
    let begins = |part: &str| {
        part == "all"
            || part
                .split_once('=')
                .is_some_and(|(name, _)| KEYS.iter().any(|(known, _)| *known == name))
    };
    let mut pairs: Vec<String> = Vec::new();
    for part in text.split(',') {
        match pairs.last_mut() {
            Some(last) if !begins(part) && last.contains('=') => {
                last.push(',');
                last.push_str(part);
            }
            _ => pairs.push(part.to_owned()),
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn targets_are_read_as_they_are_typed() {
        let table = [
            ("all", json!({ "target": "all" })),
            (
                "account=CA.*,subaccount=SA.*",
                json!({ "globalAccount": "CA.*", "subAccount": "SA.*" }),
            ),
            (
                "region=europe|eu-,plan=azure",
                json!({ "region": "europe|eu-", "planName": "azure" }),
            ),
            (
                "runtime-id=r,instance-id=i,shoot=c",
                json!({ "runtimeID": "r", "instanceID": "i", "shoot": "c" }),
            ),
            (
                "account=a{1,2}=b,plan=aws",
                json!({ "globalAccount": "a{1,2}=b", "planName": "aws" }),
            ),
            ("kyma-version=^2\\.9", json!({ "kymaVersion": "^2\\.9" })),
        ];

        for (text, expected) in table {
            assert_eq!(target(text), Ok(Target(expected)), "{text}");
        }
        let typed = ["all", "plan=aws,region=eu"].map(|text| target(text).unwrap());
        assert_eq!(super::text(&typed), "all; region=eu,plan=aws");
    }

    #[test]
    fn what_is_no_target_is_refused() {
        let missing = "--target account is missing required value (account={VALUE})";

        assert_eq!(target("account="), Err(missing.into()));
        assert_eq!(target("some"), Err("invalid selector: --target some".into()));
        assert_eq!(target("x=1"), Err("invalid selector: --target x=1".into()));
        assert_eq!(target_exclude("all"), Err("invalid selector: --target-exclude all".into()));
    }
}
