//! The fault table of the legacy plan.
//!
//! What a reader would get wrong: a runtime without logging is better than none, so trouble with logging stops no order. Nor
//! does IAS once the runtime is there, however long it fails.

use simulators::{
    testing::tables::{Call, rule},
    trouble::{Kind, Rule},
};

use super::{
    End::{Stops, Unlogged, Works},
    Line, Table, plain,
};

/// Steps that the plan has in common with the other one.
const SHARED: [&str; 3] =
    ["Resolve_Target_Secret", "EDP_Registration", "Overrides_From_Secrets_And_Config_Step"];

const LINES: [Line; 21] = [
    (("Initialization", "control-plane", "GET"), [Stops("control plane"); 5]),
    (("Initialization", "kyma-releases", "GET"), [Stops("kyma releases"); 5]),
    (("AVS_Configuration_Step", "avs", "POST"), [Stops("avs"); 5]),
    (("Create_LMS_Tenant", "lms", "POST"), [Unlogged; 5]),
    (("IAS_Registration", "ias", "GET"), [Stops("ias"); 5]),
    (
        ("IAS_Registration", "ias", "POST"),
        [Stops("ias"), Stops("ias"), Stops("ias"), Stops("ias"), Works],
    ),
    (("IAS_Registration", "ias", "PUT"), [Stops("ias"); 5]),
    (
        ("IAS_Registration", "ias", "DELETE"),
        [Stops("ias"), Stops("ias"), Works, Stops("ias"), Works],
    ),
    (("Provision Azure Event Hubs", "gardener", "GET"), [Stops("gardener"); 5]),
    (
        // An account that was claimed is the order's, whatever the answer was.
        ("Provision Azure Event Hubs", "gardener", "PUT"),
        [Stops("gardener"), Stops("gardener"), Stops("gardener"), Stops("gardener"), Works],
    ),
    (
        // A namespace that is never seen is waited for.
        ("Provision Azure Event Hubs", "azure", "GET"),
        [Stops("azure"), Stops("azure"), Stops("engine"), Stops("azure"), Stops("azure")],
    ),
    (("Provision Azure Event Hubs", "azure", "PUT"), [Stops("azure"); 5]),
    (("Provision Azure Event Hubs", "azure", "POST"), [Stops("azure"); 5]),
    (("Request_LMS_Certificates", "lms", "GET"), [Unlogged; 5]),
    (("Request_LMS_Certificates", "lms", "POST"), [Unlogged; 5]),
    (("Create_Runtime", "director", "POST"), [Stops("director"); 5]),
    (("Create_Runtime", "provisioner", "POST"), [Stops("provisioner"); 5]),
    (("Initialization", "provisioner", "POST"), [Stops("provisioner"); 5]),
    (
        ("Initialization", "director", "POST"),
        [Stops("director"), Stops("director"), Works, Works, Stops("director")],
    ),
    (("Initialization", "ias", "GET"), [Works; 5]),
    (("Initialization", "ias", "PUT"), [Works; 5]),
];

fn table() -> Table {
    let shared = plain::LINES.iter().map(|line| line.0).filter(|call| SHARED.contains(&call.0));
    Table { legacy: true, lines: &LINES, shared: shared.collect(), before }
}

/// Secrets of the dashboards are deleted only when some are there: when an earlier answer was lost.
fn before() -> Vec<Rule> {
    const REGISTERING: Call = ("IAS_Registration", "ias", "PUT");
    let lost = Kind::LostAnswer { status: None };
    vec![rule(REGISTERING, 1, &lost).holding("rest_api_client_secret")]
}

/// The lines of the steps that come before logging is asked for a certificate, and of the others.
fn halves() -> (&'static [Line], &'static [Line]) {
    LINES.split_at(LINES.iter().position(|line| line.0.0 == "Request_LMS_Certificates").unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_fails_early_ends_as_the_table_says() {
    table().column("500", halves().0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_fails_late_ends_as_the_table_says() {
    table().column("500", halves().1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_never_authorized_early_ends_as_the_table_says() {
    table().column("401", halves().0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_never_authorized_late_ends_as_the_table_says() {
    table().column("401", halves().1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_never_makes_sense_early_ends_as_the_table_says() {
    table().column("malformed", halves().0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_never_makes_sense_late_ends_as_the_table_says() {
    table().column("malformed", halves().1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_for_what_is_said_to_be_missing_ends_as_the_table_says() {
    table().column("404", &LINES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_conflicts_ends_as_the_table_says() {
    table().column("409", &LINES).await;
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
