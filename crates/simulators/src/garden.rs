//! A place for the simulated Gardener: its kinds and its controller.

use std::sync::Arc;

use base::Clock;
use cluster::{Catalog, Kind, Where};
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::pace::Pace;

/// How the garden is furnished.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The project whose namespace is `garden-<project>`.
    pub project: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self { project: "kyma".into() }
    }
}

/// A garden that cannot be furnished.
#[derive(Debug, thiserror::Error)]
#[error("the garden cannot be furnished")]
pub struct Error(#[from] kube::Error);

/// Where the clusters of Shoots live.
pub trait Runtimes: Send + Sync + 'static {
    /// Makes one, unless it is there.
    fn create(&self, cluster: &str) -> Result<(), String>;
    /// Takes one away.
    fn remove(&self, cluster: &str) -> Result<(), String>;
    /// Opens or closes one.
    fn set_reachable(&self, cluster: &str, reachable: bool);
}

/// The garden's kinds.
pub fn catalog(catalog: Catalog, _: &Settings) -> Catalog {
    let shoot = Kind::new("core.gardener.cloud", "v1beta1", "shoots", "Shoot");
    let shoot = shoot.namespaced().subresource("status");
    catalog.kind(Where::Only("garden".into()), shoot)
}

/// Their definitions.
pub fn definitions() -> Vec<Value> {
    Vec::new()
}

/// Makes the project's namespace.
pub async fn furnish(client: &Client, settings: &Settings) -> Result<(), Error> {
    let name = format!("garden-{}", settings.project);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let all: Api<Namespace> = Api::all(client.clone());
    let by = PatchParams::apply("gardener").force();
    all.patch(&name, &by, &Patch::Apply(namespace)).await?;
    Ok(())
}

/// The controller.
pub struct Controller;

impl Controller {
    /// Starts it.
    pub fn start(_: Client, _: Arc<dyn Runtimes>, _: Settings, _: Clock, _: Pace) -> Self {
        Self
    }

    /// Stops it.
    pub async fn stop(self) {
        std::future::ready(()).await;
    }
}
