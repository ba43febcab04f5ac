//! The table of requests and of the answers that the real API servers of both versions give to them.
//!
//! A row is `request | answer of 1.65 | answer of 1.117`, the last of which is left out where both are the same. An answer
//! is a status, and with it the field that a refusal names, or a part of its text in quotes. Nothing is stored: each
//! request is a dry run.

use http::Request;
use kube::client::Body;
use serde_json::{Value, json};
use simulators::garden::Version;

use crate::support::Garden;

pub(super) const SHOOTS: &str = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots";
pub(super) const JSON: &str = "application/json";
pub(super) const MERGE: &str = "application/merge-patch+json";

/// All requests. What they are is told at its top.
const TABLE: &str = include_str!("answers.txt");

/// One row.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) request: &'static str,
    answers: [&'static str; 2],
}

/// All rows of the table.
pub(super) fn rows() -> Vec<Row> {
    let rows = TABLE.lines().filter(|row| !row.is_empty() && !row.starts_with('#'));
    rows.map(|row| {
        let mut parts = row.split(" | ");
        let request = parts.next().unwrap_or_default();
        let older = parts.next().unwrap_or_else(|| panic!("no answer in {row}"));
        Row { request, answers: [older, parts.next().unwrap_or(older)] }
    })
    .collect()
}

impl Row {
    /// What is wrong with an answer, if anything.
    pub(super) fn judge(&self, version: Version, code: u16, said: &Value) -> Option<String> {
        let expected = self.answers[usize::from(version != Version::V1_65)];
        let (status, what) = expected.split_once(' ').unwrap_or((expected, ""));
        let message = said["message"].as_str().unwrap_or_default();
        let none = Vec::new();
        let causes = said["details"]["causes"].as_array().unwrap_or(&none);
        let is_named = match serde_json::from_str::<String>(what) {
            Ok(text) => message.contains(&text),
            Err(_) if what.is_empty() => true,
            Err(_) if !causes.is_empty() => causes.iter().any(|cause| cause["field"] == what),
            Err(_) => message.contains(&format!("{what}: ")),
        };
        let fits = status.parse() == Ok(code) && is_named;
        (!fits).then(|| format!("{version} {}: {expected}, not {code} {message}", self.request))
    }
}

/// Makes the changes `path=value` and `-path` of a row, which are separated by ` & `.
pub(super) fn changed(object: &Value, changes: &str) -> Value {
    let mut object = object.clone();
    for change in changes.split(" & ") {
        let (path, value) = match change.split_once('=') {
            Some((path, value)) => {
                let value = serde_json::from_str(value);
                (path, Some(value.unwrap_or_else(|error| panic!("{change}: {error}"))))
            }
            None => (change.strip_prefix('-').unwrap_or(change), None),
        };
        set(&mut object, path, value);
    }
    object
}

/// Sets the value at a path such as `spec/provider/workers/0/name`, or takes it away.
pub(super) fn set(object: &mut Value, path: &str, value: Option<Value>) {
    let (parents, key) = path.rsplit_once('/').unwrap_or(("", path));
    let steps = parents.split('/').filter(|step| !step.is_empty());
    let parent = steps.fold(object, |here, step| match step.parse::<usize>() {
        Ok(place) => &mut here[place],
        Err(_) => &mut here[step],
    });
    match (value, key.parse::<usize>()) {
        (Some(value), Ok(place)) => parent[place] = value,
        (Some(value), Err(_)) => parent[key] = value,
        (None, _) => drop(parent.as_object_mut().unwrap().shift_remove(key)),
    }
}

