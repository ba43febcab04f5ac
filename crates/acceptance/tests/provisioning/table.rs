//! The fault tables: every call of every step, with what becomes of an order when the call fails in one way or another.
//!
//! What a reader would get wrong: the ledger says which calls there are. A call that a table lacks fails a test, and so does
//! one that it has and nobody makes; and every trouble of a trial is checked to have been met.

mod legacy;
mod plain;

use std::time::Duration;

use broker::operations::ProvisioningLimits;
use engine::{State, testing::TrialResult};
use serde_json::json;
use simulators::{
    testing::tables::{ALWAYS, Call, LASTING, calls, lasting, named, passing, rule},
    trouble::{Kind, Rule},
};

use crate::{
    orders::OrderSpec,
    outside::{Outside, patient},
    service::SYSTEM,
    trying::Trying,
};

/// The result of an order when a call always fails in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It fails, in the name of this system.
    Stops(&'static str),
    /// It succeeds, and the runtime goes without logging.
    Unlogged,
    /// It does not matter.
    Works,
}

/// Calls of a step, and the end for each of [`LASTING`].
type Line = (Call, [End; 5]);

/// The calls of a plan.
struct Table {
    /// Whether it is the legacy plan.
    legacy: bool,
    lines: &'static [Line],
    /// Calls of steps that the other plan has too: that table says what becomes of them.
    shared: Vec<Call>,
    /// Trouble without which some call is not made.
    before: fn() -> Vec<Rule>,
}

impl Table {
    async fn outside(&self, accounts: usize) -> Outside {
        let providers: &[&str] = if self.legacy { &["aws", "azure"] } else { &["aws"] };
        Outside::start(providers, accounts).await
    }

    fn on(&self, outside: Outside) -> Trying {
        let mut trying = Trying::on(outside, false);
        trying.legacy = self.legacy;
        trying
    }

    fn calls(&self) -> impl Iterator<Item = Call> {
        self.lines.iter().map(|line| line.0).chain(self.shared.iter().copied())
    }

    /// Sees to it that every call is made.
    fn prepare(&self, trying: &Trying) {
        for rule in (self.before)() {
            trying.outside.meet(rule);
        }
    }

    /// One order, while every call of the table fails once.
    async fn once_everywhere(&self, trying: &Trying, kind: &Kind) -> TrialResult {
        for call in self.calls() {
            trying.outside.meet(rule(call, 1, kind));
        }
        self.prepare(trying);
        let tried = trying.once().await;
        let unmet = trying.outside.running.landscape.troubles().active();
        assert!(unmet.is_empty(), "{kind:?} was not met by {unmet:#?}");
        tried
    }

    /// How an order ends, when these calls always fail like this.
    async fn end_of(&self, trying: &Trying, call: Call, kind: &Kind) -> End {
        trying.outside.meet(rule(call, ALWAYS, kind));
        self.prepare(trying);
        let tried = trying.once().await;
        let unmet = trying.outside.running.landscape.troubles().active();
        trying.outside.calm();
        assert!(unmet.iter().all(|rule| rule.calls < Some(ALWAYS)), "{call:?} {kind:?} is not met");
        match &tried.snapshot.failure {
            Some(failure) => self.stopped_by(&failure.component),
            None => succeeded(&tried),
        }
    }

    /// The end in the name of a component.
    fn stopped_by(&self, component: &str) -> End {
        let ends = self.lines.iter().flat_map(|line| line.1);
        let same = |end: &End| matches!(end, End::Stops(name) if *name == component);
        ends.into_iter().find(same).unwrap_or(End::Stops("a call that is not in the table"))
    }

    /// Compares a column of the table, or a part of it, with what happens.
    async fn column(&self, name: &str, lines: &[Line]) {
        let mut trying = self.on(self.outside(lines.len() + 1).await);
        let at = LASTING.iter().position(|other| *other == name).unwrap();
        let mut differences = Vec::new();

        for (call, ends) in lines {
            trying.limits = limits(*call);
            let kind = lasting(name, *call);
            let end = if needs_cluster(*call) {
                self.end_of(&with_cluster(&trying).await, *call, &kind).await
            } else {
                self.end_of(&trying, *call, &kind).await
            };
            if end != ends[at] {
                differences.push(format!("{call:?}: {end:?}"));
            }
        }

        assert!(differences.is_empty(), "{name}: {differences:#?}");
    }

    /// Every call meets each of the ways to fail that pass, and the order ends as if nothing had happened.
    async fn may_fail_once(&self) {
        let ways = passing();
        let trying = self.on(self.outside(ways.len() + 1).await);
        let undisturbed = trying.once().await;

        for kind in ways {
            let tried = self.once_everywhere(&trying, &kind).await;

            assert_eq!(tried.end, undisturbed.end, "{kind:?}: {:#?}", tried.journal);
        }
    }

    async fn may_go_unanswered_once(&self) {
        let mut outside = self.outside(2).await;
        outside.calls.call = Duration::from_secs(1);
        let trying = self.on(outside);
        let undisturbed = trying.once().await;

        let tried = self.once_everywhere(&trying, &Kind::Silent).await;

        assert_eq!(tried.end, undisturbed.end, "{:#?}", tried.journal);
    }

    async fn is_complete(&self) {
        let trying = self.on(self.outside(1).await);
        self.prepare(&trying);

        let tried = trying.once().await;

        let operation = tried.snapshot.id.to_string();
        let made = calls(&trying.outside.running.landscape, &operation);
        assert_eq!(made, named(self.calls()));
    }
}

/// The end of an order that has not failed.
fn succeeded(tried: &TrialResult) -> End {
    assert_eq!(tried.end.state, State::Succeeded);
    assert_eq!(tried.end.incomplete, Vec::<String>::new());
    if tried.end.data["lms"]["failed"] == json!(true) { End::Unlogged } else { End::Works }
}

/// Steps that fail as long as they may wait are given less time when they fail: what they wait for does not come, or is there.
fn limits((step, ..): Call) -> ProvisioningLimits {
    let mut limits = patient();
    if step.ends_with("_Cluster_Configuration") {
        limits.reconciler = Duration::from_hours(2);
    }
    if step == "Check_Runtime" {
        limits.runtime = Duration::from_hours(1);
    }
    limits
}

/// Whether the calls come after a wait for the cluster that has the same limit as their failing.
fn needs_cluster((step, system, _): Call) -> bool {
    step == "Check_Runtime" && system != SYSTEM
}

/// An order that finds its cluster made.
async fn with_cluster(trying: &Trying) -> Trying {
    let mut ready = Trying::on(trying.outside.clone(), false);
    ready.wish = Box::new(|_| OrderSpec::aws("ready"));
    let made = ready.once().await;
    ready.data = serde_json::from_slice(&made.snapshot.data).unwrap();
    ready.limits = trying.limits;
    ready
}
