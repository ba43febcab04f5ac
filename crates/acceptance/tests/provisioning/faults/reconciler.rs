//! A Reconciler that does not end, or is away when the time is up.

use broker::operations::ProvisioningLimits;
use engine::State;
use simulators::{
    pace::Speed,
    testing::tables::{ALWAYS, Call, rule},
    trouble::Kind,
};

use super::trying_with_known_runtime;
use crate::{
    outside::{Outside, patient},
    trying::Trying,
};

const TELLING_TO_LET_GO: Call = ("Check_Cluster_Configuration", "reconciler", "DELETE");

/// An order whose Kyma is never installed.
async fn trying_without_end() -> Trying {
    let limits =
        ProvisioningLimits { reconciler: ProvisioningLimits::default().reconciler, ..patient() };
    let (trying, _) = trying_with_known_runtime(limits).await;
    trying.outside.running.landscape.pace().set(Speed::Times(0.000_1));
    trying
}

/// How often the Reconciler has let go of a cluster.
fn let_go(outside: &Outside) -> usize {
    outside.changes().into_iter().filter(|(_, _, what)| what.contains("delete cluster")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconciler_that_does_not_end_is_told_to_let_go_after_two_hours() {
    let trying = trying_without_end().await;

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Failed);
    assert_eq!(tried.snapshot.failure.unwrap().reason, "timeout");
    let took = tried.snapshot.ended_at.unwrap().duration_since(tried.snapshot.started_at.unwrap());
    assert!((2..3).contains(&took.as_hours()), "{took:?}");
    assert_eq!(let_go(&trying.outside), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconciler_that_is_away_when_the_time_is_up_is_told_to_let_go_once_it_is_back() {
    let trying = trying_without_end().await;
    let away = Kind::Status { status: 503, body: None };
    trying.outside.meet(rule(TELLING_TO_LET_GO, 3, &away));

    let tried = trying.once().await;

    assert_eq!(tried.snapshot.failure.unwrap().reason, "timeout", "{:#?}", tried.journal);
    assert_eq!(let_go(&trying.outside), 1);
    let unmet = trying.outside.running.landscape.troubles().active();
    assert!(unmet.is_empty(), "{unmet:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconciler_that_has_let_go_without_an_answer_ends_the_order_as_one_that_answered() {
    let trying = trying_without_end().await;
    trying.outside.meet(rule(TELLING_TO_LET_GO, 1, &Kind::LostAnswer { status: None }));

    let tried = trying.once().await;

    assert_eq!(tried.snapshot.failure.unwrap().reason, "timeout", "{:#?}", tried.journal);
    assert!(let_go(&trying.outside) > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconciler_that_stays_away_keeps_an_order_for_ten_minutes_more() {
    let trying = trying_without_end().await;
    let away = Kind::Status { status: 503, body: None };
    trying.outside.meet(rule(TELLING_TO_LET_GO, ALWAYS, &away));

    let tried = trying.once().await;

    assert_eq!(tried.snapshot.failure.unwrap().reason, "timeout", "{:#?}", tried.journal);
    let took = tried.snapshot.ended_at.unwrap().duration_since(tried.snapshot.started_at.unwrap());
    assert!((130..150).contains(&took.as_mins()), "{took:?}");
    assert_eq!(let_go(&trying.outside), 0);
}
