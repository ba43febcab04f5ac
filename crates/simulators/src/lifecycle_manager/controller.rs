//! The Lifecycle Manager at work: one watch on all Kymas, one task for each of them, no polling.
//!
//! A client like any other: it needs an API server that has the kind, not ours.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use base::Clock;
use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client, Error, ResourceExt,
    api::{DynamicObject, ListParams, Patch, PatchParams},
    runtime::{
        WatchStreamExt,
        watcher::{self, Event, watcher},
    },
};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    FINALIZER, KYMA_NAME, Settings,
    decide::{Act, decide},
    kinds::resource,
    report::{self, Verdict},
    scenario::Scenario,
};
use crate::{
    clusters::{Leads, Visits},
    pace::Pace,
};

/// The writer.
const MANAGER: &str = "lifecycle-manager";
/// Errors are not looked at again faster than this, however fast the world is.
const FASTEST: Duration = Duration::from_millis(500);

/// The controller; runs until it is stopped or dropped.
pub struct Controller {
    stop: CancellationToken,
    tasks: TaskTracker,
}

struct Shared {
    client: Client,
    settings: Settings,
    clock: Clock,
    pace: Pace,
    /// Checks kubeconfigs; without it they are believed.
    visits: Option<Arc<dyn Visits>>,
}

type ObjectReceiver = watch::Receiver<Arc<DynamicObject>>;

impl Controller {
    /// Starts it. Several of them do no harm, but more work.
    pub fn start(client: Client, settings: Settings, clock: Clock, pace: Pace) -> Self {
        Self::run(Shared { client, settings, clock, pace, visits: None })
    }

    /// Starts it in a landscape: a Kyma is ready only when its kubeconfig opens a cluster.
    pub(crate) fn start_visiting(
        client: Client,
        visits: Arc<dyn Visits>,
        settings: Settings,
        clock: Clock,
        pace: Pace,
    ) -> Self {
        Self::run(Shared { client, settings, clock, pace, visits: Some(visits) })
    }

    fn run(shared: Shared) -> Self {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let shared = Arc::new(shared);
        let watching = follow(shared, stop.clone(), tasks.clone());
        tasks.spawn(stop.clone().run_until_cancelled_owned(watching));
        Self { stop, tasks }
    }

    /// Stops it where it stands. Another one carries on from there.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Hands what the watch says to the task of each Kyma.
async fn follow(shared: Arc<Shared>, stop: CancellationToken, tasks: TaskTracker) {
    let all: Api<DynamicObject> = Api::all_with(shared.client.clone(), &resource());
    let mut events = watcher(all, watcher::Config::default()).default_backoff().boxed();
    let mut known: HashMap<(String, String), watch::Sender<Arc<DynamicObject>>> = HashMap::new();
    let mut listed = HashSet::new();
    let key = |object: &DynamicObject| (object.namespace().unwrap_or_default(), object.name_any());
    while let Some(event) = events.next().await {
        let object = match event {
            Ok(Event::Apply(object)) => object,
            Ok(Event::InitApply(object)) => {
                listed.insert(key(&object));
                object
            }
            Ok(Event::Init) => {
                listed.clear();
                continue;
            }
            Ok(Event::InitDone) => {
                known.retain(|key, _| listed.contains(key));
                continue;
            }
            Ok(Event::Delete(object)) => {
                known.remove(&key(&object));
                continue;
            }
            Err(error) => {
                tracing::warn!(%error, "the watch on Kymas is interrupted");
                continue;
            }
        };
        let (key, object) = (key(&object), Arc::new(object));
        match known.get(&key) {
            // A Kyma of the same name that was made anew is another one.
            Some(known) if known.borrow().metadata.uid == object.metadata.uid => {
                known.send_replace(object);
            }
            _ => {
                let (sender, seen) = watch::channel(object);
                known.insert(key, sender);
                let working = work(shared.clone(), seen);
                tasks.spawn(stop.clone().run_until_cancelled_owned(working));
            }
        }
    }
}

/// Works on a Kyma until it is gone.
async fn work(shared: Arc<Shared>, mut seen: ObjectReceiver) {
    let mut current = seen.borrow_and_update().clone();
    loop {
        let next = decide(&current, &shared.settings);
        let act = match next {
            None => None,
            Some((act, after)) => {
                let least =
                    if act == Act::Look && is_wrong(&current) { FASTEST } else { Duration::ZERO };
                let after = shared.pace.scaled(after).max(least);
                tokio::select! {
                    biased;
                    () = shared.clock.sleep(after), if !after.is_zero() => Some(act),
                    changed = seen.changed(), if !after.is_zero() => {
                        if changed.is_err() { return }
                        None
                    }
                    else => Some(act),
                }
            }
        };
        if next.is_none() && seen.changed().await.is_err() {
            return;
        }
        let Some(act) = act else {
            take_newer(&mut current, &mut seen);
            continue;
        };
        match shared.perform(&current, act).await {
            Ok(Some(written)) => current = Arc::new(written),
            Ok(None) => {}
            Err(Error::Api(status)) if status.code == 404 => return,
            Err(error) => {
                tracing::debug!(kyma = current.name_any(), %error, ?act, "a move did not land");
                // A conflict is nobody's fault and no reason to wait.
                if !matches!(&error, Error::Api(status) if status.code == 409) {
                    shared.clock.sleep(FASTEST).await;
                }
                match shared.kymas(&current).get_opt(&current.name_any()).await {
                    Ok(Some(found)) if found.metadata.uid == current.metadata.uid => {
                        current = Arc::new(found);
                    }
                    Ok(_) => return,
                    Err(error) => tracing::warn!(%error, "a Kyma cannot be read"),
                }
            }
        }
        take_newer(&mut current, &mut seen);
    }
}

fn is_wrong(kyma: &DynamicObject) -> bool {
    matches!(kyma.data["status"]["state"].as_str(), Some("Error" | "Warning"))
}

/// Takes over what the watch has seen, unless we have written something newer ourselves.
fn take_newer(current: &mut Arc<DynamicObject>, seen: &mut ObjectReceiver) {
    let latest = seen.borrow_and_update().clone();
    let version = |object: &DynamicObject| object.resource_version()?.parse::<u64>().ok();
    if version(&latest) > version(current) {
        *current = latest;
    }
}

impl Shared {
    fn kymas(&self, kyma: &DynamicObject) -> Api<DynamicObject> {
        let namespace = kyma.namespace().unwrap_or_default();
        Api::namespaced_with(self.client.clone(), &namespace, &resource())
    }

