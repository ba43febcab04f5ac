//! Evaluations for a runtime: how they are named and described.
//!
//! What a reader would get wrong: a description that is too long is not cut, for half a JSON text is
//! none. Its values give way instead: the name first, then the longest id.

use serde::Serialize;

use super::{NewEvaluation, Settings, Tag, Tester};

const LONGEST_NAME: usize = 80;
const LONGEST_DESCRIPTION: usize = 255;

/// The runtime of an evaluation.
#[derive(Debug, Clone, Copy)]
pub struct Runtime<'a> {
    /// The service plan's name.
    pub plan: &'a str,
    /// The instance's id.
    pub instance_id: &'a str,
    /// The instance's name.
    pub instance_name: &'a str,
    /// The global account.
    pub global_account_id: &'a str,
    /// The subaccount.
    pub subaccount_id: &'a str,
    /// The shoot's name.
    pub shoot_name: &'a str,
}

/// From where a runtime is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// From inside: the runtime reports by itself.
    Internal,
    /// From outside, by its domain.
    External {
        /// The shoot's domain.
        domain: &'a str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Description {
    instance_name: String,
    #[serde(rename = "globalAccountID")]
    global_account_id: String,
    #[serde(rename = "subAccountID")]
    subaccount_id: String,
    #[serde(rename = "instanceID")]
    instance_id: String,
    shoot_name: String,
}

impl NewEvaluation {
    /// The evaluation of `runtime`. Two of the same runtime and scope are equal.
    pub fn of(settings: &Settings, runtime: &Runtime<'_>, scope: Scope<'_>) -> Self {
        let name = name(runtime, scope);
        let tester = match scope {
            Scope::Internal => &settings.internal,
            Scope::External { .. } => &settings.external,
        };
        let trial = settings
            .trial
            .filter(|_| scope == Scope::Internal && matches!(runtime.plan, "trial" | "free"));
        let ids = (tester.access_id, settings.group_id, settings.parent_id);
        let (tester_access_id, group_id, parent_id) =
            trial.map_or(ids, |ids| (ids.access_id, ids.group_id, ids.parent_id));
        Self {
            definition_type: "BASIC",
            description: description(runtime),
            service: service(tester, &name),
            name,
            url: url(scope),
            check_type: if scope == Scope::Internal { "" } else { "HTTPSGET" },
            interval: 60,
            tester_access_id,
            timeout: 30_000,
            read_only: false,
            content_check: "error",
            content_check_type: "NOT_CONTAINS",
            threshold: "30000",
            group_id,
            visibility: "PUBLIC",
            parent_id,
            tags: (!tester.tags.is_empty()).then(|| tester.tags.clone()),
        }
    }
}

impl Settings {
    /// The tags that are added once the runtime is there; none unless their classes are known.
    pub fn additional_tags(&self, shoot: &str, seed: &str, region: &str) -> Vec<Tag> {
        let Some(classes) = self.tag_classes else { return Vec::new() };
        [(shoot, classes.shoot_name), (seed, classes.seed_name), (region, classes.region)]
            .map(|(content, tag_class_id)| {
                let (content, tag_class_name) = (content.to_owned(), String::new());
                Tag { content, tag_class_id, tag_class_name }
            })
            .into()
    }

    /// The evaluations that those of a runtime may belong to, whatever plan it had when they were made.
    pub fn parents(&self) -> impl Iterator<Item = i64> {
        [Some(self.parent_id), self.trial.map(|ids| ids.parent_id)].into_iter().flatten()
    }

    /// The evaluation that a new one of a runtime belongs to.
    pub fn parent_of(&self, plan: &str, scope: Scope<'_>) -> i64 {
        let trial = matches!(plan, "trial" | "free") && scope == Scope::Internal;
        self.trial.filter(|_| trial).map_or(self.parent_id, |ids| ids.parent_id)
    }
}

fn name(runtime: &Runtime<'_>, scope: Scope<'_>) -> String {
    let provider = match runtime.plan {
        "aws" => "AWS",
        "gcp" => "GCP",
        "openstack" => "CC",
        _ => "AZR",
    };
    let side = if scope == Scope::Internal { "int" } else { "ext" };
    let (id, name) = (runtime.instance_id, runtime.instance_name);
    first(&format!("K8S-{provider}-Kyma-{side}-{id}-{name}"), LONGEST_NAME)
}

fn service(tester: &Tester, name: &str) -> String {
    if tester.service.is_empty() { name.to_owned() } else { tester.service.clone() }
}

fn url(scope: Scope<'_>) -> String {
    match scope {
        Scope::Internal => String::new(),
        Scope::External { domain } => format!("https://healthz.{}/healthz/ready", domain.trim()),
    }
}

fn description(runtime: &Runtime<'_>) -> String {
    let mut text = Description {
        instance_name: first(runtime.instance_name, LONGEST_DESCRIPTION),
        global_account_id: first(runtime.global_account_id, LONGEST_DESCRIPTION),
        subaccount_id: first(runtime.subaccount_id, LONGEST_DESCRIPTION),
        instance_id: first(runtime.instance_id, LONGEST_DESCRIPTION),
        shoot_name: first(runtime.shoot_name, LONGEST_DESCRIPTION),
    };
    loop {
        let written = serde_json::to_string(&text).unwrap_or_default();
        if written.chars().count() <= LONGEST_DESCRIPTION {
            return written;
        }
        text.give_way();
    }
}

impl Description {
    /// Takes one character away: from the name, and from the longest id once the name is gone.
    fn give_way(&mut self) {
        if self.instance_name.pop().is_some() {
            return;
        }
        let ids = [
            &mut self.global_account_id,
            &mut self.subaccount_id,
            &mut self.instance_id,
            &mut self.shoot_name,
        ];
        if let Some(longest) = ids.into_iter().max_by_key(|id| id.chars().count()) {
            longest.pop();
        }
    }
}

fn first(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn runtime(name: &str) -> Runtime<'_> {
        Runtime {
            plan: "aws",
            instance_id: "0b1c2d3e-0000-4000-8000-000000000001",
            instance_name: name,
            global_account_id: "0b1c2d3e-0000-4000-8000-000000000002",
            subaccount_id: "0b1c2d3e-0000-4000-8000-000000000003",
            shoot_name: "c-1a2b3c4",
        }
    }

    #[test]
    fn a_description_is_json_of_at_most_255_characters_whatever_the_name() {
        let long = "n\"\\\n".repeat(2_500);
        let names = ["demo", "", "\u{1}\u{2}\u{3}\u{4}", &"ü".repeat(10_000), &long];

        for name in names {
            let text = description(&runtime(name));

            assert!(text.chars().count() <= 255, "{text}");
            let read: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(read["instanceID"], "0b1c2d3e-0000-4000-8000-000000000001");
            assert_eq!(read["shootName"], "c-1a2b3c4");
            assert!(name.starts_with(read["instanceName"].as_str().unwrap()));
        }
    }

    #[test]
    fn a_name_says_provider_side_and_instance_in_80_characters() {
        let short = Runtime { instance_id: "0b1c", ..runtime("demo") };
        let long = name(&runtime(&"ü".repeat(100)), Scope::Internal);

        assert_eq!(name(&short, Scope::Internal), "K8S-AWS-Kyma-int-0b1c-demo");
        let outside = Scope::External { domain: "d" };
        let lite = Runtime { plan: "azure_lite", ..short };
        assert_eq!(name(&lite, outside), "K8S-AZR-Kyma-ext-0b1c-demo");
        assert_eq!(long.chars().count(), 80);
    }
}
