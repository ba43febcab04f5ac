//! The fault table: every call of every step, with what becomes of a removal when the call fails in one way or another.
//!
//! What a reader would get wrong: the ledger says which calls there are. A call that the table lacks fails a test, and so does
//! one that it has and nobody makes; and every trouble of a trial is checked to have been met.

use std::collections::BTreeSet;

use engine::{State, testing::Tried};
use serde_json::json;
use simulators::{
    ledger::{Filter, Phase},
    trouble::{Cut, Kind, Rule},
};

use crate::{furnishing::Parts, generated::Trying};

/// What becomes of a step when its call fails alike every time. The removal always goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It counts as done: what is said to be missing is gone, and what a deletion answers is not read.
    Done,
    /// It is not completed, and a later step does its work.
    Made,
    /// It is not completed, and something is left over.
    Left,
}

use End::{Done, Left, Made};

/// The ways in which a call fails every time.
const LASTING: [&str; 5] = ["500", "401", "404", "409", "malformed"];

/// Calls of a step: which system, with which method, and the end for each of [`LASTING`].
type Line = (&'static str, &'static str, &'static str, [End; 5]);

/// All calls; those of one part do not get in each other's way, so they fail in one trial.
const TABLE: [&[Line]; 4] = [
    &[
        ("BTPOperator_Cleanup", "provisioner", "POST", [Made, Made, Made, Made, Made]),
        ("De-provision_AVS_Evaluations", "avs", "DELETE", [Left, Left, Done, Left, Done]),
        ("EDP_Deregistration", "edp", "DELETE", [Left, Left, Done, Left, Done]),
        ("IAS_Deregistration", "ias", "GET", [Left, Left, Left, Left, Left]),
        ("Delete_Kyma_Resource", "control-plane", "DELETE", [Made, Made, Done, Made, Done]),
        ("Deregister_Cluster", "reconciler", "DELETE", [Made, Made, Done, Made, Done]),
        ("Remove_Runtime", "provisioner", "POST", [Made, Made, Made, Made, Made]),
        ("Release_Subscription", "gardener", "GET", [Left, Left, Left, Left, Left]),
        ("Delete_Kubeconfig", "control-plane", "DELETE", [Left, Left, Done, Left, Left]),
    ],
    &[
        ("BTPOperator_Cleanup", "runtimes", "DELETE", [Made, Made, Made, Made, Done]),
        ("IAS_Deregistration", "ias", "PUT", [Left, Left, Done, Left, Done]),
        ("Check_Kyma_Resource_Deleted", "control-plane", "GET", [Left, Left, Done, Left, Done]),
        ("Check_Cluster_Deregistration", "reconciler", "GET", [Left, Left, Done, Left, Done]),
        ("Release_Subscription", "gardener", "PUT", [Left, Left, Left, Left, Done]),
    ],
    &[("BTPOperator_Cleanup", "runtimes", "GET", [Made, Made, Done, Made, Made])],
    &[("Check_Runtime_Removal", "provisioner", "POST", [Left, Left, Left, Left, Left])],
];

fn lines() -> impl Iterator<Item = &'static Line> {
    TABLE.into_iter().flatten()
}

/// A failure as the system would put it.
fn lasting(name: &str, system: &str) -> Kind {
    let cluster = ["control-plane", "gardener"].contains(&system);
    let missing = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
        "reason": "NotFound", "message": "it is not there", "details": {"name": "it", "kind": "thing"},
    });
    match name {
        "malformed" => Kind::Malformed { body: None },
        "404" if cluster => Kind::Status { status: 404, body: Some(missing.to_string()) },
        status => Kind::Status { status: status.parse().unwrap(), body: None },
    }
}

fn rule((step, system, method, _): &Line, calls: u64, kind: &Kind) -> Rule {
    Rule::next(calls, kind.clone()).of(system).on(method, "/").from_step(step)
}

impl Trying {
    fn meet(&self, rule: Rule) {
        self.landscape.running.landscape.troubles().add(rule).unwrap();
    }

    /// How many calls the troubles still wait for.
    fn unmet(&self) -> Vec<(Option<String>, Option<u64>)> {
        let active = self.landscape.running.landscape.troubles().active();
        active.into_iter().map(|rule| (rule.step, rule.calls)).collect()
    }

