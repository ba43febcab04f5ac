//! How orchestrations and their operations look.

use std::fmt::Write as _;

use serde_json::Value;

use crate::output;

/// How much of the targets a list shows.
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

/// The table of orchestrations.
pub(super) fn list(all: &[Value]) -> String {
    let head = ["ORCHESTRATION ID", "TYPE", "CREATED AT", "STATE", "DRY RUN", "TARGETS", "DETAILS"];
    let rows = all.iter().map(|it| {
        let parameters = &it["parameters"];
        let (kind, version) = if it["type"] == "upgradeCluster" {
            (
                "cluster upgrade",
                format!("K8S: {}", text(&parameters["kubernetes"]["kubernetesVersion"])),
            )
        } else {
            ("kyma upgrade", format!("Kyma: {}", text(&parameters["kyma"]["version"])))
        };
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

/// The table of operations.
pub(super) fn operations(all: &[Value]) -> String {
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
        let list = list(&[it]);
        assert!(
            list.contains(
                "2026/11/16 01:00:00   in progress   false     region = eu,plan = a   Kyma: 2.10.0"
            ),
            "{list}"
        );
    }
}
