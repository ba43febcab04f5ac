//! The plan beside the table of the documents, and the folder beside the plan.

use engine::plan::Shape;

use super::*;

/// The steps that the documents list.
const TABLE: [(u32, &str); 2] = [(10, "Send_Notification"), (10, "Upgrade_Cluster")];
/// Steps that both upgrades have.
const SHARED: [&str; 2] = ["Send_Notification", "AVS_Maintenance"];

fn shape(systems: Systems) -> Shape {
    Shape::clone(&plan(&UpgradeClusterLimits::default(), systems).check().unwrap().shape)
}

fn shown(shape: &Shape) -> Vec<(u32, &str)> {
    let steps = shape.stages.iter().flat_map(|stage| &stage.steps);
    steps.map(|step| (step.weight, step.name.as_str())).collect()
}

#[test]
fn the_plan_has_the_table_of_the_documents_behind_the_steps_that_begin_and_wait() {
    let shape = shape(Systems::ALL);
    let mut all = shown(&shape);

    assert_eq!(all[..2], [(1, "Upgrade_Cluster_Initialisation"), (1, "Check_Runtime")]);
    all.retain(|step| TABLE.contains(step));
    assert_eq!(all, TABLE);
}

#[test]
fn without_outside_systems_their_steps_are_not_in_the_plan() {
    let shape = shape(Systems::NONE);
    let names: Vec<&str> = shown(&shape).into_iter().map(|(_, step)| step).collect();

    assert!(SHARED.iter().all(|step| !names.contains(step)), "{names:?}");
    assert!(names.contains(&"Upgrade_Cluster"));
}

#[test]
fn every_file_in_the_folder_is_a_step_of_the_plan() {
    let plain = |name: &str| name.to_lowercase().replace('_', "");
    let shape = shape(Systems::ALL);
    let own = shown(&shape).into_iter().filter(|(_, step)| !SHARED.contains(step));
    let mut steps: Vec<String> = own.map(|(_, step)| plain(step)).collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/operations/upgrade_cluster");
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
