//! Changes of a Shoot that is there, has its Seed and was reconciled: each is tried without being stored.

use http::Request;
use kube::client::Body;
use serde_json::{Value, json};
use simulators::{garden::Version, pace::Speed};

use super::{Answer, set};
use crate::support::{Garden, shoot, whole};

const SHOOTS: &str = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots";
const DONE: Answer = (200, "");

/// How a Shoot is changed.
#[derive(Debug, Clone)]
enum Change {
    /// Read, changed at a path, and written as a whole; null takes the field away.
    Put(&'static str, Value),
    /// A merge patch of the object or of a part of it, with a query.
    Merge(&'static str, &'static str, Value),
    /// A strategic merge patch.
    Strategic(Value),
    /// A configuration that is applied by a manager of its own, to the object or to a part of it.
    Apply(&'static str, Value),
    /// A merge patch as text, which is read strictly.
    Text(&'static str),
}

use Change::{Apply, Merge, Put, Strategic, Text};

type Case = (Change, Answer, Answer);

fn both(change: Change, answer: Answer) -> Case {
    (change, answer, answer)
}

fn annotated(key: &str, value: &str) -> Change {
    Merge("", "", json!({"metadata": {"annotations": {key: value}}}))
}

fn replacements() -> Vec<Case> {
    let by_binding = "please use the shoots/binding subresource";
    vec![
        both(Put("/spec/purpose", json!("testing")), DONE),
        both(Put("/spec/region", json!("us-east-1")), (403, "workers[0].zones[0]: Unsupported")),
        both(Put("/spec/provider/type", json!("gcp")), (403, "referenced CloudProfile: \"aws\"")),
        both(Put("/spec/provider/type", Value::Null), (403, "spec.provider.type: Invalid value")),
        (Put("/spec/cloudProfileName", json!("nope")), (403, "\"nope\" not found"), DONE),
        (Put("/spec/cloudProfileName", Value::Null), (403, "\"\" not found"), DONE),
        both(Put("/spec/secretBindingName", json!("gcp-free-1")), (403, "SecretBinding: \"gcp\"")),
        both(Put("/spec/secretBindingName", Value::Null), (403, "\"\" not found")),
        both(Put("/spec/seedName", json!("aws-ha-us1")), (403, by_binding)),
        (
            Put("/spec/seedName", Value::Null),
            (403, by_binding),
            (403, "spec.seedName is already set to 'aws-ha-eu1' and cannot be changed to 'nil'"),
        ),
        both(
            Put("/spec/exposureClassName", json!("converged-cloud-internet")),
            (422, "spec.exposureClassName: Invalid value"),
        ),
        (
            Put("/spec/schedulerName", json!("foo")),
            DONE,
            (422, "spec.schedulerName: Invalid value: \"foo\": field is immutable"),
        ),
        (
            Put("/spec/kubernetes/version", json!("")),
            (403, "spec.kubernetes.version: Unsupported value: \"\""),
            (422, "kubernetes version upgrade cannot skip a minor version"),
        ),
        (
            Put("/spec/kubernetes/enableStaticTokenKubeconfig", json!(true)),
            DONE,
            (422, "enableStaticTokenKubeconfig: Invalid value"),
        ),
        (
            Put("/spec/provider/workers/0/minimum", json!(0)),
            (422, "spec.provider.workers: Forbidden: at least one worker pool"),
            DONE,
        ),
        (
            Put("/spec/provider/workers/0/maximum", json!(501)),
            DONE,
            (403, "workers[0].maximum: Forbidden"),
        ),
        both(
            Put("/spec/provider/workers/0/machine/image/name", json!("suse-chost")),
            (403, "spec.provider.workers[0]"),
        ),
        both(Put("/metadata/finalizers", json!([])), (403, "finalizer \"gardener\" cannot be")),
        both(Put("/metadata/finalizers", Value::Null), (403, "finalizer \"gardener\" cannot be")),
        both(Put("/spec/networking/ipFamilies", json!(["IPv6"])), (422, "spec.networking.")),
        both(
            Put("/spec/addons", json!({"nginxIngress": {"enabled": true}})),
            (422, "addons can only be enabled on shoots with .spec.purpose=evaluation"),
        ),
    ]
}

fn patches() -> Vec<Case> {
    let key = "gardener.cloud/operation";
    let window = "maintenance.gardener.cloud/operation";
    let worker = |worker: Value| json!({"spec": {"provider": {"workers": [worker]}}});
    let status = |status: Value| json!({ "status": status });
    vec![
        both(annotated(key, "rotate-ca-complete"), (422, "certificateAuthorities.phase is not")),
        both(annotated(key, "rotate-credentials-complete"), (422, "rotation of all credentials")),
        both(annotated(key, "foo"), (422, "Unsupported value: \"foo\"")),
        both(annotated(key, "Reconcile"), (422, "Unsupported value: \"Reconcile\"")),
        (
            annotated(key, "rotate-kubeconfig-credentials"),
            DONE,
            (422, "Unsupported value: \"rotate-kubeconfig-credentials\""),
        ),
        both(annotated(window, "foo"), (422, "Unsupported value: \"foo\"")),
        both(annotated(window, "retry"), (422, "Unsupported value: \"retry\"")),
        both(
            Merge("", "", worker(json!({"name": "cpu-worker-0"}))),
            (403, "spec.provider.workers[0].machine.type"),
        ),
        both(Strategic(json!({"spec": {"purpose": "testing"}})), DONE),
        both(Strategic(worker(json!({"name": "cpu-worker-0", "maximum": 9}))), DONE),
        both(Apply("", worker(json!({"name": "cpu-worker-0", "maximum": 9}))), DONE),
        both(
            Apply("", json!({"spec": {"foo": 1}})),
            (500, "Kind=Shoot): .spec.foo: field not declared in schema"),
        ),
        both(
            Apply("", worker(json!({"name": "cpu-worker-0", "foo": 1}))),
            (500, "field not declared in schema"),
        ),
        both(
            Apply("/status", status(json!({"technicalID": "x"}))),
            (422, "status.technicalID: Invalid value: \"x\": field is immutable"),
        ),
        both(
            Text(r#"{"spec": {"purpose": "testing", "purpose": "evaluation"}}"#),
            (422, "strict decoding error: duplicate field \"spec.purpose\""),
        ),
        both(
            Merge("", "&fieldValidation=Strict", json!({"spec": {"foo": 1}})),
            (422, "\"\" is invalid: patch: Invalid value"),
        ),
        both(
            Merge("", "", json!({"spec": {"purpose": 5}})),
            (422, "\"\" is invalid: patch: Invalid value"),
        ),
        both(
            Merge("", "&force=true", json!({"spec": {"purpose": "testing"}})),
            (422, "force: Forbidden: may not be specified for non-apply patch"),
        ),
        both(Merge("", "&dryRun=Foo", json!({})), (422, "dryRun: Unsupported value")),
        both(
            Merge(
                "",
                "&fieldManager=mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm\
                 mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm",
                json!({}),
            ),
            (422, "fieldManager: Too long"),
        ),
        both(
            Merge("/status", "", status(json!({"technicalID": "x"}))),
            (422, "status.technicalID: Invalid value: \"x\": field is immutable"),
        ),
        both(
            Merge("/status", "", status(json!({"lastOperation": {"progress": "much"}}))),
            (422, "\"\" is invalid: patch: Invalid value"),
        ),
        both(
            Merge("/binding", "", json!({"spec": {"seedName": "aws-ha-us1"}})),
            (403, "cannot change seed name because backup is not configured for old seed"),
        ),
    ]
}

/// Status and body of the answer to a request.
async fn ask(garden: &Garden, method: &str, path: &str, media: &str, body: &Value) -> (u16, Value) {
    send(garden, method, path, media, body.to_string()).await
}

async fn send(
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

const MERGE: &str = "application/merge-patch+json";

/// A Shoot that has its Seed and was reconciled.
async fn settled(garden: &Garden) -> Value {
    let mut wanted = shoot("tried");
    wanted.data["spec"]["purpose"] = json!("development");
    wanted.metadata.finalizers = Some(vec!["gardener".to_owned()]);
    garden.create(&wanted).await;
    let seed = json!({"spec": {"seedName": "aws-ha-eu1"}});
    let (bound, said) =
        ask(garden, "PATCH", &format!("{SHOOTS}/tried/binding"), MERGE, &seed).await;
    assert_eq!(bound, 200, "{said}");
    assert_eq!(said["spec"]["networking"]["pods"], "100.96.0.0/11");
    let last = json!({"type": "Create", "state": "Succeeded", "progress": 100});
    let status = json!({"status": {"lastOperation": last, "technicalID": "shoot--kyma--tried"}});
    ask(garden, "PATCH", &format!("{SHOOTS}/tried/status"), MERGE, &status).await.1
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_that_break_a_rule_get_the_answer_of_the_version() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let live = settled(&garden).await;
        let mut wrong = Vec::new();
        for (change, older, newer) in [replacements(), patches()].concat() {
            let expected = if version == Version::V1_65 { older } else { newer };
            let one = format!("{SHOOTS}/tried");
            let (code, said) = match &change {
                Put(path, value) => {
                    let mut next = live.clone();
                    set(&mut next, path, value);
                    ask(&garden, "PUT", &format!("{one}?dryRun=All"), "application/json", &next)
                        .await
                }
                Merge(part, query, patch) => {
                    let dry = if query.contains("dryRun") { "" } else { "dryRun=All" };
                    let path = format!("{one}{part}?{dry}{query}");
                    ask(&garden, "PATCH", &path, MERGE, patch).await
                }
                Apply(part, config) => {
                    let mut config = config.clone();
                    config["apiVersion"] = json!("core.gardener.cloud/v1beta1");
                    config["kind"] = json!("Shoot");
                    config["metadata"] = json!({"name": "tried"});
                    let path = format!("{one}{part}?dryRun=All&fieldManager=other&force=true");
                    ask(&garden, "PATCH", &path, "application/apply-patch+yaml", &config).await
                }
                Text(patch) => {
                    let path = format!("{one}?dryRun=All&fieldValidation=Strict");
                    send(&garden, "PATCH", &path, MERGE, (*patch).to_owned()).await
                }
                Strategic(patch) => {
                    let media = "application/strategic-merge-patch+json";
                    ask(&garden, "PATCH", &format!("{one}?dryRun=All"), media, patch).await
                }
            };
            let message = said["message"].as_str().unwrap_or_default();
            if code != expected.0 || !message.contains(expected.1) {
                wrong.push(format!("{version} {change:?}: {expected:?}, not {code} {message}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn generations_count_bytes_of_the_provider_and_values_are_written_as_go_does() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let mut wanted = shoot("normal");
    wanted.data["spec"]["kubernetes"]["kubeAPIServer"] = json!({"eventTTL": "1h"});
    wanted.data["spec"]["extensions"] = json!([]);
    wanted.data["spec"]["provider"]["workers"][0]["labels"] = json!({});

    let made = garden.create(&wanted).await;

    let spec = &made.data["spec"];
    assert_eq!(spec["kubernetes"]["kubeAPIServer"]["eventTTL"], "1h0m0s");
    assert_eq!(spec.get("extensions"), None);
    assert_eq!(spec["provider"]["workers"][0].get("labels"), None);
    let mut next = whole(&made);
    let config = &mut next["spec"]["provider"]["controlPlaneConfig"];
    let entries: Vec<_> = config.as_object().unwrap().clone().into_iter().rev().collect();
    *config = Value::Object(entries.into_iter().collect());
    let path = format!("{SHOOTS}/normal");
    let (code, reordered) = ask(&garden, "PUT", &path, "application/json", &next).await;
    let (_, same) = ask(&garden, "PUT", &path, "application/json", &reordered).await;
    assert_eq!(code, 200, "{reordered}");
    assert_eq!(
        (&reordered["metadata"]["generation"], &same["metadata"]["generation"]),
        (&json!(2), &json!(2))
    );
}
