//! The plan beside the table of the documents, and the folder beside the plan.

use engine::plan::Shape;

use super::*;

/// Stage and step, as the documents list them.
const TABLE: [(&str, &str); 8] = [
    ("cluster", "Update_Kyma_Initialization"),
    ("cluster", "Upgrade_Shoot"),
    ("btp-operator", "Update_Init_Kyma_Version"),
    ("btp-operator", "Get_Kubeconfig"),
    ("btp-operator", "BTPOperatorOverrides"),
    ("btp-operator", "Apply_Reconciler_Configuration"),
    ("btp-operator-check", "CheckReconcilerState"),
    ("check", "Check_Runtime"),
];

fn shape(systems: Systems) -> Shape {
    Shape::clone(&plan(&UpdateLimits::default(), systems).check().unwrap().shape)
}

fn shown(shape: &Shape) -> Vec<(&str, &str)> {
    let steps =
        shape.stages.iter().flat_map(|stage| stage.steps.iter().map(move |step| (stage, step)));
    steps.map(|(stage, step)| (stage.name.as_str(), step.name.as_str())).collect()
}

#[test]
fn the_plan_is_the_table_of_the_documents_and_the_steps_that_tell_others_and_store_what_was_said() {
    let shape = shape(Systems::ALL);
    let mut all = shown(&shape);

    for own in ["Save_Parameters", "Update_Kyma_Resource", "EDP_Registration"] {
        assert_eq!(all.pop(), Some(("check", own)));
    }
    assert_eq!(all, TABLE);
}

#[test]
fn without_a_reconciler_its_steps_are_not_in_the_plan() {
    let shape = shape(Systems::ALL.without(System::Reconciler));
    let names: Vec<&str> = shown(&shape).into_iter().map(|(_, step)| step).collect();

    assert!(!names.iter().any(|name| name.contains("Reconciler")), "{names:?}");
    assert!(names.contains(&"Upgrade_Shoot"));
}

#[test]
fn the_documents_limits_are_the_plans() {
    let shape = shape(Systems::ALL);
    let step = |name: &str| {
        let mut all = shape.stages.iter().flat_map(|stage| &stage.steps);
        all.find(|step| step.name == name).unwrap().retry
    };

    assert_eq!(shape.limit, Duration::from_hours(24));
    assert_eq!(step("Check_Runtime").waiting_for, Some(Duration::from_hours(2)));
    assert_eq!(step("CheckReconcilerState").waiting_for, Some(Duration::from_hours(2)));
}

#[test]
fn every_file_in_the_folder_is_a_step_of_the_plan() {
    let plain = |name: &str| name.to_lowercase().replace('_', "");
    let shape = shape(Systems::ALL);
    // Other plans have it too.
    let own = shown(&shape).into_iter().filter(|(_, step)| *step != "Get_Kubeconfig");
    let mut steps: Vec<String> = own.map(|(_, step)| plain(step)).collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/operations/update");
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
