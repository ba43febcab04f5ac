//! Every plan by its name and without its code: what operators and documents are shown.
//!
//! What a reader would get wrong: a name here is not the stored kind. Broker and provisioner both have operations of the
//! kind `provision`; the names of the provisioner's plans begin with `runtime-`.

mod printed;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, path::Path, sync::Arc};

use anyhow::Context;
use broker::jobs;
use broker::operations::{
    ProvisioningLimits, System, Systems,
    deprovisioning::{self, DeprovisioningLimits},
    orchestration,
    provisioning::{self, legacy},
    update::{self, UpdateLimits},
    upgrade_cluster::{self, UpgradeClusterLimits as ClusterLimits},
    upgrade_kyma::{self, UpgradeKymaLimits as KymaLimits},
};
use engine::{Operation, Plan, Shape, plan::PlanError};
use provisioner::{limits::StageLimits as RuntimeLimits, operations as runtime};

pub use printed::{HEAD, json, markdown, notes, rows, span};

use crate::{
    broker::from_settings::{cluster_limits, kyma_limits, limits, removal_limits, update_limits},
    settings::{self, Settings, provisioner as provisioner_settings},
    systems::Section as _,
};

/// The service of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// The environment broker.
    Broker,
    /// The runtime provisioner.
    Provisioner,
}

impl Service {
    /// As it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Broker => "broker",
            Self::Provisioner => "provisioner",
        }
    }
}

/// A plan with its name.
#[derive(Debug, Clone)]
pub struct NamedPlan {
    /// Its name for people.
    pub name: &'static str,
    /// The service of a plan.
    pub service: Service,
    /// A sentence about it.
    pub about: &'static str,
    /// Its stages, steps and limits.
    pub shape: Arc<Shape>,
}

/// Input of the broker's plans.
struct PlanInputs {
    systems: Systems,
    provisioning: ProvisioningLimits,
    removal: DeprovisioningLimits,
    update: UpdateLimits,
    kyma: KymaLimits,
    cluster: ClusterLimits,
}

impl PlanInputs {
    /// Every system, and otherwise the defaults.
    fn everything() -> Self {
        Self {
            systems: Systems::ALL,
            provisioning: ProvisioningLimits::default(),
            removal: DeprovisioningLimits::default(),
            update: UpdateLimits::default(),
            kyma: KymaLimits::default(),
            cluster: ClusterLimits::default(),
        }
    }

    /// The systems that these settings name, and their limits.
    fn of(settings: &Settings) -> anyhow::Result<Self> {
        let (provisioning, removal) =
            (limits(settings, &settings.systems)?, removal_limits(settings));
        let update = update_limits(settings);
        let (kyma, cluster) = (kyma_limits(settings), cluster_limits(settings));
        let settings = &settings.systems;
        let classes = [
            settings.avs.gardener_shoot_name_tag_class_id,
            settings.avs.gardener_seed_name_tag_class_id,
            settings.avs.region_tag_class_id,
        ];
        let systems = Systems::NONE
            .with(System::Avs, settings.avs.is_given())
            .with(System::AvsTags, classes.iter().all(Option::is_some))
            .with(System::Edp, settings.edp.is_given())
            .with(System::Ias, settings.ias.is_given())
            .with(System::Lms, settings.lms.is_given())
            .with(System::EventHubs, settings.azure.is_given())
            .with(System::LifecycleManager, settings.lifecycle_manager.is_given())
            .with(System::Reconciler, settings.reconciler.is_given())
            .with(System::Spc, settings.spc.is_given());
        Ok(Self { systems, provisioning, removal, update, kyma, cluster })
    }
}

/// All plans with their defaults, as they are where every outside system is configured.
pub fn all() -> Result<Vec<NamedPlan>, PlanError> {
    let mut all = broker(&PlanInputs::everything())?;
    all.extend(runtimes(&RuntimeLimits::default())?);
    Ok(all)
}

/// One plan: with its defaults and everything configured, or as the service that has this settings file follows it.
pub fn find(name: &str, file: Option<&Path>) -> anyhow::Result<NamedPlan> {
    let known = all()?;
    let Some(found) = known.iter().find(|plan| plan.name == name) else {
        let names: Vec<&str> = known.iter().map(|plan| plan.name).collect();
        anyhow::bail!("no plan is named \"{name}\"; there are {}", names.join(", "));
    };
    let Some(file) = file else { return Ok(found.clone()) };
    let followed = match found.service {
        Service::Broker => broker(&PlanInputs::of(&settings::load(Some(file))?)?)?,
        Service::Provisioner => runtimes(&provisioner_settings::load(Some(file))?.limits.limits())?,
    };
    followed.into_iter().find(|plan| plan.name == name).context("every service has all its plans")
}

