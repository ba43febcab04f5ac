//! The plan beside the table of the documents, and the folder beside the plan.

use std::time::Duration;

use engine::{plan::Shape, retry::AtLimit};

use super::*;

/// Stage and step, as the documents list them.
const TABLE: [(&str, &str); 17] = [
    ("start", "Starting"),
    ("create_runtime", "Provision_Initialization"),
    ("create_runtime", "Resolve_Target_Secret"),
    ("create_runtime", "AVS_Create_Internal_Eval_Step"),
    ("create_runtime", "EDP_Registration"),
    ("create_runtime", "Overrides_From_Secrets_And_Config_Step"),
    ("create_runtime", "BTPOperatorOverrides"),
    ("create_runtime", "BusolaMigratorOverrides"),
    ("create_runtime", "Create_Runtime_Without_Kyma"),
    ("check_runtime", "Check_Runtime"),
    ("create_runtime", "Get_Kubeconfig"),
    ("create_runtime", "Inject_BTP_Operator_Credentials"),
    ("create_runtime", "Create_Cluster_Configuration"),
    ("check_kyma", "Check_Cluster_Configuration"),
    ("create_kyma_resource", "Apply_Kyma"),
    ("post_actions", "AVS_Create_External_Eval_Step"),
    ("post_actions", "AVS_Tags"),
];

fn shape(systems: Systems) -> Shape {
    Shape::clone(&plan(&ProvisioningLimits::default(), systems).check().unwrap().shape)
}

/// Stage, as it is shown, and step.
fn shown(shape: &Shape) -> Vec<(String, String)> {
    let stages = shape.stages.iter();
    let steps = stages.flat_map(|stage| stage.steps.iter().map(move |step| (stage, step)));
    steps
        .map(|(stage, step)| {
            let label = step.label.clone().unwrap_or_else(|| stage.name.clone());
            (label, step.name.clone())
        })
        .collect()
}

#[test]
fn the_table_of_the_documents_is_an_ordered_part_of_the_plan() {
    let all = shown(&shape(Systems::ALL));

    let mut rest = all.iter();
    for (stage, step) in TABLE {
        let found = rest.find(|(_, name)| name == step);
        let (shown_in, _) = found.unwrap_or_else(|| panic!("{step} is not there, or too early"));
        assert_eq!(shown_in, stage, "{step}");
    }
}

#[test]
fn what_is_not_configured_is_not_in_the_plan() {
    let names: Vec<String> =
        shown(&shape(Systems::NONE)).into_iter().map(|(_, step)| step).collect();

    let gone = ["AVS", "EDP", "Cluster_Configuration", "Sync_Kubeconfig", "Apply_Kyma"];
    for part in gone {
        assert!(!names.iter().any(|name| name.contains(part)), "{names:?}");
    }
    assert!(names.contains(&"Create_Runtime_Without_Kyma".to_owned()));
}

#[test]
fn tags_of_evaluations_are_in_the_plan_only_where_their_classes_are_known() {
    let has_tags = |known| {
        let systems = Systems::ALL.with(System::AvsTags, known);
        shown(&shape(systems)).iter().any(|(_, step)| step == "AVS_Tags")
    };

    assert!(has_tags(true) && !has_tags(false));
}

#[test]
fn the_documents_limits_are_the_plans() {
    let shape = shape(Systems::ALL);
    let step = |name: &str| {
        let mut all = shape.stages.iter().flat_map(|stage| &stage.steps);
        all.find(|step| step.name == name).unwrap().retry
    };

    assert_eq!(shape.limit, Duration::from_hours(24));
    // Its own limit of two hours, and ten minutes for telling the Reconciler to let go.
    let reconciler = Some(Duration::from_hours(2) + Duration::from_mins(10));
    assert_eq!(step("Check_Cluster_Configuration").waiting_for, reconciler);
    assert_eq!(step("Check_Runtime").waiting_for, Some(Duration::from_hours(6)));
}

#[test]
fn event_data_is_skipped_at_its_limit_unless_it_is_required() {
    let at_limit = |required| {
        let limits = ProvisioningLimits { edp_required: required, ..ProvisioningLimits::default() };
        let shape = plan(&limits, Systems::ALL).check().unwrap().shape;
        let mut all = shape.stages.iter().flat_map(|stage| &stage.steps);
        all.find(|step| step.name == "EDP_Registration").unwrap().retry.at_limit
    };

    assert_eq!(at_limit(true), AtLimit::Fail);
    assert_eq!(at_limit(false), AtLimit::Skip);
}

#[test]
fn every_file_in_the_folder_is_a_step_of_the_plan() {
    let plain = |name: &str| name.to_lowercase().replace('_', "");
    let mut steps: Vec<String> =
        shown(&shape(Systems::ALL)).iter().map(|(_, step)| plain(step)).collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/operations/provisioning");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "tests" && name != "legacy")
        .map(|name| plain(&name))
        .collect();

    steps.sort();
    files.sort();
    assert_eq!(steps, files);
}
