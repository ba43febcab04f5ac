//! Removes an instance with everything that was made for it: the plan, and what its steps share.
//!
//! What a reader would get wrong: nothing blocks it. A step that cannot do its work within its limit is recorded as
//! executed but not completed, and the plan goes on; `Data::left` then still names it, the account and the row are
//! kept, and a continuation of the operation runs only what is left.

mod btpoperator_cleanup;
mod check_cluster_deregistration;
mod check_kyma_resource_deleted;
mod check_runtime_removal;
mod delete_kubeconfig;
mod delete_kyma_resource;
mod deprovision_avs_evaluations;
mod deregister_cluster;
mod edp_deregistration;
mod ias_deregistration;
mod init_step;
pub mod legacy;
mod neighbours;
mod release_subscription;
mod remove_instance;
mod remove_runtime;

use std::{collections::BTreeSet, ops::Deref, sync::Arc, time::Duration};

use domain::plan::Kind;
use engine::{
    Cx, Operation, OperationId, Plan, Step, StepError, StepResult, done, storage::Snapshot,
};
use jiff::Timestamp;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use store::{BrokerStore, EngineStore};

use super::env::Env;
use crate::{Details, Order};

/// Under which name operations of this kind are stored.
pub const KIND: &str = "deprovision";

/// The end of an instance.
pub struct Deprovisioning;

impl Operation for Deprovisioning {
    const KIND: &'static str = KIND;
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Reach;
}

/// What the steps may reach: what all steps may, and the rows that only removals read.
pub struct Reach {
    /// What all steps may reach.
    pub env: Arc<Env>,
    /// The broker's own rows.
    pub store: BrokerStore,
    /// What operations have learnt.
    pub operations: EngineStore,
}

impl Deref for Reach {
    type Target = Env;

    fn deref(&self) -> &Env {
        &self.env
    }
}

/// What was asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Input {
    /// What had been ordered.
    pub order: Order,
    /// Who asked, as their program calls itself.
    #[serde(default)]
    pub user_agent: Option<String>,
    /// Whether the instance only sleeps: its row stays, and so does its account.
    #[serde(default)]
    pub temporary: bool,
}

/// What the steps have learnt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// What was known about the instance, and what of it has gone since.
    pub details: Details,
    /// The steps that have not found their thing gone yet, by name.
    pub left: BTreeSet<String>,
    /// The provisioner's operations that were begun to remove the cluster, the newest last.
    pub removals: Vec<String>,
    /// Since when the cluster's services have been told to go.
    pub services_going_since: Option<Timestamp>,
    /// Since when the cluster cannot be removed; legacy.
    pub removal_failing_since: Option<Timestamp>,
    /// Since when the removal of the cluster is waited for; legacy.
    pub removal_awaited_since: Option<Timestamp>,
    /// Since when the account cannot be given back; legacy.
    pub release_failing_since: Option<Timestamp>,
    /// The operation that has tried every step and only waits; legacy.
    pub waited_for_by: Option<OperationId>,
}

/// What is not stored.
#[derive(Default)]
pub struct Memory {
    /// The cluster's kubeconfig.
    kubeconfig: Option<SecretString>,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The whole operation.
    pub operation: Duration,
    /// How long a step may fail in a row.
    pub failing: Duration,
    /// How long the cluster's services may take to go; then their finalizers are taken away.
    pub services: Duration,
    /// How long the Lifecycle Manager may take to let the Kyma resource go.
    pub kyma: Duration,
    /// How long the Reconciler may take to let the cluster go.
    pub reconciler: Duration,
    /// How long the provisioner may take, for what it is doing already and for the removal, each.
    pub runtime: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            operation: Duration::from_hours(24),
            failing: Duration::from_mins(5),
            services: Duration::from_mins(30),
            kyma: Duration::from_mins(30),
            reconciler: Duration::from_mins(90),
            runtime: Duration::from_hours(5),
        }
    }
}

/// Which of the systems are there that one can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one switch for each system")]
pub struct Systems {
    /// Availability.
    pub avs: bool,
    /// Event data.
    pub edp: bool,
    /// Identities.
    pub ias: bool,
    /// The Lifecycle Manager.
    pub lifecycle_manager: bool,
    /// The Reconciler.
    pub reconciler: bool,
}

impl Systems {
    /// All of them.
    pub const ALL: Self =
        Self { avs: true, edp: true, ias: true, lifecycle_manager: true, reconciler: true };

    /// Those that can be reached.
    pub fn of(env: &Env) -> Self {
        Self {
            avs: env.avs.is_some(),
            edp: env.edp.is_some(),
            ias: env.ias.is_some(),
            lifecycle_manager: env.lifecycle_manager.is_some(),
            reconciler: env.reconciler.is_some(),
        }
    }
}

