//! Makes a move: what is done to the cluster behind a Shoot, then what is written about it.
//!
//! In this order, because what is written is not done again. A crash in between repeats the doing,
//! which changes nothing the second time.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_STANDARD as STANDARD};
use k8s_openapi::{
    ByteString, api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    config::Kubeconfig,
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::{
    super::{
        CONFIRMATION, OPERATION, TASKS,
        conditions::Health,
        flow, info, nodes,
        scenario::Trouble,
        shoot::{FINALIZER, Operation, STATUS_LABEL, Shoot},
    },
    Shared,
    decide::{Act, has_done, verdict},
    report::{Reporter, written},
    schedule,
};

/// Who writes, in the managed fields.
const MANAGER: &str = "gardenlet";

/// The Shoot as it was written, or nothing if there was nothing to write.
type WriteResult = Result<Option<DynamicObject>, kube::Error>;

impl Shared {
    pub(super) async fn perform(&self, object: &DynamicObject, act: &Act) -> WriteResult {
        let (shoot, reporter) = (Shoot(object), self.reporter());
        match act {
            Act::Schedule => self.schedule(object).await,
            Act::Unschedulable => {
                let why = schedule::nothing(0);
                self.report(object, &reporter.unschedulable(&why)).await
            }
            Act::Adopt => {
                self.change(object, json!({"metadata": {"finalizers": ours(object)}})).await
            }
            Act::Begin(operation) => self.begin(object, *operation).await,
            Act::Advance(operation, percent, description) => {
                self.advance(object, *operation, *percent, description).await
            }
            Act::Fail(operation, trouble, state) => {
                let why = why(&trouble.code);
                self.report(object, &reporter.failure(*operation, trouble, *state, &why)).await
            }
            Act::Domain => {
                let domain = self.settings.domain_of(shoot.name());
                self.change(object, json!({"spec": {"dns": {"domain": domain}}})).await
            }
            Act::Announce => {
                self.hand_out_kubeconfig(object).await?;
                let status = json!({"advertisedAddresses": reporter.addresses(shoot)});
                self.report(object, &status).await
            }
            Act::Care(health) => self.care(object, *health).await,
            Act::Label(word) => {
                let mut patch = json!({"metadata": {"labels": {STATUS_LABEL: word}}});
                if has_done(shoot) {
                    patch["metadata"]["annotations"] = json!({TASKS: null});
                }
                self.change(object, patch).await
            }
            Act::Disappear => self.disappear(object).await,
            Act::LetGo => {
                let rest = object.finalizers().iter().filter(|one| *one != FINALIZER);
                let rest: Vec<&String> = rest.collect();
                self.change(object, json!({"metadata": {"finalizers": rest}})).await
            }
        }
    }

    fn reporter(&self) -> Reporter<'_> {
        let now = written(self.clock.now());
        Reporter { settings: &self.settings, at_once: self.at_once(), now }
    }

    async fn schedule(&self, object: &DynamicObject) -> WriteResult {
        let shoot = Shoot(object);
        let seeds = self.seeds.list(&ListParams::default()).await?.items;
        let seed = match schedule::choose(shoot, &seeds) {
            Ok(seed) => seed,
            Err(_) if shoot.last().is_some() => return Ok(None),
            Err(why) => {
                return self.report(object, &self.reporter().unschedulable(&why)).await;
            }
        };
        let mut patch = json!({"spec": {"seedName": seed}});
        if shoot.text("/spec/dns/domain").is_none() && !shoot.scenario().domain_late {
            patch["spec"]["dns"]["domain"] = json!(self.settings.domain_of(shoot.name()));
        }
        if self.at_once() {
            patch["metadata"] = json!({"finalizers": ours(object)});
        }
        self.change(object, patch).await
    }

    async fn begin(&self, object: &DynamicObject, operation: Operation) -> WriteResult {
        let status = self.reporter().beginning(Shoot(object), operation);
        let begun = self.report(object, &status).await?;
        // Only where nobody else has taken it away already.
        match &begun {
            Some(begun) if Shoot(begun).annotation(OPERATION).is_some() => {
                self.change(begun, json!({"metadata": {"annotations": {OPERATION: null}}})).await
            }
            _ => Ok(begun),
        }
    }

    async fn advance(
        &self,
        object: &DynamicObject,
        operation: Operation,
        percent: i64,
        description: &str,
    ) -> WriteResult {
        let shoot = Shoot(object);
        let done = match operation {
            Operation::Delete => self.take_down(object, percent).await?,
            Operation::Create | Operation::Reconcile => self.build_up(object, percent).await?,
        };
        let announce = match done {
            Ok(announce) => announce,
            Err(why) => {
                let trouble = Trouble { code: String::new(), at: percent.min(99) };
                let state = verdict(shoot, "", self.view());
                let status = self.reporter().failure(operation, &trouble, state, &why);
                return self.report(object, &status).await;
            }
        };
        let status = self.reporter().progress(shoot, operation, percent, description, announce);
        self.report(object, &status).await
    }

    /// Makes the cluster as far as `percent` goes; says whether it may be announced now.
    async fn build_up(
        &self,
        object: &DynamicObject,
        percent: i64,
    ) -> Result<Result<bool, String>, kube::Error> {
        let shoot = Shoot(object);
        let name = shoot.name().to_owned();
        let due = percent >= flow::ADDRESSES && shoot.text("/spec/dns/domain").is_some();
        if due && !shoot.has_addresses() {
            let runtimes = self.runtimes.clone();
            let name = name.clone();
            let made = tokio::task::spawn_blocking(move || runtimes.create(&name)).await;
            if let Err(why) = made.unwrap_or_else(|error| Err(error.to_string())) {
                return Ok(Err(format!("task \"Deploying Kubernetes API server\" failed: {why}.")));
            }
        }
        if due && (percent >= flow::REACHABLE || !shoot.has_addresses()) {
            let info = info::of(shoot, &self.settings.project);
            let (runtimes, name) = (self.runtimes.clone(), name.clone());
            let set = tokio::task::spawn_blocking(move || runtimes.set_info(&name, &info)).await;
            if let Err(why) = set.unwrap_or_else(|error| Err(error.to_string())) {
                return Ok(Err(format!("task \"Deploying Kubernetes API server\" failed: {why}.")));
            }
        }
        if percent >= flow::REACHABLE && !shoot.wants_sleep() {
            let nodes = nodes::of(shoot, &self.settings.project);
            let (runtimes, name) = (self.runtimes.clone(), name.clone());
            let set = tokio::task::spawn_blocking(move || runtimes.set_nodes(&name, &nodes)).await;
            if let Err(why) = set.unwrap_or_else(|error| Err(error.to_string())) {
                return Ok(Err(format!(
                    "task \"Waiting until shoot workers are ready\" failed: {why}."
                )));
            }
        }
        let late = shoot.scenario().kubeconfig_late;
        if percent >= flow::REACHABLE {
            if shoot.wants_sleep() != shoot.sleeps() {
                self.runtimes.set_reachable(&name, !shoot.wants_sleep());
            }
            if !late {
                self.hand_out_kubeconfig(object).await?;
            }
        }
        Ok(Ok(due && !shoot.has_addresses() && !late))
    }

    /// Takes the cluster away as far as `percent` goes.
    async fn take_down(
        &self,
        object: &DynamicObject,
        percent: i64,
    ) -> Result<Result<bool, String>, kube::Error> {
        if percent < flow::REMOVED {
            return Ok(Ok(false));
        }
        if let Err(why) = self.remove(object).await? {
            return Ok(Err(format!("task \"Destroying Kubernetes API server\" failed: {why}.")));
        }
        Ok(Ok(false))
    }

    async fn remove(&self, object: &DynamicObject) -> Result<Result<(), String>, kube::Error> {
        let (runtimes, name) = (self.runtimes.clone(), object.name_any());
        let removed = tokio::task::spawn_blocking(move || runtimes.remove(&name)).await;
        if let Err(why) = removed.unwrap_or_else(|error| Err(error.to_string())) {
            return Ok(Err(why));
        }
        if Shoot(object).flag(STATIC) {
            let secret = secret_name(object);
            match self.secrets.delete(&secret, &DeleteParams::default()).await {
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                other => drop(other?),
            }
        }
        Ok(Ok(()))
    }

    /// The Secret with a kubeconfig that does not expire, for clients that still need one.
    async fn hand_out_kubeconfig(&self, object: &DynamicObject) -> Result<(), kube::Error> {
        if !Shoot(object).flag(STATIC) {
            return Ok(());
        }
        let Some(kubeconfig) = self.runtimes.kubeconfig(&object.name_any()) else { return Ok(()) };
        let secret = Secret {
            metadata: ObjectMeta { name: Some(secret_name(object)), ..ObjectMeta::default() },
            data: Some(static_access(kubeconfig)),
            type_: Some("Opaque".to_owned()),
            ..Secret::default()
        };
        match self.secrets.create(&PostParams::default(), &secret).await {
            Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => Ok(()),
            other => other.map(drop),
        }
    }

    async fn care(&self, object: &DynamicObject, health: Health) -> WriteResult {
        self.report(object, &self.reporter().health(Shoot(object), health)).await
    }

    async fn disappear(&self, object: &DynamicObject) -> WriteResult {
        let metadata = json!({"annotations": {CONFIRMATION: "true"}, "finalizers": []});
        self.change(object, json!({"metadata": metadata})).await?;
        self.shoots.delete(&object.name_any(), &DeleteParams::default()).await?;
        // Nobody is left who could be notified of a failure.
        let _ = self.remove(object).await?;
        Ok(None)
    }

    async fn report(&self, object: &DynamicObject, status: &Value) -> WriteResult {
        let patch = Patch::Merge(json!({"metadata": version(object), "status": status}));
        let _turn = self.turns.acquire().await;
        let by = PatchParams::apply(MANAGER);
        self.shoots.patch_status(&object.name_any(), &by, &patch).await.map(Some)
    }

    async fn change(&self, object: &DynamicObject, mut patch: Value) -> WriteResult {
        for (key, value) in version(object).as_object().into_iter().flatten() {
            patch["metadata"][key] = value.clone();
        }
        let _turn = self.turns.acquire().await;
        let by = PatchParams::apply(MANAGER);
        self.shoots.patch(&object.name_any(), &by, &Patch::Merge(patch)).await.map(Some)
    }
}

