//! The fault table of the plan.

use super::{
    End::{self, Stops, Works},
    Line, Table,
};

/// A missing object is created.
const fn missing_is_made(system: &'static str) -> [End; 5] {
    let mut ends = [Stops(system); 5];
    ends[2] = Works;
    ends
}

/// A repeated call finds its effect, or its response is not read.
const fn applied_is_found(system: &'static str) -> [End; 5] {
    let mut ends = [Stops(system); 5];
    ends[4] = Works;
    ends
}

pub(super) const LINES: [Line; 24] = [
    (("Provision_Initialization", "control-plane", "GET"), [Stops("control plane"); 5]),
    (("Provision_Initialization", "kyma-releases", "GET"), [Stops("kyma releases"); 5]),
    (("Resolve_Target_Secret", "gardener", "GET"), [Stops("gardener"); 5]),
    (("Resolve_Target_Secret", "gardener", "PUT"), applied_is_found("gardener")),
    (("AVS_Create_Internal_Eval_Step", "avs", "POST"), [Stops("avs"); 5]),
    (("EDP_Registration", "edp", "POST"), applied_is_found("edp")),
    (
        ("Overrides_From_Secrets_And_Config_Step", "control-plane", "GET"),
        [Stops("control plane"); 5],
    ),
    (("Create_Runtime_Without_Kyma", "provisioner", "POST"), [Stops("provisioner"); 5]),
    (("Check_Runtime", "provisioner", "POST"), [Stops("provisioner"); 5]),
    (
        ("Check_Runtime", "director", "POST"),
        [Stops("director"), Stops("director"), Works, Works, Stops("director")],
    ),
    (("Get_Kubeconfig", "provisioner", "POST"), [Stops("provisioner"); 5]),
    (("Get_Kubeconfig", "runtimes", "GET"), [Stops("runtime"); 5]),
    (("Inject_BTP_Operator_Credentials", "runtimes", "GET"), missing_is_made("runtime")),
    (("Inject_BTP_Operator_Credentials", "runtimes", "POST"), applied_is_found("runtime")),
    (("Sync_Kubeconfig", "control-plane", "GET"), missing_is_made("control plane")),
    (("Sync_Kubeconfig", "control-plane", "POST"), applied_is_found("control plane")),
    (("Create_Cluster_Configuration", "reconciler", "POST"), [Stops("reconciler"); 5]),
    (("Check_Cluster_Configuration", "reconciler", "GET"), [Stops("reconciler"); 5]),
    (("Apply_Kyma", "control-plane", "GET"), missing_is_made("control plane")),
    (("Apply_Kyma", "control-plane", "POST"), applied_is_found("control plane")),
    (("AVS_Create_External_Eval_Step", "avs", "POST"), [Stops("avs"); 5]),
    (("AVS_Tags", "provisioner", "POST"), [Stops("provisioner"); 5]),
    (("AVS_Tags", "avs", "GET"), [Stops("avs"); 5]),
    (("AVS_Tags", "avs", "POST"), applied_is_found("avs")),
];

const TABLE: Table = Table { legacy: false, lines: &LINES, shared: Vec::new(), before: Vec::new };

/// The lines of the steps that come before the cluster is there, and of the others.
fn halves() -> (&'static [Line], &'static [Line]) {
    LINES.split_at(LINES.iter().position(|line| line.0.0 == "Get_Kubeconfig").unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_fails_before_the_cluster_is_there_ends_as_the_table_says() {
    TABLE.column("500", halves().0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_fails_once_the_cluster_is_there_ends_as_the_table_says() {
    TABLE.column("500", halves().1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_never_authorized_before_the_cluster_is_there_ends_as_the_table_says() {
    TABLE.column("401", halves().0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_never_authorized_once_the_cluster_is_there_ends_as_the_table_says() {
    TABLE.column("401", halves().1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_for_what_is_said_to_be_missing_ends_as_the_table_says() {
    TABLE.column("404", &LINES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_conflicts_ends_as_the_table_says() {
    TABLE.column("409", &LINES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_never_makes_sense_before_the_cluster_is_there_ends_as_the_table_says() {
    TABLE.column("malformed", halves().0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_never_makes_sense_once_the_cluster_is_there_ends_as_the_table_says() {
    TABLE.column("malformed", halves().1).await;
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
