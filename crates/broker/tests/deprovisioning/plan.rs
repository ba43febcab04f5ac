//! The plan and the document that it is made from.

use std::time::Duration;

use broker::operations::{
    System, Systems,
    deprovisioning::{DeprovisioningLimits, plan},
};

/// The steps of the newest document, in its spelling and order.
const DOCUMENT: [&str; 11] = [
    "Init_Step",
    "BTPOperator_Cleanup",
    "De-provision_AVS_Evaluations",
    "EDP_Deregistration",
    "IAS_Deregistration",
    "Deregister_Cluster",
    "Check_Cluster_Deregistration",
    "Remove_Runtime",
    "Check_Runtime_Removal",
    "Release_Subscription",
    "Remove_Instance",
];

fn names(systems: Systems) -> Vec<String> {
    let shape = plan(&DeprovisioningLimits::default(), systems).check().unwrap().shape;
    for stage in &shape.stages {
        assert_eq!(stage.steps.len(), 1, "{} is a stage of one step", stage.name);
        assert_eq!(stage.steps[0].name, stage.name);
    }
    shape.stages.iter().map(|stage| stage.name.clone()).collect()
}

#[test]
fn the_documents_table_is_an_ordered_subsequence_of_the_plan_each_step_its_own_stage() {
    let names = names(Systems::ALL);
    let mut rest = names.iter();

    for step in DOCUMENT {
        assert!(rest.any(|name| name == step), "{step} is missing or out of order in {names:?}");
    }
}

#[test]
fn without_the_lifecycle_manager_the_plan_is_the_documents_table() {
    let systems = Systems::ALL.without(System::LifecycleManager);

    assert_eq!(names(systems), DOCUMENT);
}

#[test]
fn the_operation_may_take_a_day() {
    let shape = plan(&DeprovisioningLimits::default(), Systems::ALL).check().unwrap().shape;

    assert_eq!(shape.limit, Duration::from_hours(24));
}