    /// All calls of removals.
    fn calls(&self) -> BTreeSet<(String, String, String)> {
        let filter = Filter { phase: Some(Phase::Received), ..Filter::default() };
        let all = self.landscape.running.landscape.ledger().all(&filter).unwrap();
        let call = |entry: simulators::ledger::Entry| {
            Some((entry.about.step?, entry.about.system, entry.about.method))
        };
        all.into_iter().filter_map(call).collect()
    }
}

/// What became of a step, whose calls have always failed.
fn end_of(tried: &Tried, step: &str) -> End {
    let incomplete = tried.end.incomplete.iter().any(|at| at.ends_with(&format!("/{step}")));
    let left = tried.end.data["left"].as_array().unwrap().contains(&json!(step));
    match (incomplete, left) {
        (false, false) => Done,
        (true, false) => Made,
        (true, true) => Left,
        (false, true) => panic!("{step} is complete and left something: {:#?}", tried.end),
    }
}

/// Compares a column of the table with what happens.
async fn column(name: &str) {
    const MANY: u64 = 1_000_000;
    let trying = Trying::new(Parts::ALL, false).await;
    let at = LASTING.iter().position(|other| *other == name).unwrap();
    let mut differences = Vec::new();

    for part in TABLE {
        for line in part {
            trying.meet(rule(line, MANY, &lasting(name, line.1)));
        }
        let tried = trying.once().await;
        let unmet = trying.unmet();
        trying.landscape.calm();
        assert_eq!(tried.end.state, State::Succeeded, "{name}: {:#?}", tried.journal);
        assert!(unmet.iter().all(|(_, calls)| *calls < Some(MANY)), "{name}: {unmet:?}");
        let kept = part.iter().any(|line| line.3[at] == Left);
        let marked = tried.end.world.as_array().unwrap().contains(&json!("row, marked"));
        assert_eq!(marked, kept, "{name}: {}", tried.end.world);
        for line in part {
            let end = end_of(&tried, line.0);
            if end != line.3[at] {
                differences.push(format!("{} {} {}: {end:?}", line.0, line.1, line.2));
            }
        }
    }

    assert!(differences.is_empty(), "{name}: {differences:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_fails_ends_as_the_table_says() {
    column("500").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_never_authorized_ends_as_the_table_says() {
    column("401").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_for_what_is_said_to_be_missing_ends_as_the_table_says() {
    column("404").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_always_conflicts_ends_as_the_table_says() {
    column("409").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_answer_never_makes_sense_ends_as_the_table_says() {
    column("malformed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_may_fail_once_in_any_way() {
    let trying = Trying::new(Parts::ALL, false).await;
    for kind in [
        Kind::Status { status: 500, body: None },
        Kind::Status { status: 401, body: None },
        Kind::Busy { retry_after_seconds: 7, as_date: false },
        Kind::Reset { when: Cut::BeforeHeaders },
        Kind::Reset { when: Cut::InBody },
        Kind::LostAnswer { status: None },
        Kind::LostAnswer { status: Some(500) },
        Kind::Malformed { body: None },
        Kind::Truncated,
        Kind::Duplicate,
    ] {
        for line in lines() {
            trying.meet(rule(line, 1, &kind));
        }
        let tried = trying.once().await;
        let unmet = trying.unmet();
        trying.landscape.calm();

        assert_eq!(tried.end.state, State::Succeeded, "{kind:?}: {:#?}", tried.journal);
        assert_eq!(tried.end.incomplete, Vec::<String>::new(), "{kind:?}: {:#?}", tried.journal);
        assert_eq!(tried.end.world, json!([]), "{kind:?}");
        assert_eq!(unmet, [], "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_has_every_call_of_every_step() {
    let trying = Trying::new(Parts::ALL, false).await;

    trying.once().await;

    let owned = |(step, system, method, _): &Line| {
        ((*step).to_owned(), (*system).to_owned(), (*method).to_owned())
    };
    let table: BTreeSet<_> = lines().map(owned).collect();
    assert_eq!(trying.calls(), table);
}
