//! The fault table of the plan: every call of every step, with what becomes of a change when the call always fails.

use std::time::Duration;

use broker::operations::update::Limits;
use engine::State;
use simulators::{
    testing::tables::{ALWAYS, Call, LASTING, calls, lasting, named, passing, rule},
    trouble::Kind,
};

use super::trying::Trying;
use crate::outside::Outside;

/// Calls of a step, and the component in whose name the change fails, for each of [`LASTING`].
type Line = (Call, [&'static str; 5]);

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

async fn trying(accounts: usize) -> Trying {
    let mut trying = Trying::on(Outside::start(&["aws"], accounts).await, false);
    trying.limits = Limits { reconciler: Duration::from_hours(2), ..Limits::default() };
    trying
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_change_that_always_fails_ends_as_the_table_says() {
    let trying = trying(LASTING.len() * LINES.len()).await;
    let mut differences = Vec::new();

    for (at, name) in LASTING.iter().enumerate() {
        for (call, ends) in &LINES {
            // Steps of the order have the same names.
            trying.make_ahead().await;
            let kind = lasting(name, *call);
            trying.outside.meet(rule(*call, ALWAYS, &kind));
            let tried = trying.once().await;
            trying.outside.calm();
            let end = tried.snapshot.failure.map(|failure| failure.component);
            if (tried.end.state, end.as_deref()) != (State::Failed, Some(ends[at])) {
                differences.push(format!("{name} {call:?}: {:?} {end:?}", tried.end.state));
            }
        }
    }

    assert!(differences.is_empty(), "{differences:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_of_a_change_may_fail_once_in_any_way() {
    let ways: Vec<Kind> = passing();
    let trying = trying(ways.len() + 1).await;
    let undisturbed = trying.once().await;

    for kind in ways {
        trying.make_ahead().await;
        for (call, _) in &LINES {
            trying.outside.meet(rule(*call, 1, &kind));
        }
        let tried = trying.once().await;
        trying.outside.calm();

        assert_eq!(tried.end, undisturbed.end, "{kind:?}: {:#?}", tried.journal);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_has_every_call_of_every_step_of_a_change() {
    let trying = trying(1).await;

    let tried = trying.once().await;

    let operation = tried.snapshot.id.to_string();
    let made = calls(&trying.outside.running.landscape, &operation);
    assert_eq!(made, named(LINES.iter().map(|line| line.0)));
}
