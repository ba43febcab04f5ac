//! The fault tables: every call of every step, with what becomes of a removal when the call fails in one way or another.
//!
//! What a reader would get wrong: the ledger says which calls there are. A call that a table lacks fails a test, and so does
//! one that it has and nobody makes; and every trouble of a trial is checked to have been met.

mod legacy;
mod plain;
mod removals;

use std::time::Duration;

use engine::{State, testing::TrialResult};
use serde_json::json;
use simulators::{
    testing::tables::{ALWAYS, Call, LASTING, calls, lasting, named, passing, rule},
    trouble::Kind,
};

use removals::Removals;

/// What becomes of a step when its call fails alike every time. The removal goes on, unless it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It counts as done: a missing object is gone, and the response to a deletion is not read.
    Done,
    /// It is not completed, and a later step does its work.
    Made,
    /// It is not completed, and something is left over.
    Left,
    /// The removal fails, and can be ordered again.
    Fails,
}

/// Calls of a step, and the end for each of [`LASTING`].
type Line = (Call, [End; 5]);

/// The calls of a plan.
struct Table {
    /// Whether it is the legacy plan.
    legacy: bool,
    /// Those of one part do not get in each other's way, so they fail in one trial.
    parts: &'static [&'static [Line]],
    /// Calls of steps that the other plan has too: that table says what becomes of them.
    shared: Vec<Call>,
}

impl Table {
    fn calls(&self) -> impl Iterator<Item = Call> {
        let lines = self.parts.iter().copied().flatten();
        lines.map(|line| line.0).chain(self.shared.iter().copied())
    }

    /// One removal, while every call of the table fails once.
    async fn once_everywhere(&self, removals: &Removals, kind: &Kind) {
        for call in self.calls() {
            removals.meet(rule(call, 1, kind));
        }
        let tried = removals.once().await;
        let unmet = removals.unmet();

        assert_eq!(tried.end.state, State::Succeeded, "{kind:?}: {:#?}", tried.journal);
        assert_eq!(tried.end.incomplete, Vec::<String>::new(), "{kind:?}: {:#?}", tried.journal);
        assert_eq!(tried.end.data["left"], json!([]), "{kind:?}");
        assert_eq!(tried.end.world, json!([]), "{kind:?}");
        assert_eq!(unmet, [], "{kind:?}");
    }

    /// Compares a column of the table with what happens.
    async fn column(&self, name: &str) {
        let removals = Removals::by(self.legacy).await;
        let at = LASTING.iter().position(|other| *other == name).unwrap();
        let mut differences = Vec::new();

        for part in self.parts {
            for (call, _) in *part {
                removals.meet(rule(*call, ALWAYS, &lasting(name, *call)));
            }
            let tried = removals.once().await;
            let unmet = removals.unmet();
            let met = unmet.iter().all(|(_, calls)| *calls < Some(ALWAYS));
            assert!(met, "{name}: {unmet:?}: {:#?}", tried.journal);
            removals.calm().await;
            for (call, ends) in *part {
                let end = end_of(&tried, call.0);
                if end != ends[at] {
                    differences.push(format!("{call:?}: {end:?}"));
                }
            }
        }

        assert!(differences.is_empty(), "{name}: {differences:#?}");
    }

    async fn may_fail_once(&self) {
        let removals = Removals::by(self.legacy).await;
        for kind in passing() {
            self.once_everywhere(&removals, &kind).await;
        }
    }

    async fn may_go_unanswered_once(&self) {
        let mut removals = Removals::by(self.legacy).await;
        removals.trying.landscape.calls.call = Duration::from_secs(1);
        self.once_everywhere(&removals, &Kind::Silent).await;
    }

    async fn is_complete(&self) {
        let removals = Removals::by(self.legacy).await;

        let tried = removals.once().await;

        let operation = tried.snapshot.id.to_string();
        let made = calls(&removals.trying.landscape.running.landscape, &operation);
        assert_eq!(made, named(self.calls()));
    }
}

/// What became of a step, whose calls have always failed. The row is kept, and marked, as long as something is left.
fn end_of(tried: &TrialResult, step: &str) -> End {
    let left = tried.end.data["left"].as_array().unwrap();
    let row = tried.end.world.as_array().unwrap().last().and_then(|what| what.as_str());
    let incomplete = tried.end.incomplete.iter().any(|at| at.ends_with(&format!("/{step}")));
    // The step that comes first and last, in the legacy plan, gives the account back.
    let work = if step == "Deprovision_Initialization" { "Release_Subscription" } else { step };
    if tried.end.state == State::Failed {
        assert_eq!(row, Some("row"), "{:#?}", tried.end);
        return End::Fails;
    }
    assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
    assert_eq!(row, (!left.is_empty()).then_some("row, marked"), "{:#?}", tried.end);
    match (incomplete, left.contains(&json!(work))) {
        (false, false) => End::Done,
        (true, false) => End::Made,
        (false, true) if work == step => panic!("{step} is complete: {:#?}", tried.end),
        (_, true) => End::Left,
    }
}