    async fn perform(
        &self,
        kyma: &DynamicObject,
        act: Act,
    ) -> Result<Option<DynamicObject>, Error> {
        let now = self.clock.now();
        match act {
            Act::Hold => {
                let mut all = kyma.finalizers().to_vec();
                all.push(FINALIZER.to_owned());
                self.finalizers(kyma, &all).await.map(Some)
            }
            Act::LetGo => {
                let mut all = kyma.finalizers().to_vec();
                all.retain(|one| one != FINALIZER);
                self.finalizers(kyma, &all).await.map(Some)
            }
            Act::Begin => self.report(kyma, report::begun(kyma, now)).await,
            Act::BeginDeleting => {
                let written = self.report(kyma, report::deleting(now)).await?;
                let stuck = Scenario::of(kyma).stuck_delete;
                if !stuck && self.kubeconfigs(kyma).await?.is_empty() {
                    // Nobody can get in any more, so nothing is cleaned up.
                    let latest = written.as_ref().unwrap_or(kyma);
                    let mut all = latest.finalizers().to_vec();
                    all.retain(|one| one != FINALIZER);
                    return self.finalizers(latest, &all).await.map(Some);
                }
                Ok(written)
            }
            Act::Fail => {
                let verdict = Verdict::Error("module istio is in an error state");
                self.report(kyma, report::looked(kyma, verdict, now)).await
            }
            Act::Look => self.look(kyma).await,
        }
    }

    async fn look(&self, kyma: &DynamicObject) -> Result<Option<DynamicObject>, Error> {
        let scenario = Scenario::of(kyma);
        let missing = report::missing_channel(kyma);
        let secrets = self.kubeconfigs(kyma).await?;
        let shut = match secrets.as_slice() {
            [secret] => self.shut(secret).await,
            _ => None,
        };
        let verdict = match secrets.len() {
            0 => Verdict::Error("access secret not found"),
            1 if shut.is_some() => Verdict::Error(shut.as_deref().unwrap_or_default()),
            1 if scenario.error => Verdict::Error("module istio is in an error state"),
            1 if scenario.warning => Verdict::Warning("module istio asks for attention"),
            1 => missing.as_deref().map_or(Verdict::Ready, Verdict::Error),
            _ => Verdict::Error("more than one access secret found"),
        };
        self.report(kyma, report::looked(kyma, verdict, self.clock.now())).await
    }

    /// Why a kubeconfig does not let us in.
    async fn shut(&self, secret: &Secret) -> Option<String> {
        let visits = self.visits.as_ref()?;
        let config = secret.data.as_ref().and_then(|data| data.get("config"));
        let text = config.map(|bytes| String::from_utf8_lossy(&bytes.0)).unwrap_or_default();
        match visits.leads(&text).await {
            Leads::To(_) | Leads::Elsewhere => None,
            Leads::Nowhere(why) => Some(format!("the kubeconfig cannot be used: {why}")),
            Leads::Refused(why) => Some(format!("the kubeconfig does not open the cluster: {why}")),
        }
    }

    /// The Secrets that claim to open the runtime.
    async fn kubeconfigs(&self, kyma: &DynamicObject) -> Result<Vec<Secret>, Error> {
        let namespace = kyma.namespace().unwrap_or_default();
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &namespace);
        let with = ListParams::default().labels(&format!("{KYMA_NAME}={}", kyma.name_any()));
        Ok(secrets.list(&with).await?.items)
    }

    /// Writes a status, unless it says nothing new.
    async fn report(
        &self,
        kyma: &DynamicObject,
        status: Value,
    ) -> Result<Option<DynamicObject>, Error> {
        let old = &kyma.data["status"];
        let same = ["state", "modules", "activeChannel"]
            .iter()
            .all(|key| status[key].is_null() || status[key] == old[key]);
        if same && status["lastOperation"]["operation"] == old["lastOperation"]["operation"] {
            return Ok(None);
        }
        let change = json!({
            "metadata": {"resourceVersion": kyma.resource_version()},
            "status": status,
        });
        let patch = Patch::Merge(&change);
        self.kymas(kyma).patch_status(&kyma.name_any(), &by(), &patch).await.map(Some)
    }

    async fn finalizers(
        &self,
        kyma: &DynamicObject,
        all: &[String],
    ) -> Result<DynamicObject, Error> {
        let change = json!({"metadata": {
            "resourceVersion": kyma.resource_version(),
            "finalizers": all,
        }});
        self.kymas(kyma).patch(&kyma.name_any(), &by(), &Patch::Merge(&change)).await
    }
}

fn by() -> PatchParams {
    PatchParams { field_manager: Some(MANAGER.into()), ..PatchParams::default() }
}
