//! The catalog's files as types.
//!
//! Words that must be found elsewhere remember where they stand (`Spanned`), so that a broken rule can name the line.

use std::collections::BTreeMap;

use domain::{
    parameters::Oidc,
    plan::{Accounts, Kind, Profile, Provider},
};
use serde::Deserialize;
use serde_saphyr::Spanned;

/// `service.yaml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Service {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) description: String,
    #[serde(default)]
    pub(super) tags: Vec<String>,
    /// Given to platforms as it is, without what is empty.
    #[serde(default)]
    pub(super) metadata: serde_json::Map<String, serde_json::Value>,
}

/// `plans.yaml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plans {
    pub(super) plans: Vec<PlanData>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PlanData {
    pub(super) id: Spanned<String>,
    pub(super) name: Spanned<String>,
    pub(super) description: Option<String>,
    pub(super) display_name: Option<String>,
    pub(super) free: Option<bool>,
    pub(super) kind: Kind,
    pub(super) accounts: Accounts,
    pub(super) profile: Profile,
    pub(super) licence_type: Option<String>,
    /// The names of the plans that its instances can change to.
    #[serde(default)]
    pub(super) upgradable_to: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) limits: PlanLimits,
    pub(super) nodes: Option<Nodes>,
    #[serde(default)]
    pub(super) clusters: BTreeMap<Provider, ClusterData>,
}

/// How many instances of a plan there may be, and for how long.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PlanLimits {
    /// The most instances in one global account.
    pub per_global_account: Option<u32>,
    /// The most instances in one subaccount.
    pub per_subaccount: Option<u32>,
    /// Which instances count.
    pub counts: Counting,
    /// After how many days an instance ends.
    pub lifetime_days: Option<u32>,
}

/// Which instances count against a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Counting {
    /// Instances of the plan.
    #[default]
    ThisPlan,
    /// Instances of every plan.
    EveryPlan,
}

/// The allowed numbers of nodes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nodes {
    pub(super) min: Lowest,
    pub(super) max: Highest,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lowest {
    pub(super) minimum: u32,
    pub(super) default: Spanned<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Highest {
    pub(super) minimum: u32,
    pub(super) maximum: u32,
    pub(super) default: Spanned<u32>,
}

/// The cluster of a plan on one provider.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ClusterData {
    pub(super) disk_type: Option<String>,
    pub(super) volume_size_gb: Option<u32>,
    pub(super) machine_type: Spanned<String>,
    pub(super) region: Spanned<String>,
    pub(super) worker_cidr: Spanned<String>,
    pub(super) network_cidr: Option<Spanned<String>>,
    pub(super) nodes: Spanned<Range>,
    pub(super) zones: Spanned<ZoneRule>,
    pub(super) nat_gateway: Option<bool>,
    pub(super) purpose: Option<String>,
    #[serde(default)]
    pub(super) failure_tolerance: bool,
    pub(super) exposure_class: Option<String>,
    pub(super) cloud_profile: Option<String>,
    pub(super) load_balancer_provider: Option<String>,
    pub(super) eu_access: EuRule,
    pub(super) regions: Option<RegionChoice>,
    pub(super) machine_types: Option<MachineChoice>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    pub(super) min: u32,
    pub(super) max: u32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ZoneRule {
    /// How many zones.
    pub(super) count: usize,
    /// How many when clusters are to span several.
    pub(super) multi: Option<usize>,
    /// Whether an order may name them.
    #[serde(default)]
    pub(super) chosen: bool,
}

/// Where an order from an EU access region goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(super) enum EuRule {
    /// To the EU region, whatever it says.
    Forced,
    /// To the EU region, when it says nothing.
    UnlessChosen,
    /// Where any other order goes.
    Free,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RegionChoice {
    pub(super) regular: Vec<Spanned<String>>,
    /// Instead of the regular ones, for orders from EU access regions.
    pub(super) eu_access: Option<Vec<Spanned<String>>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MachineChoice {
    pub(super) create: Vec<Spanned<String>>,
    /// Further ones that only a change may ask for.
    #[serde(default)]
    pub(super) update_too: Vec<Spanned<String>>,
}

/// `providers.yaml`.
pub(super) type Providers = BTreeMap<Provider, ProviderData>;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProviderData {
    /// How a zone is called, from `{region}` and `{zone}`.
    pub(super) zone_name: Spanned<String>,
    /// Type and the words people see.
    pub(super) machines: BTreeMap<String, String>,
    /// Region and its zones.
    pub(super) regions: BTreeMap<String, Spanned<Vec<String>>>,
}

/// `regions.yaml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Regions {
    pub(super) default: String,
    /// All that there are, besides those that are named elsewhere; any when none is listed.
    #[serde(default, rename = "platformRegions")]
    pub(super) platforms: Vec<String>,
    pub(super) providers_by_digit: BTreeMap<char, Provider>,
    pub(super) trial: TrialRegions,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TrialRegions {
    pub(super) platform_regions: BTreeMap<String, Spanned<String>>,
    pub(super) areas: BTreeMap<String, BTreeMap<Provider, Spanned<String>>>,
}

/// `eu-access.yaml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EuAccess {
    pub(super) regions: Vec<String>,
    pub(super) cluster_regions: BTreeMap<Provider, Spanned<String>>,
    pub(super) whitelist: Vec<String>,
    pub(super) message: String,
}

/// `defaults.yaml`: what every cluster gets unless its plan or its order says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Defaults {
    /// The version of Kubernetes.
    pub kubernetes_version: String,
    /// Whether patches of Kubernetes are installed by themselves.
    pub kubernetes_auto_update: bool,
    /// The nodes' operating system.
    pub machine_image: Option<String>,
    pub machine_image_version: Option<String>,
    /// Whether newer ones are installed by themselves.
    pub machine_image_auto_update: bool,
    /// The purpose of clusters.
    pub purpose: String,
    /// Whether clusters span several zones, for the plans that can.
    pub multi_zone: bool,
    /// The failure tolerance of control planes, for plans that have one: `node` or `zone`.
    pub failure_tolerance: Option<String>,
    /// How many nodes trials have, instead of what the plan says.
    pub trial_nodes: Option<u32>,
    /// Where public addresses come from on `OpenStack`.
    pub openstack_floating_pool: Option<String>,
    /// The provider of trials that name none.
    pub trial_provider: Provider,
    /// Providers on which free clusters may be ordered.
    pub free_providers: Vec<Provider>,
    /// The issuer of clusters that name none, and what fills the gaps of those that do.
    pub oidc: Oidc,
}
