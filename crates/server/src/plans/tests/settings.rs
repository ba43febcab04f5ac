//! The plans beside the settings: limits, and what is switched off.

use std::fs;

use super::super::*;

#[test]
fn the_budgets_are_summed_up_beside_the_limit() {
    let small = find("runtime-upgrade-shoot", None).unwrap();
    let large = find("runtime-provision", None).unwrap();

    let note = |plan: &NamedPlan| notes(&plan.shape).remove(0);

    assert!(small.shape.budget() > small.shape.limit, "{}", note(&small));
    assert!(note(&large).contains("the operation's limit of 4h 15m comes before that"));
    let within = find("legacy-deprovisioning", None).unwrap();
    assert!(note(&within).contains("within the operation's limit"));
}

#[test]
fn what_the_settings_do_not_name_is_told_to_be_switched_off() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broker.toml");
    fs::write(&file, "[systems.edp]\nrequired = true\n").unwrap();

    let plan = find("provisioning", Some(&file)).unwrap();

    let notes = notes(&plan.shape).join("\n");
    assert!(notes.contains("AVS_Tags is switched off: avs is not configured."), "{notes}");
    assert!(!notes.contains("EDP_Registration"), "{notes}");
    let rows = rows(&plan.shape);
    let edp = rows.iter().find(|row| row[1] == "EDP_Registration").unwrap();
    assert_eq!(edp[5], "the operation fails");
    assert!(rows.iter().all(|row| row[1] != "AVS_Tags"));
    assert_eq!(json(&plan)["off"][0]["needs"], "avs");
}

#[test]
fn the_provisioners_plans_have_the_limits_of_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("provisioner.toml");
    fs::write(&file, "[limits]\nhibernation = \"7m\"\n").unwrap();

    let plan = find("runtime-hibernate", Some(&file)).unwrap();

    assert!(rows(&plan.shape).iter().any(|row| row[4] == "7m"), "{:?}", rows(&plan.shape));
}

#[test]
fn a_plan_that_is_not_there_is_answered_with_those_that_are() {
    let error = find("provision", None).unwrap_err().to_string();

    assert!(
        error.starts_with("no plan is named \"provision\"; there are provisioning, "),
        "{error}"
    );
    assert!(error.contains("runtime-upgrade-shoot"), "{error}");
}

#[test]
fn what_a_broker_calls_depends_on_whether_it_follows_the_legacy_plans() {
    let called = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("broker.toml");
        std::fs::write(&file, text).unwrap();
        super::super::called(&settings::load(Some(&file)).unwrap()).unwrap()
    };
    let (newer, older) = (called(""), called("[runtimes]\nlegacy = true\n"));

    assert!(newer.contains("provisioner") && newer.contains("gardener"), "{newer:?}");
    assert!(newer.contains("btp operator") && !newer.contains("lms"), "{newer:?}");
    assert!(older.contains("ias") && !newer.contains("ias"), "{older:?}");
    let told = called("[systems.spc]\nurl = \"https://spc.example.test\"\n");
    assert!(told.contains("spc") && !newer.contains("spc") && !older.contains("spc"));
}
