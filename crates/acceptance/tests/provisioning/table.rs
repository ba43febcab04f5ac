//! The fault table: every call of every step, with what becomes of an order when the call fails in one way or another.
//!
//! What a reader would get wrong: the ledger says which calls there are. A call that the table lacks fails a test, and so does
//! one that it has and nobody makes; and every trouble of a trial is checked to have been met.

use std::{collections::BTreeSet, time::Duration};

use broker::operations::Limits;
use engine::{State, testing::Tried};
use simulators::trouble::{Cut, Kind, Rule};

use crate::{
    outside::{Outside, patient},
    service::SYSTEM,
    trying::Trying,
};

/// What becomes of an order when a call fails alike every time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It fails, in the name of this system.
    Stops(&'static str),
    /// It does not matter.
    Works,
}

use End::{Stops, Works};

/// Calls of a step: which system, with which method, in which way they are never carried out; and the ends of an order when
/// they fail so, when what they are about is said to be missing (404), and when something is said to be in the way (409).
type Line = (&'static str, &'static str, &'static str, &'static str, [End; 3]);

const TABLE: [Line; 23] = [
    ("Provision_Initialization", "control-plane", "GET", "500", [Stops("control plane"); 3]),
    ("Provision_Initialization", "kyma-releases", "GET", "malformed", [Stops("kyma releases"); 3]),
    ("Resolve_Target_Secret", "gardener", "GET", "malformed", [Stops("gardener"); 3]),
    ("Resolve_Target_Secret", "gardener", "PUT", "401", [Stops("gardener"); 3]),
    ("AVS_Create_Internal_Eval_Step", "avs", "POST", "malformed", [Stops("avs"); 3]),
    ("EDP_Registration", "edp", "POST", "401", [Stops("edp"); 3]),
    (
        "Overrides_From_Secrets_And_Config_Step",
        "control-plane",
        "GET",
        "401",
        [Stops("control plane"); 3],
    ),
    ("Create_Runtime_Without_Kyma", "provisioner", "POST", "malformed", [Stops("provisioner"); 3]),
    ("Check_Runtime", "provisioner", "POST", "401", [Stops("provisioner"); 3]),
    ("Check_Runtime", "director", "POST", "500", [Stops("director"), Works, Works]),
    ("Get_Kubeconfig", "provisioner", "POST", "500", [Stops("provisioner"); 3]),
    ("Inject_BTP_Operator_Credentials", "runtimes", "GET", "401", [Stops("runtime"); 3]),
    ("Inject_BTP_Operator_Credentials", "runtimes", "POST", "500", [Stops("runtime"); 3]),
    ("Sync_Kubeconfig", "control-plane", "GET", "500", [Stops("control plane"); 3]),
    ("Sync_Kubeconfig", "control-plane", "POST", "401", [Stops("control plane"); 3]),
    ("Create_Cluster_Configuration", "reconciler", "POST", "malformed", [Stops("reconciler"); 3]),
    ("Check_Cluster_Configuration", "reconciler", "GET", "500", [Stops("reconciler"); 3]),
    ("Apply_Kyma", "control-plane", "GET", "malformed", [Stops("control plane"); 3]),
    ("Apply_Kyma", "control-plane", "POST", "500", [Stops("control plane"); 3]),
    ("AVS_Create_External_Eval_Step", "avs", "POST", "401", [Stops("avs"); 3]),
    ("AVS_Tags", "provisioner", "POST", "malformed", [Stops("provisioner"); 3]),
    ("AVS_Tags", "avs", "GET", "401", [Stops("avs"); 3]),
    ("AVS_Tags", "avs", "POST", "500", [Stops("avs"); 3]),
];

fn lasting(name: &str) -> Kind {
    match name {
        "malformed" => Kind::Malformed { body: None },
        status => Kind::Status { status: status.parse().unwrap(), body: None },
    }
}

/// Ways to fail that pass. Each of them is met once by every call.
fn passing() -> Vec<Kind> {
    vec![
        Kind::Status { status: 500, body: None },
        Kind::Status { status: 502, body: None },
        Kind::Status { status: 401, body: None },
        Kind::Busy { retry_after_seconds: 7, as_date: false },
        Kind::Reset { when: Cut::BeforeHeaders },
        Kind::Reset { when: Cut::InBody },
        Kind::LostAnswer { status: None },
        Kind::LostAnswer { status: Some(500) },
        Kind::Malformed { body: None },
        Kind::Truncated,
        Kind::Duplicate,
    ]
}

async fn trying(accounts: usize) -> Trying {
    Trying::on(Outside::start(&["aws"], accounts).await, false)
}

