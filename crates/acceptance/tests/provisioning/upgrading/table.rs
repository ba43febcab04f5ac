//! The fault tables of both plans: every call of every step, with what becomes of an upgrade when the call always fails.

use engine::{State, testing::TrialResult};
use simulators::{
    testing::tables::{ALWAYS, Call, LASTING, calls, lasting, named, passing, rule},
    trouble::Kind,
};

use super::trying::{ClusterTrying, KymaTrying};
use crate::{outside::Outside, updating::trying::Trying as Runtimes};

/// Calls of a step, and the component in whose name the upgrade fails, for each of [`LASTING`]; empty where it goes on without.
type Line = (Call, [&'static str; 5]);

/// Customers who cannot be told do not stop an upgrade.
const UNTOLD: [&str; 5] = [""; 5];
/// An evaluation that is gone needs no maintenance mode.
const AVS: [&str; 5] = ["avs", "avs", "", "avs", "avs"];

const KYMA: [Line; 13] = [
    (("Upgrade_Kyma_Initialisation", "control-plane", "GET"), ["control plane"; 5]),
    (("Upgrade_Kyma_Initialisation", "kyma-releases", "GET"), ["kyma releases"; 5]),
    (("Get_Kubeconfig", "provisioner", "POST"), ["provisioner"; 5]),
    (("Get_Kubeconfig", "runtimes", "GET"), ["runtime"; 5]),
    (("Overrides_From_Secrets_And_Config_Step", "control-plane", "GET"), ["control plane"; 5]),
    (("Sync_Kubeconfig", "control-plane", "GET"), ["control plane"; 5]),
    (("Sync_Kubeconfig", "control-plane", "PUT"), ["control plane"; 5]),
    (("Apply_Kyma", "control-plane", "GET"), ["control plane"; 5]),
    (("Send_Notification", "spc", "PATCH"), UNTOLD),
    (("AVS_Maintenance", "avs", "GET"), AVS),
    (("AVS_Maintenance", "avs", "PUT"), ["avs"; 5]),
    (("Apply_Cluster_Configuration", "reconciler", "POST"), ["reconciler"; 5]),
    (("Check_Cluster_Configuration", "reconciler", "GET"), ["reconciler"; 5]),
];

const CLUSTER: [Line; 5] = [
    (("Send_Notification", "spc", "PATCH"), UNTOLD),
    (("AVS_Maintenance", "avs", "GET"), AVS),
    (("AVS_Maintenance", "avs", "PUT"), ["avs"; 5]),
    (("Upgrade_Cluster", "provisioner", "POST"), ["provisioner"; 5]),
    (("Check_Runtime", "provisioner", "POST"), ["provisioner"; 5]),
];

/// Upgrades of one sort.
trait Sort {
    const LINES: &'static [Line];
    fn on(runtimes: Runtimes) -> Self;
    fn runtimes(&self) -> &Runtimes;
    async fn once(&self) -> TrialResult;
}

impl Sort for KymaTrying {
    const LINES: &'static [Line] = &KYMA;

    fn on(runtimes: Runtimes) -> Self {
        Self(runtimes)
    }

    fn runtimes(&self) -> &Runtimes {
        &self.0
    }

    async fn once(&self) -> TrialResult {
        Self::once(self).await
    }
}

impl Sort for ClusterTrying {
    const LINES: &'static [Line] = &CLUSTER;

    fn on(runtimes: Runtimes) -> Self {
        Self(runtimes)
    }

    fn runtimes(&self) -> &Runtimes {
        &self.0
    }

    async fn once(&self) -> TrialResult {
        Self::once(self).await
    }
}

/// Upgrades of runtimes of which there can be so many. The event of the orchestration is there: it is made before the first upgrade.
async fn trying<S: Sort>(accounts: usize) -> S {
    let outside = Outside::start(&["aws"], accounts).await;
    outside.announce().await;
    S::on(Runtimes::on(outside, false))
}

async fn always_fails<S: Sort>() {
    let trying: S = trying(LASTING.len() * S::LINES.len()).await;
    let outside = &trying.runtimes().outside;
    let mut differences = Vec::new();

    for (at, name) in LASTING.iter().enumerate() {
        for (call, ends) in S::LINES {
            // Steps of the order have the same names.
            trying.runtimes().make_ahead().await;
            let kind = lasting(name, *call);
            outside.meet(rule(*call, ALWAYS, &kind));
            let tried = Box::pin(trying.once()).await;
            outside.calm();
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

async fn fails_once<S: Sort>() {
    let ways: Vec<Kind> = passing();
    let trying: S = trying(ways.len() + 1).await;
    let outside = &trying.runtimes().outside;
    let undisturbed = Box::pin(trying.once()).await;

    for kind in ways {
        trying.runtimes().make_ahead().await;
        for (call, _) in S::LINES {
            outside.meet(rule(*call, 1, &kind));
        }
        let tried = Box::pin(trying.once()).await;
        outside.calm();

        assert_eq!(tried.end, undisturbed.end, "{kind:?}: {:#?}", tried.journal);
    }
}

async fn has_every_call<S: Sort>() {
    let trying: S = trying(1).await;

    let tried = Box::pin(trying.once()).await;

    let operation = tried.snapshot.id.to_string();
    let made = calls(&trying.runtimes().outside.running.landscape, &operation);
    assert_eq!(made, named(S::LINES.iter().map(|line| line.0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_an_upgrade_of_kyma_that_always_fails_ends_as_the_table_says() {
    always_fails::<KymaTrying>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_an_upgrade_of_a_cluster_that_always_fails_ends_as_the_table_says() {
    always_fails::<ClusterTrying>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_of_an_upgrade_of_kyma_may_fail_once_in_any_way() {
    fails_once::<KymaTrying>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_of_an_upgrade_of_a_cluster_may_fail_once_in_any_way() {
    fails_once::<ClusterTrying>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tables_have_every_call_of_every_step_of_the_upgrades() {
    has_every_call::<KymaTrying>().await;
    has_every_call::<ClusterTrying>().await;
}
