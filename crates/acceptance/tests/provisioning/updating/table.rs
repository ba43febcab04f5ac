//! The fault tables of the plan: every call of every step, with what becomes of a change when the call always fails.

use std::time::Duration;

use broker::operations::update::UpdateLimits;
use engine::State;
use simulators::{
    testing::tables::{ALWAYS, Call, LASTING, calls, lasting, named, passing, rule},
    trouble::Kind,
};

use super::trying::Trying;
use crate::outside::Outside;

/// Calls of a step, and the component in whose name the change fails, for each of [`LASTING`]; empty where it succeeds.
type Line = (Call, [&'static str; 5]);

/// The calls of every change.
const LINES: [Line; 8] = [
    (("Upgrade_Shoot", "provisioner", "POST"), ["provisioner"; 5]),
    (("Get_Kubeconfig", "provisioner", "POST"), ["provisioner"; 5]),
    (("Get_Kubeconfig", "runtimes", "GET"), ["runtime"; 5]),
    (("BTPOperatorOverrides", "control-plane", "GET"), ["control plane"; 5]),
    (("BTPOperatorOverrides", "kyma-releases", "GET"), ["kyma releases"; 5]),
    (("Apply_Reconciler_Configuration", "reconciler", "POST"), ["reconciler"; 5]),
    (("CheckReconcilerState", "reconciler", "GET"), ["reconciler"; 5]),
    (("Check_Runtime", "provisioner", "POST"), ["provisioner"; 5]),
];

/// A repeated call finds its effect, or its response is not read.
const EDP: [&str; 5] = ["edp", "edp", "edp", "edp", ""];
/// A Kyma that is gone needs no label.
const KYMA: [&str; 5] = ["control plane", "control plane", "", "control plane", "control plane"];
/// What was written is found by the next run.
const KYMA_WRITTEN: [&str; 5] = ["control plane", "control plane", "", "control plane", ""];

/// The calls that a change of the plan makes besides.
const OF_THE_PLAN: [Line; 5] = [
    (("EDP_Registration", "edp", "POST"), EDP),
    (("EDP_Registration", "edp", "GET"), ["edp"; 5]),
    (("EDP_Registration", "edp", "DELETE"), EDP),
    (("Update_Kyma_Resource", "control-plane", "GET"), KYMA),
    (("Update_Kyma_Resource", "control-plane", "PUT"), KYMA_WRITTEN),
];

/// The changes that are tried.
#[derive(Clone, Copy)]
enum Changes {
    /// Of nearly everything but the plan.
    Parameters,
    Plan,
}

impl Changes {
    fn lines(self) -> Vec<Line> {
        match self {
            Self::Parameters => LINES.to_vec(),
            Self::Plan => [&LINES[..], &OF_THE_PLAN].concat(),
        }
    }

    async fn trying(self, accounts: usize) -> Trying {
        let mut trying = match self {
            Self::Parameters => Trying::on(Outside::start(&["aws"], accounts).await, false),
            Self::Plan => Trying::of_plans(Outside::start(&["azure"], accounts).await, false),
        };
        trying.limits =
            UpdateLimits { reconciler: Duration::from_hours(2), ..UpdateLimits::default() };
        trying
    }
}

async fn always_fails(changes: Changes) {
    let lines = changes.lines();
    let trying = changes.trying(LASTING.len() * lines.len()).await;
    let mut differences = Vec::new();

    for (at, name) in LASTING.iter().enumerate() {
        for (call, ends) in &lines {
            // Steps of the order have the same names.
            trying.make_ahead().await;
            let kind = lasting(name, *call);
            trying.outside.meet(rule(*call, ALWAYS, &kind));
            let tried = trying.once().await;
            trying.outside.calm();
            let end = tried.snapshot.failure.map(|failure| failure.component);
            let expected = match ends[at] {
                "" => (State::Succeeded, None),
                component => (State::Failed, Some(component)),
            };
            if (tried.end.state, end.as_deref()) != expected {
                differences.push(format!("{name} {call:?}: {:?} {end:?}", tried.end.state));
            }
        }
    }

    assert!(differences.is_empty(), "{differences:#?}");
}

async fn fails_once(changes: Changes) {
    let ways: Vec<Kind> = passing();
    let trying = changes.trying(ways.len() + 1).await;
    let undisturbed = trying.once().await;

    for kind in ways {
        trying.make_ahead().await;
        for (call, _) in changes.lines() {
            trying.outside.meet(rule(call, 1, &kind));
        }
        let tried = trying.once().await;
        trying.outside.calm();

        assert_eq!(tried.end, undisturbed.end, "{kind:?}: {:#?}", tried.journal);
    }
}

async fn has_every_call(changes: Changes) {
    let trying = changes.trying(1).await;

    let tried = trying.once().await;

    let operation = tried.snapshot.id.to_string();
    let made = calls(&trying.outside.running.landscape, &operation);
    assert_eq!(made, named(changes.lines().into_iter().map(|line| line.0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_change_that_always_fails_ends_as_the_table_says() {
    Box::pin(always_fails(Changes::Parameters)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_change_of_the_plan_that_always_fails_ends_as_the_table_says() {
    Box::pin(always_fails(Changes::Plan)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_of_a_change_may_fail_once_in_any_way() {
    Box::pin(fails_once(Changes::Parameters)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_of_a_change_of_the_plan_may_fail_once_in_any_way() {
    Box::pin(fails_once(Changes::Plan)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tables_have_every_call_of_every_step_of_a_change() {
    Box::pin(has_every_call(Changes::Parameters)).await;
    Box::pin(has_every_call(Changes::Plan)).await;
}