/// A rule for the calls of a line.
fn rule((step, system, method, ..): &Line, calls: u64, kind: &Kind) -> Rule {
    Rule::next(calls, kind.clone()).of(system).on(method, "/").from_step(step)
}

/// One order, while every call of the table fails once.
async fn once_everywhere(trying: &Trying, kind: &Kind) -> Tried {
    for line in &TABLE {
        trying.outside.meet(rule(line, 1, kind));
    }
    let tried = trying.once().await;
    let unmet = trying.outside.running.landscape.troubles().active();
    assert!(unmet.is_empty(), "{kind:?} was not met by {unmet:#?}");
    tried
}

/// How an order ends, when the calls of a line always fail like this.
async fn end_of(trying: &Trying, line: &Line, kind: &Kind) -> End {
    const MANY: u64 = 1_000_000;
    trying.outside.meet(rule(line, MANY, kind));
    let tried = trying.once().await;
    let unmet = trying.outside.running.landscape.troubles().active();
    trying.outside.calm();
    assert!(unmet.iter().all(|rule| rule.calls < Some(MANY)), "{line:?} {kind:?} is not met");
    match &tried.snapshot.failure {
        None => {
            assert_eq!(tried.end.state, State::Succeeded);
            assert_eq!(tried.end.incomplete, Vec::<String>::new());
            Works
        }
        Some(failure) => named(&failure.component),
    }
}

/// The end in the name of a component.
fn named(component: &str) -> End {
    let ends = TABLE.iter().flat_map(|line| line.4);
    let same = |end: &End| matches!(end, Stops(name) if *name == component);
    ends.into_iter().find(same).unwrap_or(Stops("somebody who is not in the table"))
}

/// Steps that fail as long as they may wait are given less time when they fail: what they wait for does not come.
fn limits((step, system, ..): &Line) -> Limits {
    let mut limits = patient();
    if step.ends_with("_Cluster_Configuration") {
        limits.reconciler = Duration::from_hours(2);
    }
    if (*step, *system) == ("Check_Runtime", SYSTEM) {
        limits.runtime = Duration::from_hours(1);
    }
    limits
}

/// Compares a column of the table with what happens.
async fn column(at: usize, lines: &[Line], kind: impl Fn(&Line) -> Kind) {
    let mut trying = trying(lines.len()).await;
    let mut differences = Vec::new();

    for line in lines {
        trying.limits = limits(line);
        let end = end_of(&trying, line, &kind(line)).await;
        if end != line.4[at] {
            differences.push(format!("{} {} {}: {end:?}", line.0, line.1, line.2));
        }
    }

    assert!(differences.is_empty(), "{differences:#?}");
}

/// The lines of the steps that come before the cluster is there, and of the others.
fn halves() -> (&'static [Line], &'static [Line]) {
    TABLE.split_at(TABLE.iter().position(|line| line.0 == "Get_Kubeconfig").unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_never_carried_out_before_the_cluster_is_there_ends_as_the_table_says() {
    column(0, halves().0, |line| lasting(line.3)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_never_carried_out_once_the_cluster_is_there_ends_as_the_table_says() {
    column(0, halves().1, |line| lasting(line.3)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_for_what_is_said_to_be_missing_ends_as_the_table_says() {
    column(1, &TABLE, |_| lasting("404")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_conflicts_ends_as_the_table_says() {
    column(2, &TABLE, |_| lasting("409")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_may_fail_once_in_any_way() {
    let ways = passing();
    let trying = trying(ways.len() + 1).await;
    let undisturbed = trying.once().await;

    for kind in ways {
        let tried = once_everywhere(&trying, &kind).await;

        assert_eq!(tried.end, undisturbed.end, "{kind:?}: {:#?}", tried.journal);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_may_go_unanswered_once() {
    let mut outside = Outside::start(&["aws"], 2).await;
    outside.calls.call = Duration::from_secs(1);
    let trying = Trying::on(outside, false);
    let undisturbed = trying.once().await;

    let tried = once_everywhere(&trying, &Kind::Silent).await;

    assert_eq!(tried.end, undisturbed.end, "{:#?}", tried.journal);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_has_every_call_of_every_step() {
    let trying = trying(1).await;

    let tried = trying.once().await;

    let operation = Some(tried.snapshot.id.to_string());
    let calls = trying.outside.calls().into_iter().filter(|call| call.operation == operation);
    let calls: BTreeSet<_> =
        calls.map(|call| (call.step.unwrap(), call.system, call.method)).collect();
    let owned = |(step, system, method, ..): &Line| {
        ((*step).to_owned(), (*system).to_owned(), (*method).to_owned())
    };
    let table: BTreeSet<_> = TABLE.iter().map(owned).collect();
    assert_eq!(calls, table);
}
