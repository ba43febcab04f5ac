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
    Actor, CONNECTION, INSTALLATION, Wakes,
    kinds::{CONFIGURATION, INSTALLER, connections, installations},
    scenario,
};

type Bells = BoxStream<'static, &'static [Actor]>;

/// Watches until it is dropped.
pub(super) async fn run(client: Client, runtime: String, wakes: Wakes) {
    let agent: &[Actor] = &[Actor::Agent];
    let installer: &[Actor] = &[Actor::Installer];
    let both: &[Actor] = &[Actor::Agent, Actor::Installer];
    let connections = Api::<DynamicObject>::all_with(client.clone(), &connections());
    let installations =
        Api::<DynamicObject>::namespaced_with(client.clone(), INSTALLATION.0, &installations());
    let maps = Api::<ConfigMap>::namespaced(client.clone(), scenario::OBJECT.0);
    let deployments = Api::<Deployment>::namespaced(client.clone(), INSTALLER);
    let mut bells = futures::stream::select_all([
        bells(Api::<Secret>::all(client), CONFIGURATION, agent),
        bells(connections, CONNECTION, agent),
        bells(installations, INSTALLATION.1, installer),
        bells(maps, scenario::OBJECT.1, both),
        bells(deployments, INSTALLER, installer),
    ]);
    while let Some(actors) = bells.next().await {
        for actor in actors {
            wakes.wake(&runtime, *actor);
        }
    }
}

/// Rings with every change of the objects with this name.
fn bells<K>(api: Api<K>, name: &str, actors: &'static [Actor]) -> Bells
where
    K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + 'static,
{
    let config = watcher::Config::default().fields(&format!("metadata.name={name}"));
    // A kind that is not there yet is asked for again and again, ever more slowly.
    let events = watcher(api, config).default_backoff();
    events.filter_map(move |event| ready(event.ok().map(|_| actors))).boxed()
}
