//! The plans beside the stages that clients of the provisioner know.
//!
//! What a reader would get wrong: plans have stages of their own besides (`CreatingCluster`, `UpdatingShoot` …), because here
//! the Shoot is made and changed by steps. There is no `UpdatingUpgradeState`: an upgrade's state is that of its operation.

use engine::{Plan, Shape};
use serde_json::{Value, json};

use super::*;
use crate::limits::StageLimits;

/// An operation, and its stages as the documents list them.
type Table = (&'static str, &'static [&'static str]);

const TABLES: [Table; 8] = [
    (
        "provision",
        &[
            "WaitingForClusterDomain",
            "WaitingForClusterCreation",
            "CreatingBindingsForOperators",
            "StartingInstallation",
            "WaitingForInstallation",
            "ConnectRuntimeAgent",
            "WaitForAgentToConnect",
        ],
    ),
    (
        "provision_no_install",
        &[
            "WaitingForClusterDomain",
            "WaitingForClusterCreation",
            "CreatingBindingsForOperators",
            "ConnectRuntimeAgent",
        ],
    ),
    ("upgrade", &["StartingUpgrade", "WaitingForInstallation"]),
    (
        "upgrade_shoot",
        &["WaitingForShootNewVersion", "WaitingForShootUpgrade", "CreatingBindingsForOperators"],
    ),
    (
        "deprovision",
        &["CleanupCluster", "TriggerKymaUninstall", "DeprovisionCluster", "WaitForClusterDeletion"],
    ),
    ("deprovision_no_install", &["DeprovisionCluster", "WaitForClusterDeletion"]),
    ("hibernate", &["WaitForHibernation"]),
    ("reconnect", &["ConnectRuntimeAgent", "WaitForAgentToConnect"]),
];

fn shape<O: Operation>(plan: Plan<O>) -> Shape {
    Shape::clone(&plan.check().unwrap().shape)
}

fn shapes() -> Vec<Shape> {
    let limits = StageLimits::default();
    vec![
        shape(provisioning::plan(&limits)),
        shape(provisioning::plan_no_install(&limits)),
        shape(upgrade::plan(&limits)),
        shape(upgrade_shoot::plan(&limits)),
        shape(deprovisioning::plan(&limits)),
        shape(deprovisioning::plan_no_install(&limits)),
        shape(hibernation::plan(&limits)),
        shape(reconnection::plan(&limits)),
    ]
}

#[test]
fn the_stages_that_clients_know_are_an_ordered_part_of_every_plan() {
    let shapes = shapes();

    for (kind, table) in TABLES {
        let shape = shapes.iter().find(|shape| shape.kind == kind).unwrap();
        let names: Vec<&str> = shape.stages.iter().map(|stage| stage.name.as_str()).collect();
        let mut rest = names.iter();
        for stage in table {
            assert!(
                rest.any(|name| name == stage),
                "{kind}: {stage} is not there, or too early, in {names:?}"
            );
        }
    }
    assert_eq!(shapes.len(), TABLES.len());
}

#[test]
fn how_far_gardener_is_stands_with_its_percentage_inside_of_a_sentence() {
    let shoot = |last: Value| -> Shoot {
        let status = json!({"lastOperation": last});
        serde_json::from_value(json!({"metadata": {}, "spec": {}, "status": status})).unwrap()
    };
    let table = [
        (
            json!({"progress": 62, "description": "Waiting until it is there."}),
            "62 %: waiting until it is there",
        ),
        (json!({"progress": 3, "description": "DNS record is made"}), "3 %: DNS record is made"),
        (json!({"progress": 100, "description": "X"}), "100 %: X"),
        (json!({}), "0 %: "),
        (json!(null), "Gardener has not begun"),
    ];

    for (last, expected) in table {
        assert_eq!(progress(&shoot(last)), expected);
    }
    assert_eq!(progress(&Shoot::named("c-1")), "Gardener has not begun");
}
