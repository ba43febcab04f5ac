//! `kcp steps`: what people and scripts see of plans, without a control plane.

use assert_cmd::Command;
use serde_json::Value;

/// The command, in a folder where no control plane ever was.
fn kcp(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kcp"));
    command.current_dir(std::env::temp_dir()).env_remove("KCP_CONNECTION").args(words);
    command
}

fn said(words: &[&str]) -> String {
    let output = kcp(words).assert().success().get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn all_plans_are_listed_with_their_limits() {
    let list = said(&["steps", "list"]);

    let line = |name: &str| {
        let found = list.lines().find(|line| line.split_whitespace().next() == Some(name));
        found.unwrap_or_else(|| panic!("{name} is not in {list}")).to_owned()
    };
    assert!(line("provisioning").contains("broker"));
    assert!(line("provisioning").contains("24h"));
    assert!(line("runtime-upgrade-shoot").contains("provisioner"));
    assert_eq!(list.lines().count(), 1 + 17, "{list}");
}

#[test]
fn a_plan_is_shown_with_its_conditions_limits_and_budgets() {
    let shown = said(&["steps", "show", "provisioning"]);

    assert!(shown.starts_with("provisioning (broker, kind provision): makes a runtime"), "{shown}");
    let line = |step: &str| {
        shown.lines().find(|line| line.split_whitespace().nth(1) == Some(step)).unwrap().to_owned()
    };
    let checking = line("Check_Cluster_Configuration");
    for part in ["check_kyma", "the plan is not preview", "reconciler is configured", "2h"] {
        assert!(checking.contains(part), "{part} is not in {checking}");
    }
    assert!(line("EDP_Registration").contains("the step is skipped"));
    assert!(shown.trim_end().ends_with("the operation's limit of 24h comes before that."));
}

#[test]
fn programs_get_a_plan_as_json() {
    let shown: Value =
        serde_json::from_str(&said(&["steps", "show", "provisioning", "-o", "json"])).unwrap();

    assert_eq!(shown["limit"], "24h");
    let stages = shown["stages"].as_array().unwrap();
    let steps: Vec<&Value> =
        stages.iter().flat_map(|stage| stage["steps"].as_array().unwrap()).collect();
    let checking = steps.iter().find(|step| step["name"] == "Check_Runtime").unwrap();
    assert_eq!(checking["shown_in"], "check_runtime");
    assert_eq!(checking["waiting_for"], "6h");
    assert_eq!(checking["runs_if"][0], "the plan is not own_cluster");
    assert_eq!(checking["at_limit"], "fail");
}

#[test]
fn documents_get_a_plan_as_markdown() {
    let page = include_str!("../../../../docs/operations.md");

    for name in ["deprovisioning", "runtime-hibernate"] {
        let shown = said(&["steps", "show", name, "--output", "markdown"]);
        let section = format!("<!-- kcp steps show {name} -->\n\n{shown}\n<!-- end -->");
        assert!(page.contains(&section), "{shown}");
    }
}

#[test]
fn a_settings_file_shows_what_is_switched_off() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broker.toml");
    std::fs::write(&file, "").unwrap();

    let shown = said(&["steps", "show", "deprovisioning", "--config", file.to_str().unwrap()]);

    let off = "IAS_Deregistration is switched off: ias is not configured.";
    assert!(shown.contains(off), "{shown}");
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let output = kcp(&["steps", "show", "upgrade"]).assert().failure().get_output().clone();

    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("Error: no plan is named \"upgrade\"; there are provisioning,"));
    assert!(error.contains("runtime-upgrade,"), "{error}");
}

#[test]
fn the_former_name_of_the_command_works() {
    assert_eq!(said(&["plan", "list"]), said(&["steps", "list"]));
}
