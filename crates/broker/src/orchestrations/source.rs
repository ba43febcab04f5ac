//! Where maintenance windows come from: the Shoots of the garden, and the policy in the control plane's cluster.

use std::collections::HashMap;

use clients::{
    Error,
    gardener::{Gardener, SHOOTS},
    kubernetes::Cluster,
};
use futures::future::BoxFuture;
use serde::Deserialize;

use super::policy::{Policy, ShootTimes};
use crate::overrides::objects::{CONFIG_MAPS, ConfigMap};

/// The key of the policy in its `ConfigMap`.
const KEY: &str = "maintenancePolicy";

/// Everything that maintenance windows are worked out from.
#[derive(Debug, Clone, Default)]
pub struct WindowFacts {
    /// The rules.
    pub policy: Policy,
    /// The Shoots' own windows, by their names.
    pub shoots: HashMap<String, ShootTimes>,
}

/// Where maintenance windows are found. A trait, because tests bring windows of their own.
pub trait WindowSource: Send + Sync {
    /// Reads everything at once.
    fn read(&self) -> BoxFuture<'_, Result<WindowFacts, Error>>;
}

/// The garden and the control plane's cluster.
pub struct GardenWindows {
    /// The garden.
    pub gardener: Gardener,
    /// The cluster with the policy.
    pub control_plane: Cluster,
    /// The policy's namespace.
    pub namespace: String,
    /// The name of its `ConfigMap`.
    pub name: String,
}

/// As much of a Shoot as is needed: there may be thousands.
#[derive(Deserialize)]
struct ShootWindow {
    metadata: ObjectName,
    #[serde(default)]
    spec: Spec,
}

#[derive(Deserialize)]
struct ObjectName {
    name: String,
}

#[derive(Default, Deserialize)]
struct Spec {
    #[serde(default)]
    maintenance: Option<Maintenance>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Maintenance {
    #[serde(default)]
    time_window: Option<Times>,
}

#[derive(Deserialize)]
struct Times {
    begin: String,
    end: String,
}

impl WindowSource for GardenWindows {
    fn read(&self) -> BoxFuture<'_, Result<WindowFacts, Error>> {
        Box::pin(async {
            let policy = self.policy().await?;
            let shoots = self.gardener.cluster();
            let shoots = shoots.objects::<ShootWindow>(SHOOTS, Some(self.gardener.namespace()));
            let shoots = shoots.list("").await?.into_iter().filter_map(|shoot| {
                let times = shoot.spec.maintenance?.time_window?;
                Some((shoot.metadata.name, (times.begin, times.end)))
            });
            Ok(WindowFacts { policy, shoots: shoots.collect() })
        })
    }
}

impl GardenWindows {
    /// The rules; none when there are none, or they cannot be read: the Shoots' own windows are kept anyhow.
    async fn policy(&self) -> Result<Policy, Error> {
        let maps = self.control_plane.objects::<ConfigMap>(CONFIG_MAPS, Some(&self.namespace));
        let Some(map) = maps.find(&self.name).await? else { return Ok(Policy::default()) };
        let Some(text) = map.data.as_ref().and_then(|data| data.get(KEY)) else {
            return Ok(Policy::default());
        };
        Ok(Policy::read(text).unwrap_or_else(|problem| {
            tracing::warn!(
                problem,
                config_map = %self.name,
                "maintenance policy is not valid, using the windows of the Shoots"
            );
            Policy::default()
        }))
    }
}
