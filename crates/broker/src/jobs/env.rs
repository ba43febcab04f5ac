//! The clients and settings of jobs.

use std::sync::Arc;

use clients::{
    Gate,
    aws::Market,
    azure::Cloud,
    cis::Events,
    gardener::{BindingKind, Gardener},
    provisioner::Provisioner,
};
use url::Url;

use super::Settings;
use crate::{bindings::Bindings, instances::Broker};

/// The clients and settings of jobs.
pub struct Env {
    /// The use cases of instances, and the broker's rows.
    pub broker: Broker,
    /// The use cases of bindings.
    pub bindings: Bindings,
    /// The garden: Shoots, and the pool of accounts.
    pub gardener: Gardener,
    /// Which objects hold the accounts of the pool.
    pub account_bindings: BindingKind,
    /// The provisioner.
    pub provisioner: Provisioner,
    /// Events of subaccounts.
    pub events: Option<Events>,
    /// How Amazon is reached with the credentials of an account of the pool.
    pub aws: Aws,
    /// How Azure is reached with the credentials of an account of the pool.
    pub azure: Azure,
    /// The operator's settings.
    pub settings: Settings,
}

/// How Amazon is reached.
pub struct Aws {
    /// The one address of all regions; Amazon's own if there is none.
    pub endpoint: Option<Url>,
    /// Which regions.
    pub market: Market,
    /// The way to it.
    pub gate: Arc<Gate>,
}

/// How Azure is reached.
pub struct Azure {
    /// Which cloud.
    pub cloud: Cloud,
    /// The way to it.
    pub gate: Arc<Gate>,
    /// The way to its issuer.
    pub tokens: Arc<Gate>,
}
