//! Upgrades of Kyma that the driver starts and the trial carries out: one step that takes its time, and fails where it is told to.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
    time::Duration,
};

use base::Failure;
use engine::{Cx, Operation, Plan, Step, StepError, StepResult, done, step::waiting};
use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

/// An upgrade of Kyma.
pub(super) struct UpgradeOperation;

impl Operation for UpgradeOperation {
    const KIND: &'static str = "upgradeKyma";
    type Input = Value;
    type Data = Value;
    type Memory = ();
    type Env = Upgrades;
}

/// How upgrades of one trial go, and their record.
#[derive(Default)]
pub(super) struct Upgrades {
    /// How long one takes.
    pub(super) takes: Duration,
    /// The instances whose upgrades fail.
    pub(super) failing: &'static [&'static str],
    /// The operations that upgraded an instance, well or not.
    pub(super) ended: Mutex<BTreeMap<String, BTreeSet<Uuid>>>,
    /// When operations began.
    pub(super) began: Mutex<BTreeMap<Uuid, Timestamp>>,
}

impl Upgrades {
    /// How many operations upgraded each instance.
    pub(super) fn counts(&self) -> BTreeMap<String, usize> {
        let ended = self.ended.lock().unwrap();
        ended.iter().map(|(instance, operations)| (instance.clone(), operations.len())).collect()
    }
}

pub(super) fn plan() -> Plan<UpgradeOperation> {
    Plan::within(Duration::from_hours(1)).each(UpgradeRuntime)
}

struct UpgradeRuntime;

impl Step<UpgradeOperation> for UpgradeRuntime {
    const NAME: &'static str = "Upgrade_Runtime";

    async fn run(&self, cx: &mut Cx<'_, UpgradeOperation>) -> StepResult {
        let began = *cx.env.began.lock().unwrap().entry(cx.operation).or_insert(cx.now);
        let left = Duration::try_from((began + cx.env.takes).duration_since(cx.now));
        if let Some(left) = left.ok().filter(|left| !left.is_zero()) {
            return waiting("the runtime is being upgraded").at_latest(left).into();
        }
        let mut ended = cx.env.ended.lock().unwrap();
        ended.entry(cx.instance.to_owned()).or_default().insert(cx.operation);
        drop(ended);
        if cx.env.failing.contains(&cx.instance) {
            let failure = Failure::new("reconciler", "reconciliation_failed", "it failed");
            return Err(StepError::fatal(failure));
        }
        done()
    }
}
