//! Wakes the controllers for a cluster of another API server, by watching what matters there.

use futures::{StreamExt, future::ready, stream::BoxStream};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret},
};
use kube::{
    Api, Client,
    api::DynamicObject,
    runtime::{WatchStreamExt, watcher},
};

use super::{
    Actor, CONNECTION, INSTALLATION, Wakes, btp,
    kinds::{AGENT, CONFIGURATION, INSTALLER, connections, installations},
    scenario,
};

type Bells = BoxStream<'static, &'static [Actor]>;

/// Watches until it is dropped.
pub(super) async fn run(client: Client, runtime: String, wakes: Wakes) {
    let agent: &[Actor] = &[Actor::Agent];
    let installer: &[Actor] = &[Actor::Installer];
    let everybody: &[Actor] = &[Actor::Agent, Actor::Installer, Actor::BtpOperator];
    let operator: &[Actor] = &[Actor::BtpOperator];
    let connections = Api::<DynamicObject>::all_with(client.clone(), &connections());
    let installations =
        Api::<DynamicObject>::namespaced_with(client.clone(), INSTALLATION.0, &installations());
    let maps = Api::<ConfigMap>::namespaced(client.clone(), scenario::OBJECT.0);
    let deployments = Api::<Deployment>::namespaced(client.clone(), INSTALLER);
    let services =
        |kind: &str| Api::<DynamicObject>::all_with(client.clone(), &btp::resource(kind));
    let mut bells = futures::stream::select_all([
        bells(Api::<Secret>::all(client.clone()), CONFIGURATION, agent),
        bells(Api::<Secret>::all(client.clone()), btp::CREDENTIALS.1, operator),
        bells(services("ServiceBinding"), "", operator),
        bells(services("ServiceInstance"), "", operator),
        bells(connections, CONNECTION, agent),
        bells(installations, INSTALLATION.1, installer),
        bells(maps, scenario::OBJECT.1, everybody),
        bells(deployments, INSTALLER, installer),
        bells(Api::<Deployment>::all(client.clone()), AGENT, agent),
    ]);
    while let Some(actors) = bells.next().await {
        for actor in actors {
            wakes.wake(&runtime, *actor);
        }
    }
}

/// Rings with every change of the objects with this name, or of all if it is empty.
fn bells<K>(api: Api<K>, name: &str, actors: &'static [Actor]) -> Bells
where
    K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + 'static,
{
    let mut config = watcher::Config::default();
    if !name.is_empty() {
        config = config.fields(&format!("metadata.name={name}"));
    }
    // A kind that is not there yet is asked for again and again, ever more slowly.
    let events = watcher(api, config).default_backoff();
    events.filter_map(move |event| ready(event.ok().map(|_| actors))).boxed()
}