/// A step that keeps something gives up as soon as the engine lets it.
const AT_ONCE: Duration = Duration::from_secs(1);

/// What is done with every instance. Each step is a stage, so that what was done is never done again.
pub fn plan(limits: &Limits, systems: Systems) -> Plan<Deprovisioning> {
    let Limits { failing, .. } = *limits;
    let Systems { lifecycle_manager, reconciler, .. } = systems;
    Plan::within(limits.operation)
        .stage("Init_Step")
        .step(init_step::InitStep { steps: steps(systems) }.failing_for(failing))
        .stage("BTPOperator_Cleanup")
        .step(
            btpoperator_cleanup::BtpOperatorCleanup { patience: limits.services }
                .failing_for(failing)
                // Once its finalizers are taken away, an object goes at once or never.
                .waiting_for(limits.services + failing)
                .or_skip(),
        )
        .stage("De-provision_AVS_Evaluations")
        .step(
            deprovision_avs_evaluations::DeprovisionAvsEvaluations
                .needs("avs", systems.avs)
                .failing_for(failing)
                .or_skip(),
        )
        .stage("EDP_Deregistration")
        .step(
            edp_deregistration::EdpDeregistration
                .needs("edp", systems.edp)
                .failing_for(failing)
                .or_skip(),
        )
        .stage("IAS_Deregistration")
        .step(
            ias_deregistration::IasDeregistration
                .needs("ias", systems.ias)
                .failing_for(failing)
                .or_skip(),
        )
        .stage("Delete_Kyma_Resource")
        .step(
            delete_kyma_resource::DeleteKymaResource
                .needs("lifecycle manager", lifecycle_manager)
                .failing_for(failing)
                .or_skip(),
        )
        .stage("Check_Kyma_Resource_Deleted")
        .step(
            check_kyma_resource_deleted::CheckKymaResourceDeleted
                .needs("lifecycle manager", lifecycle_manager)
                .failing_for(failing)
                .waiting_for(limits.kyma)
                .or_skip(),
        )
        .stage("Deregister_Cluster")
        .step(
            deregister_cluster::DeregisterCluster
                .needs("reconciler", reconciler)
                .failing_for(failing)
                .or_skip(),
        )
        .stage("Check_Cluster_Deregistration")
        .step(
            check_cluster_deregistration::CheckClusterDeregistration
                .needs("reconciler", reconciler)
                .failing_for(failing)
                .waiting_for(limits.reconciler)
                .or_skip(),
        )
        .stage("Remove_Runtime")
        .step(
            remove_runtime::RemoveRuntime
                .failing_for(failing)
                .waiting_for(limits.runtime)
                .or_skip(),
        )
        .stage("Check_Runtime_Removal")
        .step(
            check_runtime_removal::CheckRuntimeRemoval
                .failing_for(failing)
                .waiting_for(limits.runtime)
                .or_skip(),
        )
        .stage("Release_Subscription")
        .step(
            release_subscription::ReleaseSubscription
                .failing_for(failing)
                .waiting_for(AT_ONCE)
                .or_skip(),
        )
        .stage("Delete_Kubeconfig")
        .step(
            delete_kubeconfig::DeleteKubeconfig
                .needs("lifecycle manager", lifecycle_manager)
                .failing_for(failing)
                .or_skip(),
        )
        .stage("Remove_Instance")
        .step(remove_instance::RemoveInstance.failing_for(failing).waiting_for(AT_ONCE).or_skip())
}

/// The steps that have something to remove.
fn steps(systems: Systems) -> Vec<&'static str> {
    use Step as S;
    type D = Deprovisioning;
    let all: [(&'static str, bool); 12] = [
        (<btpoperator_cleanup::BtpOperatorCleanup as S<D>>::NAME, true),
        (<deprovision_avs_evaluations::DeprovisionAvsEvaluations as S<D>>::NAME, systems.avs),
        (<edp_deregistration::EdpDeregistration as S<D>>::NAME, systems.edp),
        (<ias_deregistration::IasDeregistration as S<D>>::NAME, systems.ias),
        (KYMA_STEPS[0], systems.lifecycle_manager),
        (KYMA_STEPS[1], systems.lifecycle_manager),
        (RECONCILER_STEPS[0], systems.reconciler),
        (RECONCILER_STEPS[1], systems.reconciler),
        (RUNTIME_STEPS[0], true),
        (RUNTIME_STEPS[1], true),
        (<release_subscription::ReleaseSubscription as S<D>>::NAME, true),
        (<delete_kubeconfig::DeleteKubeconfig as S<D>>::NAME, systems.lifecycle_manager),
    ];
    all.into_iter().filter_map(|(name, on)| on.then_some(name)).collect()
}