/// The outside systems that the plans of a broker with these settings call.
pub fn called(settings: &Settings) -> anyhow::Result<BTreeSet<String>> {
    let legacy = settings.runtimes.legacy;
    let followed = broker(&PlanInputs::of(settings)?)?.into_iter();
    // Changes and upgrades are the same for all runtimes.
    let is_followed = |plan: &NamedPlan| {
        plan.name.starts_with("up")
            || ["orchestration", "job"].contains(&plan.name)
            || plan.name.starts_with("legacy-") == legacy
    };
    let followed = followed.filter(is_followed);
    let calls = |plan: NamedPlan| {
        let steps = plan.shape.stages.iter().flat_map(|stage| &stage.steps);
        steps.flat_map(|step| step.calls.clone()).collect::<Vec<_>>()
    };
    Ok(followed.flat_map(calls).collect())
}

fn broker(there: &PlanInputs) -> Result<Vec<NamedPlan>, PlanError> {
    let PlanInputs { systems, provisioning: limits, removal, update, kyma, cluster } = *there;
    let named = |name, about, shape| NamedPlan { name, service: Service::Broker, about, shape };
    Ok(vec![
        named(
            "provisioning",
            "makes a runtime and everything around it",
            shape(provisioning::plan(&limits, systems))?,
        ),
        named(
            "update",
            "carries a change of an instance to its runtime",
            shape(update::plan(&update, systems))?,
        ),
        named(
            "upgrade-kyma",
            "gives a runtime another version of Kyma: one stage, ordered by weights",
            shape(upgrade_kyma::plan(&kyma, systems))?,
        ),
        named(
            "upgrade-cluster",
            "gives a runtime's cluster another version of Kubernetes: one stage, ordered by weights",
            shape(upgrade_cluster::plan(&cluster, systems))?,
        ),
        named(
            "orchestration",
            "starts the upgrades of many runtimes, some at a time",
            shape(orchestration::plan(systems))?,
        ),
        named(
            "deprovisioning",
            "removes an instance with everything that was made for it",
            shape(deprovisioning::plan(&removal, systems))?,
        ),
        named(
            "legacy-provisioning",
            "makes a runtime of the legacy plan: one stage, ordered by weights",
            shape(legacy::plan(&limits, systems))?,
        ),
        named(
            "legacy-deprovisioning",
            "removes an instance of the legacy plan: one stage, ordered by weights",
            shape(deprovisioning::legacy::plan(&removal, systems))?,
        ),
        named("job", "runs a job, one page of candidates at a time", shape(jobs::plan())?),
    ])
}

fn runtimes(limits: &RuntimeLimits) -> Result<Vec<NamedPlan>, PlanError> {
    use runtime::{
        deprovisioning, hibernation, provisioning, reconnection, upgrade, upgrade_shoot,
    };
    let named =
        |name, about, shape| NamedPlan { name, service: Service::Provisioner, about, shape };
    Ok(vec![
        named(
            "runtime-provision",
            "makes a cluster, and installs and connects Kyma in it",
            shape(provisioning::plan(limits))?,
        ),
        named(
            "runtime-provision-no-install",
            "makes a cluster with nothing in it but the way to connect it",
            shape(provisioning::plan_no_install(limits))?,
        ),
        named(
            "runtime-upgrade",
            "gives a runtime another version of Kyma, of Kubernetes, or of both",
            shape(upgrade::plan(limits))?,
        ),
        named(
            "runtime-upgrade-shoot",
            "gives a runtime's cluster other settings",
            shape(upgrade_shoot::plan(limits))?,
        ),
        named(
            "runtime-deprovision",
            "removes a runtime that has Kyma in it",
            shape(deprovisioning::plan(limits))?,
        ),
        named(
            "runtime-deprovision-no-install",
            "removes a runtime that has nothing in it",
            shape(deprovisioning::plan_no_install(limits))?,
        ),
        named(
            "runtime-hibernate",
            "lets a runtime's cluster sleep",
            shape(hibernation::plan(limits))?,
        ),
        named(
            "runtime-reconnect",
            "makes the agent of a runtime connect anew",
            shape(reconnection::plan(limits))?,
        ),
    ])
}

fn shape<O: Operation>(plan: Plan<O>) -> Result<Arc<Shape>, PlanError> {
    Ok(plan.check()?.shape)
}