/// A Shoot that breaks no rule of either version: the one that the rows change.
pub(super) fn base(name: &str) -> Value {
    let config = |kind: &str| json!({"kind": kind, "apiVersion": "aws.provider.extensions.gardener.cloud/v1alpha1"});
    let mut infrastructure = config("InfrastructureConfig");
    infrastructure["networks"] = json!({"vpc": {"cidr": "10.250.0.0/16"}, "zones": [{
        "name": "eu-central-1b", "workers": "10.250.0.0/19", "public": "10.250.32.0/20",
        "internal": "10.250.48.0/20",
    }]});
    let issuer = json!({
        "clientID": "kcp", "issuerURL": "https://issuer.example.org", "groupsClaim": "groups",
        "usernameClaim": "sub", "usernamePrefix": "-", "signingAlgs": ["RS256"],
    });
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
        "metadata": {"name": name, "namespace": "garden-kyma"},
        "spec": {
            "cloudProfileName": "aws", "region": "eu-central-1", "secretBindingName": "aws-free-1",
            "purpose": "development",
            "networking": {"type": "calico", "nodes": "10.250.0.0/16"},
            "kubernetes": {"version": "1.31.4", "kubeAPIServer": {"oidcConfig": issuer}},
            "maintenance": {"autoUpdate": {"kubernetesVersion": false, "machineImageVersion": false}},
            "extensions": [{"type": "shoot-dns-service"}, {"type": "shoot-cert-service"}],
            "provider": {
                "type": "aws",
                "controlPlaneConfig": config("ControlPlaneConfig"),
                "infrastructureConfig": infrastructure,
                "workers": [{
                    "name": "cpu-worker-0", "minimum": 3, "maximum": 20, "maxSurge": 1, "maxUnavailable": 0,
                    "machine": {"type": "m5.xlarge", "image": {"name": "gardenlinux", "version": "1877.4.0"}},
                    "volume": {"type": "gp3", "size": "50Gi"}, "zones": ["eu-central-1b"],
                }],
            },
        },
    })
}

/// Status and body of the answer to a request.
pub(super) async fn ask(
    garden: &Garden,
    method: &str,
    path: &str,
    media: &str,
    body: String,
) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path).header("content-type", media);
    let request = request.body(Body::from(body.into_bytes())).unwrap();
    let response = garden.client.send(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = response.into_body().collect_bytes().await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap())
}

/// Asks for a Shoot that is made of the base.
pub(super) async fn create(garden: &Garden, query: &str, changes: &str) -> (u16, Value) {
    let path = format!("{SHOOTS}?dryRun=All&{query}");
    ask(garden, "POST", &path, JSON, changed(&base("odd"), changes).to_string()).await
}

/// A Shoot that has its Seed and was reconciled.
pub(super) async fn settled(garden: &Garden) -> Value {
    let one = format!("{SHOOTS}/tried");
    let (made, said) = ask(garden, "POST", SHOOTS, JSON, base("tried").to_string()).await;
    assert_eq!(made, 201, "{said}");
    let seed =
        json!({"spec": {"seedName": "aws-ha-eu1"}, "metadata": {"finalizers": ["gardener"]}});
    let (bound, said) =
        ask(garden, "PATCH", &format!("{one}/binding"), MERGE, seed.to_string()).await;
    assert_eq!(bound, 200, "{said}");
    assert_eq!(said["spec"]["networking"]["pods"], "100.96.0.0/11");
    let held = json!({"metadata": {"finalizers": ["gardener"]}});
    let (held, said) = ask(garden, "PATCH", &one, MERGE, held.to_string()).await;
    assert_eq!(held, 200, "{said}");
    let last = json!({"type": "Create", "state": "Succeeded", "progress": 100});
    let status = json!({"status": {"lastOperation": last, "technicalID": "shoot--kyma--tried"}});
    ask(garden, "PATCH", &format!("{one}/status"), MERGE, status.to_string()).await.1
}

/// Sends a change of the Shoot that is there.
pub(super) async fn change(garden: &Garden, live: &Value, request: &str) -> (u16, Value) {
    let (how, body) = request.split_once(' ').unwrap();
    let (how, query) = how.split_once('?').unwrap_or((how, ""));
    let (word, part) =
        how.split_once('/').map_or((how, ""), |(word, _)| (word, &how[word.len()..]));
    let dry = if query.contains("dryRun=") { "" } else { "dryRun=All&" };
    let path = format!("{SHOOTS}/tried{part}?{dry}{query}");
    let patch = |media: &'static str| ("PATCH", media, body.to_owned());
    let (method, media, body) = match word {
        "put" => ("PUT", JSON, changed(live, body).to_string()),
        "merge" => patch(MERGE),
        "strategic" => patch("application/strategic-merge-patch+json"),
        "apply" => {
            let mut config: Value = serde_json::from_str(body).unwrap();
            config["apiVersion"] = json!("core.gardener.cloud/v1beta1");
            config["kind"] = json!("Shoot");
            config["metadata"] = json!({"name": "tried"});
            ("PATCH", "application/apply-patch+yaml", config.to_string())
        }
        _ => panic!("unknown request: {request}"),
    };
    ask(garden, method, &path, media, body).await
}
