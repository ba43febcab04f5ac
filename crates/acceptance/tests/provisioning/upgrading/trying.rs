//! Upgrades that are tried on a clock that is held, each of a runtime of its own that was made before.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use base::Clock;
use broker::{
    chores::maintenance::{MaintenanceEnding, Times},
    operations::{
        Env, Systems,
        upgrade_cluster::{self, UpgradingCluster},
        upgrade_kyma::{self, UpgradingKyma},
    },
};
use engine::testing::{Scenario, Setting, TrialResult, World, try_out};
use serde_json::{Value, json};

use super::{
    cluster, kyma,
    views::{evaluations, kubernetes, notice, reconciled},
};
use crate::{outside::Outside, test_broker::EndedOperation, updating::trying::Trying as Runtimes};

/// Upgrades of Kyma, one after the other.
pub(crate) struct KymaTrying(pub(crate) Runtimes);

/// Upgrades of clusters, one after the other.
pub(crate) struct ClusterTrying(pub(crate) Runtimes);

/// A runtime in a fresh database, and how it is looked at after its upgrade.
struct PreparedUpgrade {
    env: Arc<Env>,
    made: EndedOperation,
    world: World,
}

async fn prepared(
    runtimes: &Runtimes,
    clock: &Clock,
    seen: fn(&Outside, &EndedOperation) -> Value,
) -> PreparedUpgrade {
    let (maker, made) = Box::pin(runtimes.made()).await;
    let (rows, _) = runtimes.databases.fill(clock).await.open().await;
    runtimes.copy(&rows, maker, &made).await;
    let env = Box::pin(runtimes.outside.env(clock)).await;
    let env = Arc::new(Env { store: rows, ..env });
    let times = Times { again: Duration::ZERO, settled: Duration::ZERO, ..Times::default() };
    let ending = MaintenanceEnding::new(&env, clock.clone(), times);
    let (outside, instance) = (runtimes.outside.clone(), made.clone());
    let told_before = outside.told();
    let world: World = Box::new(move || {
        let (ending, outside, made) = (ending.clone(), outside.clone(), instance.clone());
        Box::pin(async move {
            ending.end_due().await.unwrap();
            let order = &made.order;
            outside.running.clusters().rest().reached(&order.shoot_name).await;
            json!({
                "evaluations": evaluations(&outside, &made.details),
                "notice": notice(&outside, &order.instance_id),
                "told": outside.told() - told_before,
                "upgraded": seen(&outside, &made),
            })
        })
    });
    PreparedUpgrade { env, made, world }
}

fn expected(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/provisioning/expected").join(name)
}

/// What belongs to the one instance is not compared; that it is there is.
fn comparable(mut data: Value) -> Value {
    data["of"] = json!(data["of"].is_string());
    let cluster = &data["order"]["resolved"]["cluster"];
    data["order"] = json!([cluster["kubernetesVersion"], cluster["machineImage"]]);
    let details = &data["details"];
    data["details"] = json!({
        "runtime": details["runtime_id"].is_string(),
        "operation": details["target_operation_id"].is_string(),
        "configuration": details["cluster_configuration_version"].is_number(),
        "version": details["runtime_version"]["version"],
    });
    data
}

impl KymaTrying {
    /// Takes one upgrade to its end.
    pub(crate) async fn once(&self) -> TrialResult {
        Box::pin(try_out(self, &self.0.databases, None)).await
    }
}

impl ClusterTrying {
    /// Takes one upgrade to its end.
    pub(crate) async fn once(&self) -> TrialResult {
        Box::pin(try_out(self, &self.0.databases, None)).await
    }
}

impl Scenario for KymaTrying {
    type Operation = UpgradingKyma;

    async fn fresh(&self, clock: &Clock) -> Setting<UpgradingKyma> {
        let seen = |outside: &Outside, made: &EndedOperation| reconciled(outside, &made.runtime());
        let PreparedUpgrade { env, made, world } = Box::pin(prepared(&self.0, clock, seen)).await;
        Setting {
            plan: upgrade_kyma::plan(
                &upgrade_kyma::UpgradeKymaLimits::default(),
                Systems::of(&env),
            ),
            env,
            instance: made.order.instance_id.clone(),
            input: kyma(made.order.clone()),
            data: upgrade_kyma::Data::default(),
            world,
        }
    }

    fn stored(&self) -> Option<PathBuf> {
        Some(expected("upgrade-kyma.json"))
    }

    /// The stage starts over, and the check finds what was begun.
    fn survives(&self, step: &str) -> bool {
        step == "Apply_Cluster_Configuration"
    }

    fn comparable(&self, data: Value) -> Value {
        comparable(data)
    }
}

impl Scenario for ClusterTrying {
    type Operation = UpgradingCluster;

    async fn fresh(&self, clock: &Clock) -> Setting<UpgradingCluster> {
        let seen =
            |outside: &Outside, made: &EndedOperation| kubernetes(outside, &made.order.shoot_name);
        let PreparedUpgrade { env, made, world } = Box::pin(prepared(&self.0, clock, seen)).await;
        Setting {
            plan: upgrade_cluster::plan(
                &upgrade_cluster::UpgradeClusterLimits::default(),
                Systems::of(&env),
            ),
            env,
            instance: made.order.instance_id.clone(),
            input: cluster(made.order.clone()),
            data: upgrade_cluster::Data::default(),
            world,
        }
    }

    fn stored(&self) -> Option<PathBuf> {
        Some(expected("upgrade-cluster.json"))
    }

    /// The stage starts over, and the check finds what was begun.
    fn survives(&self, step: &str) -> bool {
        step == "Upgrade_Cluster"
    }

    fn comparable(&self, data: Value) -> Value {
        comparable(data)
    }
}
