//! What the form of an orchestration says, in the words of the API.
//!
//! What a reader would get wrong: nothing is judged here but what has no type in a form. Which values are allowed is said by
//! the use case, with the name of the field.

use domain::orchestration::{
    Budget, Kind, KubernetesVersion, KymaVersion, Parallel, Parameters, Strategy, Target, Targets,
};

use crate::forms::Fields;

/// How many targets a list of the form may have.
pub(super) const MOST_TARGETS: usize = 20;

/// The selectors of a target: field, label, whether it is a pattern.
pub(super) const SELECTORS: [(&str, &str, bool); 8] = [
    ("planName", "Service plan", false),
    ("region", "Region", true),
    ("globalAccount", "Global account", true),
    ("subAccount", "Subaccount", true),
    ("shoot", "Shoot", false),
    ("instanceID", "Instance", false),
    ("runtimeID", "Runtime", false),
    ("kymaVersion", "Kyma version", true),
];

/// How many targets a list of the form has: at least one is shown of those that are included.
pub(super) fn rows(fields: &Fields, list: &str) -> usize {
    let least = usize::from(list == "include");
    let given = fields.get(&format!("{list}-rows")).parse().unwrap_or(least);
    let more = usize::from(fields.get("do") == format!("more-{list}"));
    (given + more).clamp(least, MOST_TARGETS)
}

/// Whether a target means every runtime.
pub(super) fn is_all(target: &Target) -> bool {
    *target == Target { target: "all".into(), ..Target::default() }
}

/// The parameters of an orchestration.
pub(super) fn read(fields: &Fields) -> Result<(Kind, Parameters), String> {
    let kind: Kind = match fields.get("kind") {
        "" => Kind::UpgradeKyma,
        word => word
            .parse()
            .map_err(|_| format!("kind must be upgradeKyma or upgradeCluster, not {word:?}"))?,
    };
    let text = |name: &str| fields.get(name).to_owned();
    let given = |name: &str| Some(text(name)).filter(|it| !it.is_empty());
    let kubernetes = KubernetesVersion {
        kubernetes_version: text("kubernetes"),
        machine_image: text("image"),
        machine_image_version: text("image-version"),
    };
    let parameters = Parameters {
        targets: Targets { include: list(fields, "include"), exclude: list(fields, "exclude") },
        strategy: Strategy {
            kind: "parallel".into(),
            schedule: schedule(fields.get("not-before")),
            maintenance_window: fields.ticked("windows"),
            parallel: Parallel { workers: number(fields, "workers")? },
            canary: number(fields, "canary")?,
            failure_budget: given("budget").map(Budget::Text),
            ..Strategy::default()
        },
        dry_run: fields.ticked("dry-run"),
        kyma: (kind == Kind::UpgradeKyma).then(|| KymaVersion { version: text("kyma") }),
        kubernetes: (kind == Kind::UpgradeCluster && kubernetes != KubernetesVersion::default())
            .then_some(kubernetes),
        notification: match fields.get("notification") {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        },
        ..Parameters::default()
    };
    Ok((kind, parameters))
}

/// The targets of a list that say something.
fn list(fields: &Fields, list: &str) -> Vec<Target> {
    let target = |row: usize| {
        let text = |name: &str| fields.get(&format!("{list}-{row}-{name}")).to_owned();
        Target {
            target: if text("all").is_empty() { String::new() } else { "all".into() },
            global_account: text("globalAccount"),
            sub_account: text("subAccount"),
            region: text("region"),
            runtime_id: text("runtimeID"),
            plan_name: text("planName"),
            shoot: text("shoot"),
            instance_id: text("instanceID"),
            kyma_version: text("kymaVersion"),
        }
    };
    (0..rows(fields, list)).map(target).filter(|it| *it != Target::default()).collect()
}

/// A time as browsers write it is in UTC here, and may lack its seconds.
fn schedule(text: &str) -> String {
    match text.len() {
        0 => "now".into(),
        16 => format!("{text}:00Z"),
        19 => format!("{text}Z"),
        _ => text.to_owned(),
    }
}

fn number(fields: &Fields, name: &str) -> Result<i64, String> {
    match fields.get(name) {
        "" => Ok(0),
        text => text.parse().map_err(|_| format!("{name} must be a whole number, not {text:?}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(list: &[(&str, &str)]) -> Fields {
        let owned = list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Fields::from(owned.collect::<Vec<_>>())
    }

    #[test]
    fn a_form_says_the_same_as_a_request() {
        let sent = fields(&[
            ("kind", "upgradeCluster"),
            ("kubernetes", "1.33.1"),
            ("include-rows", "2"),
            ("include-0-planName", "aws"),
            ("include-0-region", "^eu"),
            ("include-1-kymaVersion", r"^2\.10"),
            ("exclude-rows", "1"),
            ("exclude-0-shoot", "c-1"),
            ("not-before", "2026-12-31T22:00"),
            ("workers", "5"),
            ("canary", "1"),
            ("budget", "10%"),
            ("windows", "on"),
            ("dry-run", "on"),
            ("notification", "no"),
        ]);

        let (kind, parameters) = read(&sent).unwrap();

        assert_eq!(kind, Kind::UpgradeCluster);
        let expected = json!({
            "targets": {
                "include": [{"planName": "aws", "region": "^eu"}, {"kymaVersion": r"^2\.10"}],
                "exclude": [{"shoot": "c-1"}],
            },
            "strategy": {
                "type": "parallel", "schedule": "2026-12-31T22:00:00Z", "ScheduleTime": "0001-01-01T00:00:00Z",
                "maintenanceWindow": true, "parallel": {"workers": 5}, "canary": 1, "failureBudget": "10%",
            },
            "dryRun": true, "notification": false, "retryoperation": {},
            "kubernetes": {"kubernetesVersion": "1.33.1", "machineImage": "", "machineImageVersion": ""},
        });
        assert_eq!(serde_json::to_value(parameters).unwrap(), expected);
    }

    #[test]
    fn an_empty_form_names_no_target_and_a_wrong_number_is_named() {
        let (kind, parameters) = read(&fields(&[])).unwrap();

        assert_eq!(kind, Kind::UpgradeKyma);
        assert!(parameters.targets.include.is_empty() && parameters.kyma.is_some());
        assert_eq!(
            read(&fields(&[("workers", "many")])).unwrap_err(),
            "workers must be a whole number, not \"many\""
        );
        assert!(read(&fields(&[("kind", "reboot")])).unwrap_err().starts_with("kind must be"));
    }

    #[test]
    fn a_target_is_added_on_request_up_to_a_limit() {
        assert_eq!(rows(&fields(&[]), "include"), 1);
        assert_eq!(rows(&fields(&[("include-rows", "2"), ("do", "more-include")]), "include"), 3);
        assert_eq!(rows(&fields(&[("exclude-rows", "999")]), "exclude"), MOST_TARGETS);
        assert_eq!(rows(&fields(&[("do", "more-include")]), "exclude"), 0);
    }
}
