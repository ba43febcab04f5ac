//! The plan beside the table of the documents, and the folder beside the plan.

use engine::plan::Shape;

use super::*;

/// Weight and step, as the documents list them.
const TABLE: [(u32, &str); 10] = [
    (1, "Check_Cluster_Configuration"),
    (1, "Init_Kyma_Template"),
    (2, "Get_Kubeconfig"),
    (2, "Sync_Kubeconfig"),
    (2, "Apply_Kyma"),
    (3, "BTPOperatorOverrides"),
    (4, "Overrides_From_Secrets_And_Config_Step"),
    (6, "BusolaMigratorOverrides"),
    (8, "Send_Notification"),
    (10, "Apply_Cluster_Configuration"),
];
/// What the plan has besides: the documents tell of the first one in their text.
const BESIDES: [(u32, &str); 2] = [(1, "Upgrade_Kyma_Initialisation"), (9, "AVS_Maintenance")];
/// Steps that other plans have too.
const SHARED: [&str; 3] = ["Send_Notification", "AVS_Maintenance", "Get_Kubeconfig"];

fn shape(systems: Systems) -> Shape {
    Shape::clone(&plan(&UpgradeKymaLimits::default(), systems).check().unwrap().shape)
}

fn shown(shape: &Shape) -> Vec<(u32, &str)> {
    let steps = shape.stages.iter().flat_map(|stage| &stage.steps);
    steps.map(|step| (step.weight, step.name.as_str())).collect()
}

#[test]
fn the_plan_is_the_table_of_the_documents_in_the_order_of_the_weights() {
    let shape = shape(Systems::ALL);
    let mut all = shown(&shape);

    assert_eq!(all.first(), Some(&BESIDES[0]));
    all.retain(|step| !BESIDES.contains(step));
    assert_eq!(all, TABLE);
}

#[test]
fn without_outside_systems_their_steps_are_not_in_the_plan() {
    let shape = shape(Systems::NONE);
    let names: Vec<&str> = shown(&shape).into_iter().map(|(_, step)| step).collect();

    for step in [
        "Send_Notification",
        "AVS_Maintenance",
        "Check_Cluster_Configuration",
        "Sync_Kubeconfig",
        "Apply_Kyma",
    ] {
        assert!(!names.contains(&step), "{names:?}");
    }
    assert!(names.contains(&"Get_Kubeconfig"));
}

#[test]
fn the_documents_limits_are_the_plans() {
    let shape = shape(Systems::ALL);
    let mut steps = shape.stages.iter().flat_map(|stage| &stage.steps);
    let check = steps.find(|step| step.name == "Check_Cluster_Configuration").unwrap();

    assert_eq!(shape.limit, Duration::from_hours(3));
    assert_eq!(check.retry.waiting_for, Some(Duration::from_hours(2)));
}

#[test]
fn every_file_in_the_folder_is_a_step_of_the_plan() {
    let plain = |name: &str| name.to_lowercase().replace('_', "");
    let shape = shape(Systems::ALL);
    let own = shown(&shape).into_iter().filter(|(_, step)| !SHARED.contains(step));
    let mut steps: Vec<String> = own.map(|(_, step)| plain(step)).collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/operations/upgrade_kyma");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "tests")
        .map(|name| plain(&name))
        .collect();

    steps.sort();
    files.sort();
    assert_eq!(steps, files);
}
