//! The fault table of the legacy plan.
//!
//! What a reader would get wrong: a removal that `Remove_Runtime` cannot order is ordered by `Deprovision_Initialization`, which sees
//! it through; only when that fails as well, the cluster is left over.

use super::{
    End::{Done, Left},
    Line, Table, plain,
};

/// Steps that the plan has in common with the other one.
const SHARED: [&str; 3] =
    ["De-provision_AVS_Evaluations", "EDP_Deregistration", "IAS_Deregistration"];

const PARTS: [&[Line]; 5] = [
    &[
        (("Deprovision Azure Event Hubs", "gardener", "GET"), [Left, Left, Left, Left, Left]),
        (("Deprovision_Initialization", "gardener", "GET"), [Left, Left, Left, Left, Left]),
    ],
    &[
        (("Deprovision Azure Event Hubs", "azure", "GET"), [Left, Left, Left, Left, Left]),
        (("Deprovision_Initialization", "gardener", "PUT"), [Left, Left, Left, Left, Done]),
    ],
    &[(("Deprovision Azure Event Hubs", "azure", "DELETE"), [Left, Left, Left, Left, Done])],
    &[(("Remove_Runtime", "provisioner", "POST"), [Done, Done, Done, Done, Done])],
    &[(("Deprovision_Initialization", "provisioner", "POST"), [Left, Left, Left, Left, Left])],
];

fn table() -> Table {
    let lines = plain::PARTS.into_iter().flatten();
    let shared = lines.map(|line| line.0).filter(|call| SHARED.contains(&call.0));
    Table { legacy: true, parts: &PARTS, shared: shared.collect() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_fails_ends_as_the_table_says() {
    table().column("500").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_never_authorized_ends_as_the_table_says() {
    table().column("401").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_for_what_is_said_to_be_missing_ends_as_the_table_says() {
    table().column("404").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_conflicts_ends_as_the_table_says() {
    table().column("409").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_answer_never_makes_sense_ends_as_the_table_says() {
    table().column("malformed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_may_fail_once_in_any_way() {
    table().may_fail_once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_may_go_unanswered_once() {
    table().may_go_unanswered_once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_has_every_call_of_every_step() {
    table().is_complete().await;
}
