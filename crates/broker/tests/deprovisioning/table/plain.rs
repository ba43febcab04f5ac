//! The fault table of the plan.

use super::{
    End::{Done, Left, Made},
    Line, Table,
};

pub(super) const PARTS: [&[Line]; 4] = [
    &[
        (("BTPOperator_Cleanup", "provisioner", "POST"), [Made, Made, Made, Made, Made]),
        (("De-provision_AVS_Evaluations", "avs", "DELETE"), [Left, Left, Done, Left, Done]),
        (("EDP_Deregistration", "edp", "DELETE"), [Left, Left, Done, Left, Done]),
        (("IAS_Deregistration", "ias", "GET"), [Left, Left, Left, Left, Left]),
        (("Delete_Kyma_Resource", "control-plane", "DELETE"), [Made, Made, Done, Made, Done]),
        (("Deregister_Cluster", "reconciler", "DELETE"), [Made, Made, Done, Made, Done]),
        (("Remove_Runtime", "provisioner", "POST"), [Made, Made, Made, Made, Made]),
        (("Release_Subscription", "gardener", "GET"), [Left, Left, Left, Left, Left]),
        (("Delete_Kubeconfig", "control-plane", "DELETE"), [Left, Left, Done, Left, Left]),
    ],
    &[
        (("BTPOperator_Cleanup", "runtimes", "DELETE"), [Made, Made, Made, Made, Done]),
        (("IAS_Deregistration", "ias", "PUT"), [Left, Left, Done, Left, Done]),
        (("Check_Kyma_Resource_Deleted", "control-plane", "GET"), [Left, Left, Done, Left, Done]),
        (("Check_Cluster_Deregistration", "reconciler", "GET"), [Left, Left, Done, Left, Done]),
        (("Release_Subscription", "gardener", "PUT"), [Left, Left, Left, Left, Done]),
    ],
    &[(("BTPOperator_Cleanup", "runtimes", "GET"), [Made, Made, Made, Made, Made])],
    &[(("Check_Runtime_Removal", "provisioner", "POST"), [Left, Left, Left, Left, Left])],
];

const TABLE: Table = Table { legacy: false, parts: &PARTS, shared: Vec::new() };

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_fails_ends_as_the_table_says() {
    TABLE.column("500").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_never_authorized_ends_as_the_table_says() {
    TABLE.column("401").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_for_what_is_said_to_be_missing_ends_as_the_table_says() {
    TABLE.column("404").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_conflicts_ends_as_the_table_says() {
    TABLE.column("409").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_answer_never_makes_sense_ends_as_the_table_says() {
    TABLE.column("malformed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_may_fail_once_in_any_way() {
    TABLE.may_fail_once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_may_go_unanswered_once() {
    TABLE.may_go_unanswered_once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_has_every_call_of_every_step() {
    TABLE.is_complete().await;
}
