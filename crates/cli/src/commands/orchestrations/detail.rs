//! How orchestrations and their operations look.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    commands::names::Names,
    output::{self, Head, age},
};

/// How much of the targets the known client's list shows.
const TARGETS: usize = 20;
const KEYS: [(&str, &str); 9] = [
    ("target", "target"),
    ("globalAccount", "account"),
    ("subAccount", "subaccount"),
    ("runtimeID", "runtime-id"),
    ("instanceID", "instance-id"),
    ("region", "region"),
    ("planName", "plan"),
    ("shoot", "shoot"),
    ("kymaVersion", "kyma-version"),
];

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The columns of a list of orchestrations.
pub(super) const LIST: [Head; 8] = [
    Head::Fixed("ORCHESTRATION"),
    Head::Fixed("TYPE"),
    Head::State("STATE"),
    Head::Fixed("AGE"),
    Head::Wide("CREATED AT"),
    Head::Wide("DRY RUN"),
    Head::Text("DETAILS"),
    Head::Text("TARGETS"),
];
/// The columns of a list of operations.
pub(super) const OPERATIONS: [Head; 7] = [
    Head::Fixed("NAME"),
    Head::Fixed("OPERATION"),
    Head::State("STATE"),
    Head::Fixed("SHOOT"),
    Head::Wide("GLOBALACCOUNT"),
    Head::Wide("SUBACCOUNT"),
    Head::Text("DESCRIPTION"),
];

/// An orchestration in these columns. A dry run changes nothing, and is marked.
pub(super) fn row(it: &Value, now: Timestamp) -> Vec<String> {
    let parameters = &it["parameters"];
    let (kind, version) = kind(it);
    let dry_run = parameters["dryRun"] == true;
    let kind = if dry_run { format!("{kind}, dry run") } else { kind.to_owned() };
    let paused = it["paused"] == true && it["state"] == "in progress";
    let created: Option<Timestamp> = it["createdAt"].as_str().and_then(|at| at.parse().ok());
    vec![
        text(&it["orchestrationID"]),
        kind,
        if paused { "paused".to_owned() } else { text(&it["state"]) },
        created.map(|at| age(at, now)).unwrap_or_default(),
        text(&it["createdAt"]),
        dry_run.to_string(),
        version,
        targets(&parameters["targets"]["include"]).join(","),
    ]
}

/// An operation in these columns.
pub(super) fn operation_row(it: &Value, names: &Names) -> Vec<String> {
    let keys = ["operationID", "state", "shootName", "globalAccountID", "subAccountID"];
    let name = names.name(&text(&it["instanceID"]), &text(&it["shootName"]));
    let rest = keys.map(|key| text(&it[key]));
    std::iter::once(name).chain(rest).chain([text(&it["description"])]).collect()
}

/// What an orchestration changes, and to which version.
fn kind(it: &Value) -> (&'static str, String) {
    let parameters = &it["parameters"];
    if it["type"] == "upgradeCluster" {
        let version = text(&parameters["kubernetes"]["kubernetesVersion"]);
        ("cluster upgrade", format!("K8S: {version}"))
    } else {
        ("kyma upgrade", format!("Kyma: {}", text(&parameters["kyma"]["version"])))
    }
}

/// The known client's table of orchestrations.
pub(super) fn known(all: &[Value]) -> String {
    let head = ["ORCHESTRATION ID", "TYPE", "CREATED AT", "STATE", "DRY RUN", "TARGETS", "DETAILS"];
    let rows = all.iter().map(|it| {
        let parameters = &it["parameters"];
        let (kind, version) = kind(it);
        let created = text(&it["createdAt"]);
        let created = created.get(..19).unwrap_or(&created).replace('-', "/").replace('T', " ");
        vec![
            text(&it["orchestrationID"]),
            kind.to_owned(),
            created,
            text(&it["state"]),
            (parameters["dryRun"] == true).to_string(),
            targets(&parameters["targets"]["include"]).join(",").chars().take(TARGETS).collect(),
            version,
        ]
    });
    output::columns(head.map(String::from).to_vec(), rows)
}

/// The known client's table of operations.
pub(super) fn known_operations(all: &[Value]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let head = ["OPERATION ID", "SHOOT", "GLOBALACCOUNT", "SUBACCOUNT", "STATE"];
    let keys = ["operationID", "shootName", "globalAccountID", "subAccountID", "state"];
    let rows = all.iter().map(|it| keys.iter().map(|key| text(&it[*key])).collect());
    output::columns(head.map(String::from).to_vec(), rows)
}

/// Lines of names and values.
fn block(lines: &[(&str, String)]) -> String {
    lines.iter().fold(String::new(), |mut shown, (name, value)| {
        let _ = writeln!(shown, "{:<20}{value}", format!("{name}:"));
        shown
    })
}

