//! The plans beside the page that shows them, and beside the settings.

mod settings;

use std::fs;

use super::*;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");

/// The page with what is printed today between its marks.
fn printed_into(page: &str, plans: &[NamedPlan]) -> String {
    let mut page = page.to_owned();
    for plan in plans {
        let begin = format!("<!-- kcp steps show {} -->\n", plan.name);
        let at = page.find(&begin).unwrap_or_else(|| panic!("{} is not on the page", plan.name));
        let from = at + begin.len();
        let to = from + page[from..].find("<!-- end -->").expect("every table has an end");
        page.replace_range(from..to, &format!("\n{}\n", markdown(plan)));
    }
    page
}

#[test]
fn the_page_about_operations_shows_every_plan_as_it_is_printed() {
    let kept = fs::read_to_string(PAGE).unwrap();
    let printed = printed_into(&kept, &all().unwrap());

    if std::env::var_os("KCP_UPDATE_SAMPLES").is_some() {
        fs::write(PAGE, &printed).unwrap();
    }

    let how = "docs/operations.md differs: run this test with KCP_UPDATE_SAMPLES=1 to write it";
    assert!(fs::read_to_string(PAGE).unwrap() == printed, "{how}");
    let marks = kept.matches("<!-- kcp steps show ").count();
    assert_eq!(marks, all().unwrap().len(), "the page shows a plan that is not there");
}

#[test]
fn every_plan_has_a_name_of_its_own_that_tells_whose_it_is() {
    let plans = all().unwrap();
    let names: BTreeSet<&str> = plans.iter().map(|plan| plan.name).collect();

    assert_eq!(names.len(), plans.len());
    for plan in &plans {
        let is_provisioners = plan.service == Service::Provisioner;
        assert_eq!(plan.name.starts_with("runtime-"), is_provisioners, "{}", plan.name);
    }
}

#[test]
fn every_kind_that_the_services_have_is_there() {
    let plans = all().unwrap();
    let kinds = |service| -> BTreeSet<String> {
        let mine = plans.iter().filter(|plan| plan.service == service);
        mine.map(|plan| plan.shape.kind.clone()).collect()
    };

    let of_the_broker = [
        "deprovision",
        "job",
        "orchestration",
        "provision",
        "update",
        "upgradeCluster",
        "upgradeKyma",
    ];
    let of_the_broker = of_the_broker.map(String::from);
    assert_eq!(kinds(Service::Broker), of_the_broker.into());
    let of_the_provisioner = [
        "deprovision",
        "deprovision_no_install",
        "hibernate",
        "provision",
        "provision_no_install",
        "reconnect",
        "upgrade",
        "upgrade_shoot",
    ]
    .map(String::from);
    assert_eq!(kinds(Service::Provisioner), of_the_provisioner.into());
}

#[test]
fn what_a_step_calls_is_a_system_that_is_told_of() {
    let known: BTreeSet<&str> = crate::systems::ALL.iter().map(|about| about.name).collect();
    let plans = all().unwrap();
    let steps = plans.iter().flat_map(|plan| &plan.shape.stages).flat_map(|stage| &stage.steps);
    let needed: BTreeSet<&str> = steps.flat_map(|step| &step.calls).map(String::as_str).collect();

    assert!(needed.len() > 5, "{needed:?}");
    assert!(needed.is_subset(&known), "{needed:?} of {known:?}");
}

#[test]
fn a_row_says_all_that_is_known_of_a_step() {
    let plan = find("provisioning", None).unwrap();

    let all = rows(&plan.shape);

    let row = |step: &str| all.iter().find(|row| row[1] == step).unwrap().join(" | ");
    assert_eq!(
        row("Check_Runtime"),
        "check_runtime (works in create_runtime) | Check_Runtime | the plan is not own_cluster | 6h | 6h | the operation fails \
         | 5s to 1m | 1s to 1m | 2m"
    );
    assert!(row("EDP_Registration").contains(
        "the plan is not own_cluster, and edp is configured | 30m | – | the step is skipped"
    ));
    assert!(row("Starting").contains("| always |"));
}