/// Where a Shoot asks for a kubeconfig that does not expire.
const STATIC: &str = "/spec/kubernetes/enableStaticTokenKubeconfig";

/// What the Secret of a static kubeconfig holds: the file, and what is in it once more by itself.
fn static_access(kubeconfig: String) -> BTreeMap<String, ByteString> {
    let read = Kubeconfig::from_yaml(&kubeconfig).unwrap_or_default();
    let cluster = read.clusters.into_iter().next().and_then(|one| one.cluster);
    let authority = cluster.and_then(|cluster| cluster.certificate_authority_data);
    let authority = authority.and_then(|text| STANDARD.decode(text).ok());
    let user = read.auth_infos.into_iter().next().and_then(|one| one.auth_info);
    let token = user.and_then(|user| user.token).map(|token| token.expose_secret().to_owned());
    let parts = [
        ("kubeconfig", Some(kubeconfig.into_bytes())),
        ("ca.crt", authority),
        ("token", token.map(String::into_bytes)),
    ];
    let parts = parts.into_iter().filter_map(|(key, value)| Some((key, value?)));
    parts.map(|(key, value)| (key.to_owned(), ByteString(value))).collect()
}

fn secret_name(object: &DynamicObject) -> String {
    format!("{}.kubeconfig", object.name_any())
}

/// What the object must still be for the write to land.
fn version(object: &DynamicObject) -> Value {
    json!({"resourceVersion": object.metadata.resource_version, "uid": object.metadata.uid})
}

fn ours(object: &DynamicObject) -> Vec<String> {
    let mut finalizers = object.finalizers().to_vec();
    if !Shoot(object).is_ours() {
        finalizers.push(FINALIZER.to_owned());
    }
    finalizers
}

fn why(code: &str) -> String {
    let what = match code {
        "ERR_INFRA_UNAUTHENTICATED" => "the credentials are not valid",
        "ERR_INFRA_UNAUTHORIZED" => "the credentials do not have the required rights",
        "ERR_INFRA_QUOTA_EXCEEDED" => "quota exceeded",
        "ERR_INFRA_RATE_LIMITS_EXCEEDED" => "request throttled",
        "ERR_INFRA_RESOURCES_DEPLETED" => "there is no capacity left in the zone",
        "ERR_CLEANUP_CLUSTER_RESOURCES" => "kubernetes resources still have finalizers",
        _ => "the cloud provider refused the request",
    };
    format!("task \"Waiting until shoot infrastructure has been reconciled\" failed: {what}.")
}
