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
mod left;
pub mod legacy;
mod neighbours;
mod release_subscription;
mod remove_instance;
mod remove_runtime;

use std::{collections::BTreeSet, time::Duration};

use domain::plan::Kind;
use engine::{Cx, Operation, OperationId, Plan, Step, StepError};
use jiff::Timestamp;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::{
    env::Env,
    systems::{System, Systems},
};
use crate::{Details, Order};

pub(super) use left::keeps_cluster;
use left::removal;
pub(crate) use left::{left_nothing, what_is_left};

/// Under which name operations of this kind are stored.
pub const KIND: &str = "deprovision";

/// The end of an instance.
pub struct Deprovisioning;

impl Operation for Deprovisioning {
    const KIND: &'static str = KIND;
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// The request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Input {
    /// The order.
    pub order: Order,
    /// The user agent of the request.
    #[serde(default)]
    pub user_agent: Option<String>,
    /// Whether the instance only sleeps: its row stays, and so does its account.
    #[serde(default)]
    pub temporary: bool,
}

/// Data of the steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// The details of the instance, without the objects that have been removed since.
    pub details: Details,
    /// The steps that have not found their thing gone yet, by name.
    pub left: BTreeSet<String>,
    /// The provisioner's operations that were begun to remove the cluster, the newest last.
    pub removals: Vec<String>,
    /// Since when the removal of the cluster's services has been requested.
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

/// Memory; never stored.
#[derive(Default)]
pub struct Memory {
    /// The cluster's kubeconfig.
    kubeconfig: Option<SecretString>,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeprovisioningLimits {
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

impl Default for DeprovisioningLimits {
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

/// A step that keeps something gives up as soon as the engine lets it.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The plan for every instance. Each step is a stage, so that a finished step never runs again.
pub fn plan(limits: &DeprovisioningLimits, systems: Systems) -> Plan<Deprovisioning> {
    let DeprovisioningLimits { failing, services, .. } = *limits;
    Plan::within(limits.operation)
        .reaching(systems.iter())
        .each(init_step::InitStep.failing_for(failing))
        .each(
            // Once its finalizers are taken away, an object goes at once or never.
            removal(btpoperator_cleanup::BtpOperatorCleanup { patience: services }, limits)
                .waiting_for(services + failing)
                .or_leave("services that were ordered through the cluster"),
        )
        .each(
            removal(deprovision_avs_evaluations::DeprovisionAvsEvaluations, limits)
                .needs(System::Avs)
                .or_leave("evaluations in the availability service"),
        )
        .each(
            removal(edp_deregistration::EdpDeregistration, limits)
                .needs(System::Edp)
                .or_leave("the data tenant in the event data platform"),
        )
        .each(
            removal(ias_deregistration::IasDeregistration, limits)
                .needs(System::Ias)
                .or_leave("service providers in identity authentication"),
        )
        .each(
            removal(delete_kyma_resource::DeleteKymaResource, limits)
                .needs(System::LifecycleManager)
                .or_leave("the Kyma resource"),
        )
        .each(
            removal(check_kyma_resource_deleted::CheckKymaResourceDeleted, limits)
                .needs(System::LifecycleManager)
                .waiting_for(limits.kyma)
                .or_leave("the Kyma resource"),
        )
        .each(
            removal(deregister_cluster::DeregisterCluster, limits)
                .needs(System::Reconciler)
                .or_leave("the cluster in the Reconciler"),
        )
        .each(
            removal(check_cluster_deregistration::CheckClusterDeregistration, limits)
                .needs(System::Reconciler)
                .waiting_for(limits.reconciler)
                .or_leave("the cluster in the Reconciler"),
        )
        .each(
            removal(remove_runtime::RemoveRuntime, limits)
                .waiting_for(limits.runtime)
                .or_leave("the cluster"),
        )
        .each(
            removal(check_runtime_removal::CheckRuntimeRemoval, limits)
                .waiting_for(limits.runtime)
                .or_leave("the cluster"),
        )
        .each(
            removal(release_subscription::ReleaseSubscription, limits)
                .waiting_for(AT_ONCE)
                .or_leave("the claim on a provider's account"),
        )
        .each(
            removal(delete_kubeconfig::DeleteKubeconfig, limits)
                .needs(System::LifecycleManager)
                .or_leave("the kubeconfig in the control plane"),
        )
        .each(remove_instance::RemoveInstance.failing_for(failing).waiting_for(AT_ONCE).or_skip())
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

/// Makes every failure of a call transient: an operator may remove the cause before the time is up.
fn as_transient(error: clients::Error) -> StepError {
    match StepError::from(error) {
        StepError::Fatal(failure) => StepError::transient(failure),
        passing => passing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: [&str; 3] = ["left", "legacy", "neighbours"];

    #[test]
    fn every_file_in_the_folder_is_a_step_of_the_plan() {
        let shape = plan(&DeprovisioningLimits::default(), Systems::ALL).check().unwrap().shape;
        let name = |step: &engine::plan::StepShape| step.name.to_lowercase().replace('-', "");
        let mut steps: Vec<String> = shape.all_steps().map(name).collect();
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
    fn nothing_but_the_first_step_can_fail_the_operation() {
        let shape = plan(&DeprovisioningLimits::default(), Systems::ALL).check().unwrap().shape;

        for step in shape.all_steps().skip(1) {
            assert_eq!(step.retry.at_limit, engine::AtLimit::Skip, "{}", step.name);
            assert!(step.retry.failing_for <= Duration::from_mins(5), "{}", step.name);
        }
    }
}
