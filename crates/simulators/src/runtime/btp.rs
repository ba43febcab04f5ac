//! The BTP operator: brings its kinds once it has credentials, holds what customers make, lets go of what they delete.
//!
//! What a reader would get wrong: it holds an instance as long as a binding of it is there, as the real one does.

use std::time::Duration;

use base::Clock;
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::Secret,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Error, ResourceExt,
    api::{
        ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams,
    },
};
use serde_json::{Value, json};

use super::{
    Next, Settings,
    definitions::services,
    scenario::{SLOW, Scenario},
};
use crate::pace::Pace;

/// The Secret with its credentials: its namespace and name.
pub(super) const CREDENTIALS: (&str, &str) = ("kyma-system", "sap-btp-manager");
/// Bindings as a resource.
pub(crate) const BINDINGS: &str = "servicebindings.services.cloud.sap.com";
/// Instances as a resource.
pub(crate) const INSTANCES: &str = "serviceinstances.services.cloud.sap.com";
const GROUP: &str = "services.cloud.sap.com";
const FINALIZER: &str = "services.cloud.sap.com/sap-btp-finalizer";
const MANAGER: &str = "sap-btp-operator";

pub(super) struct Operator {
    settings: Settings,
    clock: Clock,
    pace: Pace,
}

/// How `kube` speaks of bindings or instances.
pub(super) fn resource(kind: &str) -> ApiResource {
    let gvk = GroupVersionKind::gvk(GROUP, "v1", kind);
    ApiResource::from_gvk_with_plural(&gvk, &format!("{}s", kind.to_lowercase()))
}

impl Operator {
    pub(super) fn new(settings: Settings, clock: Clock, pace: Pace) -> Self {
        Self { settings, clock, pace }
    }

    /// Looks at a runtime and does what is due.
    pub(super) async fn act(&self, client: &Client) -> Result<Next, Error> {
        let scenario = Scenario::read(client, "btp").await?;
        let secrets: Api<Secret> = Api::namespaced(client.clone(), CREDENTIALS.0);
        if scenario.says("silent") {
            return Ok(Next::Woken);
        }
        let has_credentials = secrets.get_opt(CREDENTIALS.1).await?.is_some();
        if has_credentials && !scenario.says("no-kinds") {
            bring_kinds(client).await?;
        }
        let slow = if scenario.says("slow") { SLOW } else { 1 };
        let delay = self.pace.scaled(self.settings.letting_go * slow);
        let bindings = self.all(client, "ServiceBinding").await?;
        let instances = self.all(client, "ServiceInstance").await?;
        let mut next: Option<Duration> = None;
        for (kind, objects) in [("ServiceBinding", &bindings), ("ServiceInstance", &instances)] {
            for object in objects {
                if object.metadata.deletion_timestamp.is_none() {
                    hold(client, kind, object).await?;
                    continue;
                }
                let bound = kind == "ServiceInstance" && is_bound(object, &bindings);
                if bound || scenario.says("never") {
                    continue;
                }
                let left = self.left(object, delay);
                if left.is_zero() {
                    let_go(client, kind, object).await?;
                    // What it was bound to may go now.
                    next = Some(Duration::ZERO);
                } else {
                    next = Some(next.map_or(left, |next| next.min(left)));
                }
            }
        }
        Ok(next.map_or(Next::Woken, Next::After))
    }

    async fn all(&self, client: &Client, kind: &str) -> Result<Vec<DynamicObject>, Error> {
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource(kind));
        match api.list(&ListParams::default()).await {
            Err(Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
            found => Ok(found?.items),
        }
    }

    /// How long it is held yet.
    fn left(&self, object: &DynamicObject, delay: Duration) -> Duration {
        let since = object.metadata.deletion_timestamp.as_ref();
        let since = since.and_then(|time| time.0.to_string().parse::<Timestamp>().ok());
        let until = since.unwrap_or_else(|| self.clock.now()) + delay;
        until.duration_since(self.clock.now()).try_into().unwrap_or_default()
    }
}

fn is_bound(instance: &DynamicObject, bindings: &[DynamicObject]) -> bool {
    bindings.iter().any(|binding| {
        binding.namespace() == instance.namespace()
            && binding.data["spec"]["serviceInstanceName"] == json!(instance.name_any())
            && !binding.finalizers().is_empty()
    })
}

async fn bring_kinds(client: &Client) -> Result<(), Error> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for definition in services() {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        if api.get_opt(name).await?.is_some() {
            continue;
        }
        let definition = serde_json::from_value(definition).map_err(Error::SerdeError)?;
        match api.create(&PostParams::default(), &definition).await {
            Err(Error::Api(status)) if status.code == 409 => {}
            made => drop(made?),
        }
    }
    Ok(())
}

/// Puts the finalizer on and says that it is ready.
async fn hold(client: &Client, kind: &str, object: &DynamicObject) -> Result<(), Error> {
    if object.finalizers().iter().any(|one| one == FINALIZER) {
        return Ok(());
    }
    let mut all = object.finalizers().to_vec();
    all.push(FINALIZER.to_owned());
    change(client, kind, object, &all).await?;
    let ready = json!({"status": {
        "ready": "True",
        "conditions": [{"type": "Ready", "status": "True", "reason": "Provisioned"}],
    }});
    let api = place(client, kind, object);
    unless_gone(api.patch_status(&object.name_any(), &by(), &Patch::Merge(&ready)).await)
}

async fn let_go(client: &Client, kind: &str, object: &DynamicObject) -> Result<(), Error> {
    let mut all = object.finalizers().to_vec();
    all.retain(|one| one != FINALIZER);
    change(client, kind, object, &all).await
}

async fn change(
    client: &Client,
    kind: &str,
    object: &DynamicObject,
    finalizers: &[String],
) -> Result<(), Error> {
    let change: Value = json!({"metadata": {
        "resourceVersion": object.resource_version(), "finalizers": finalizers,
    }});
    let api = place(client, kind, object);
    unless_gone(api.patch(&object.name_any(), &by(), &Patch::Merge(&change)).await)
}

fn place(client: &Client, kind: &str, object: &DynamicObject) -> Api<DynamicObject> {
    let namespace = object.namespace().unwrap_or_default();
    Api::namespaced_with(client.clone(), &namespace, &resource(kind))
}

fn unless_gone(done: Result<DynamicObject, Error>) -> Result<(), Error> {
    match done {
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        done => done.map(drop),
    }
}

fn by() -> PatchParams {
    PatchParams { field_manager: Some(MANAGER.into()), ..PatchParams::default() }
}
