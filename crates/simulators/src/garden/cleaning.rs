//! The job that cleans released accounts: a binding with `dirty=true` that no Shoot uses is nobody's again after a while.
//! It also lets go of bindings that were deleted while Shoots used them.
//!
//! What a reader would get wrong: it has no memory beyond one round. A binding is cleaned when two rounds in a row find
//! it dirty and unchanged, so everybody has the time of a round to see it.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use base::Clock;
use kube::{
    Api, Client, Error, ResourceExt,
    api::{ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{
    settings::Settings,
    shoot::{FINALIZER, resource},
};
use crate::pace::Pace;

/// The writer.
const MANAGER: &str = "subscription-cleanup-job";
/// Rounds are no closer than this, however fast the world is.
const FASTEST: Duration = Duration::from_secs(4);

/// The job; runs until it is stopped or dropped.
pub(crate) struct Cleaning {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

struct Job {
    bindings: Vec<(&'static str, Api<DynamicObject>)>,
    shoots: Api<DynamicObject>,
}

/// The kinds of bindings, and where a Shoot names one.
const KINDS: [(&str, &str, &str, &str); 2] = [
    ("core.gardener.cloud", "v1beta1", "SecretBinding", "secretBindingName"),
    ("security.gardener.cloud", "v1alpha1", "CredentialsBinding", "credentialsBindingName"),
];

impl Cleaning {
    /// Starts it, unless nobody cleans in this garden.
    pub(crate) fn start(
        client: &Client,
        settings: &Settings,
        clock: Clock,
        pace: Pace,
    ) -> Option<Self> {
        let every = settings.cleaning?;
        let namespace = settings.namespace();
        let bindings = KINDS.map(|(group, version, kind, field)| {
            let gvk = GroupVersionKind::gvk(group, version, kind);
            let plural = format!("{}s", kind.to_lowercase());
            let resource = ApiResource::from_gvk_with_plural(&gvk, &plural);
            (field, Api::namespaced_with(client.clone(), &namespace, &resource))
        });
        let shoots = Api::namespaced_with(client.clone(), &namespace, &resource());
        let job = Job { bindings: bindings.into(), shoots };
        let stop = CancellationToken::new();
        let working = async move {
            let mut seen = HashMap::new();
            loop {
                clock.sleep(pace.scaled(every).max(FASTEST)).await;
                match job.round(&seen).await {
                    Ok(found) => seen = found,
                    Err(error) => tracing::warn!(%error, "released accounts cannot be cleaned"),
                }
            }
        };
        let working = stop.clone().run_until_cancelled_owned(working);
        let task = tokio::spawn(async move {
            let _ = working.await;
        });
        Some(Self { stop, task })
    }

    /// Stops it where it stands.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        let _ = self.task.await;
    }
}

/// Dirty bindings by uid, with their versions.
type Dirty = HashMap<String, String>;

impl Job {
    /// Cleans what was found dirty before, and says what is dirty now.
    async fn round(&self, before: &Dirty) -> Result<Dirty, Error> {
        let mut found = Dirty::new();
        for (field, bindings) in &self.bindings {
            let mut all = bindings.list(&ListParams::default()).await?.items;
            let is_dirty =
                |it: &DynamicObject| it.labels().get("dirty").is_some_and(|it| it == "true");
            let is_going = |it: &DynamicObject| it.metadata.deletion_timestamp.is_some();
            all.retain(|binding| is_dirty(binding) || is_going(binding));
            let used = if all.is_empty() { HashSet::new() } else { self.used(field).await? };
            for binding in all.iter().filter(|binding| !used.contains(&binding.name_any())) {
                if is_going(binding) {
                    let rest = binding.finalizers().iter().filter(|one| *one != FINALIZER);
                    let rest: Vec<&String> = rest.collect();
                    change(bindings, binding, json!({"finalizers": rest})).await?;
                    continue;
                }
                let uid = binding.uid().unwrap_or_default();
                let version = binding.resource_version().unwrap_or_default();
                if before.get(&uid) == Some(&version) {
                    let clean = json!({"labels": {"dirty": null, "tenantName": null}});
                    change(bindings, binding, clean).await?;
                } else {
                    found.insert(uid, version);
                }
            }
        }
        Ok(found)
    }

    /// The bindings that Shoots use.
    async fn used(&self, field: &str) -> Result<HashSet<String>, Error> {
        let shoots = self.shoots.list(&ListParams::default()).await?.items;
        let names = shoots.iter().filter_map(|shoot| shoot.data["spec"][field].as_str());
        Ok(names.map(str::to_owned).collect())
    }
}

/// Changes the metadata of a binding, unless it was modified concurrently.
async fn change(
    bindings: &Api<DynamicObject>,
    binding: &DynamicObject,
    mut metadata: Value,
) -> Result<(), Error> {
    metadata["resourceVersion"] = json!(binding.resource_version());
    let change = json!({ "metadata": metadata });
    let by = PatchParams { field_manager: Some(MANAGER.into()), ..PatchParams::default() };
    match bindings.patch(&binding.name_any(), &by, &Patch::Merge(&change)).await {
        // Changed or removed concurrently: the next round looks again.
        Err(Error::Api(status)) if status.code == 409 || status.code == 404 => Ok(()),
        done => done.map(drop),
    }
}