/// The step that orders, and the one that sees it through.
const KYMA_STEPS: [&str; 2] = [
    <delete_kyma_resource::DeleteKymaResource as Step<Deprovisioning>>::NAME,
    <check_kyma_resource_deleted::CheckKymaResourceDeleted as Step<Deprovisioning>>::NAME,
];
const RECONCILER_STEPS: [&str; 2] = [
    <deregister_cluster::DeregisterCluster as Step<Deprovisioning>>::NAME,
    <check_cluster_deregistration::CheckClusterDeregistration as Step<Deprovisioning>>::NAME,
];
const RUNTIME_STEPS: [&str; 2] = [
    <remove_runtime::RemoveRuntime as Step<Deprovisioning>>::NAME,
    <check_runtime_removal::CheckRuntimeRemoval as Step<Deprovisioning>>::NAME,
];

impl Data {
    /// What these steps had to remove is gone.
    pub fn gone(&mut self, steps: &[&str]) -> StepResult {
        self.left.retain(|left| !steps.contains(&left.as_str()));
        done()
    }

    /// Whether a cluster that was made for the instance may still be there.
    fn cluster_may_exist(&self) -> bool {
        RUNTIME_STEPS.iter().any(|step| self.left.contains(*step))
    }
}

/// Whether a removal that has succeeded has left nothing, of what its steps were to remove and of what it noted itself.
pub(crate) fn left_nothing(removal: &Snapshot) -> bool {
    let noted = serde_json::from_slice::<Data>(&removal.data).unwrap_or_default().left;
    removal.incomplete.is_empty() && noted.is_empty()
}

/// Whether something of the cluster may still be there: itself, or what the Reconciler does in it.
pub(super) fn keeps_cluster(left: &BTreeSet<String>) -> bool {
    RUNTIME_STEPS.iter().chain(&RECONCILER_STEPS).any(|step| left.contains(*step))
}

/// The cluster, in the words of the systems that know it by its id; none was ordered without.
fn runtime(cx: &Cx<'_, Deprovisioning>) -> Option<String> {
    cx.data.details.runtime_id.map(|id| id.to_string())
}

/// Whether the cluster is the customer's own: it is let go of, not removed.
fn is_own_cluster(cx: &Cx<'_, Deprovisioning>) -> bool {
    cx.input.order.plan_kind == Kind::OwnCluster
}

/// The Kyma resource's name: as it was noted, or as it is made.
fn kyma_name(cx: &Cx<'_, Deprovisioning>) -> Option<String> {
    let noted = cx.data.details.kyma_name.clone();
    noted.or_else(|| runtime(cx).map(|id| id.to_lowercase()))
}

/// What a call that failed means here: whatever it was, somebody may get it out of the way before the time is up.
pub fn calling(error: clients::Error) -> StepError {
    match StepError::from(error) {
        StepError::Fatal(failure) => StepError::transient(failure),
        passing => passing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: [&str; 2] = ["neighbours", "legacy"];

    #[test]
    fn every_file_in_the_folder_is_a_step_of_the_plan() {
        let shape = plan(&Limits::default(), Systems::ALL).check().unwrap().shape;
        let mut steps: Vec<String> = shape
            .stages
            .iter()
            .flat_map(|stage| stage.steps.iter())
            .map(|step| step.name.to_lowercase().replace('-', ""))
            .collect();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/operations/deprovisioning");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .filter(|name| !SHARED.contains(&name.as_str()))
            .collect();

        steps.sort();
        files.sort();
        assert_eq!(steps, files);
    }

    #[test]
    fn every_step_but_the_first_and_the_last_has_something_to_remove() {
        let shape = plan(&Limits::default(), Systems::ALL).check().unwrap().shape;
        let names: Vec<&str> = shape.stages.iter().map(|stage| stage.name.as_str()).collect();

        assert_eq!(steps(Systems::ALL), names[1..names.len() - 1]);
    }

    #[test]
    fn nothing_but_the_first_step_can_fail_the_operation() {
        let shape = plan(&Limits::default(), Systems::ALL).check().unwrap().shape;

        for step in shape.stages.iter().skip(1).flat_map(|stage| &stage.steps) {
            assert_eq!(step.retry.at_limit, engine::AtLimit::Skip, "{}", step.name);
            assert!(step.retry.failing_for <= Duration::from_mins(5), "{}", step.name);
        }
    }
}