/// One orchestration.
pub(super) fn orchestration(it: &Value) -> String {
    let (parameters, strategy) = (&it["parameters"], &it["parameters"]["strategy"]);
    let version = if it["type"] == "upgradeCluster" {
        ("K8s Version", text(&parameters["kubernetes"]["kubernetesVersion"]))
    } else {
        ("Kyma Version", text(&parameters["kyma"]["version"]))
    };
    let mut lines = vec![
        ("Orchestration ID", text(&it["orchestrationID"])),
        ("Type", text(&it["type"])),
        ("Created At", text(&it["createdAt"])),
        ("Updated At", text(&it["updatedAt"])),
        ("Dry Run", (parameters["dryRun"] == true).to_string()),
        ("State", text(&it["state"])),
        ("Description", text(&it["description"])),
        ("Strategy", text(&strategy["type"])),
        ("Maintenance Window", (strategy["maintenanceWindow"] == true).to_string()),
        ("Schedule After", text(&strategy["ScheduleTime"])),
        ("Workers", text(&strategy["parallel"]["workers"])),
        version,
    ];
    if it["paused"] == true {
        lines.push(("Paused", text(&it["pauseReason"])));
    }
    let mut shown = block(&lines);
    for (name, key) in [("Targets", "include"), ("Exclude Targets", "exclude")] {
        let targets = targets(&parameters["targets"][key]);
        if !targets.is_empty() {
            let _ = writeln!(shown, "{name}:\n  {}", targets.join("\n  "));
        }
    }
    shown.push_str("Operations:\n");
    for (state, number) in it["operationStats"].as_object().into_iter().flatten() {
        if number.as_u64().unwrap_or_default() > 0 {
            let _ = writeln!(shown, "  {state:>11}: {number}");
        }
    }
    shown
}

/// One operation.
pub(super) fn operation(it: &Value) -> String {
    let window =
        format!("{} - {}", text(&it["maintenanceWindowBegin"]), text(&it["maintenanceWindowEnd"]));
    let lines = [
        ("Operation ID", text(&it["operationID"])),
        ("Orchestration ID", text(&it["orchestrationID"])),
        ("Global Account ID", text(&it["globalAccountID"])),
        ("Subaccount ID", text(&it["subAccountID"])),
        ("Runtime ID", text(&it["runtimeID"])),
        ("Shoot Name", text(&it["shootName"])),
        ("Service Plan", text(&it["servicePlanName"])),
        ("DryRun", text(&it["dryRun"])),
        ("Maintenance Window", window),
        ("State", text(&it["state"])),
        ("Description", text(&it["description"])),
        ("Kubernetes Version", text(&it["clusterConfig"]["kubernetesVersion"])),
        ("Kyma Version", text(&it["kymaConfig"]["version"])),
    ];
    block(&lines) + "\n"
}

/// What is tried again.
pub(super) fn retried(it: &Value) -> String {
    let list = |key: &str| {
        let all = it[key].as_array().into_iter().flatten().map(text);
        all.collect::<Vec<_>>().join(", ")
    };
    block(&[
        ("Orchestration ID", text(&it["orchestrationID"])),
        ("Retry Shoots", list("retryShoots")),
        ("Old Operations", list("oldOperations")),
        ("Invalid Operations", list("invalidOperations")),
        ("Message", text(&it["msg"])),
    ])
}

/// Each target as `key = value` pairs.
fn targets(list: &Value) -> Vec<String> {
    let one = |target: &Value| {
        let given = KEYS.iter().filter(|(key, _)| target[*key].is_string());
        let pairs = given.map(|(key, name)| format!("{name} = {}", text(&target[*key])));
        pairs.collect::<Vec<_>>().join(",")
    };
    list.as_array().into_iter().flatten().map(one).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_orchestration_is_shown_with_its_targets_and_counts() {
        let it = json!({
            "orchestrationID": "o", "type": "upgradeKyma", "state": "in progress",
            "createdAt": "2026-11-16T01:00:00Z",
            "parameters": {
                "targets": { "include": [{ "planName": "aws", "region": "eu" }] },
                "strategy": { "parallel": { "workers": 2 } }, "kyma": { "version": "2.10.0" }
            },
            "operationStats": { "failed": 0, "in progress": 1, "pending": 2 }
        });

        let shown = orchestration(&it);

        assert!(shown.contains("Kyma Version:       2.10.0\n"), "{shown}");
        assert!(shown.ends_with("Targets:\n  region = eu,plan = aws\nOperations:\n  in progress: 1\n      pending: 2\n"), "{shown}");
        let mut dry = it.clone();
        (dry["parameters"]["dryRun"], dry["paused"]) = (true.into(), true.into());
        let row = row(&dry, "2026-11-18T02:00:00Z".parse().unwrap());
        assert_eq!(row[1..4], ["kyma upgrade, dry run", "paused", "2d"]);
        let list = known(&[it]);
        assert!(
            list.contains(
                "2026/11/16 01:00:00   in progress   false     region = eu,plan = a   Kyma: 2.10.0"
            ),
            "{list}"
        );
    }
}
