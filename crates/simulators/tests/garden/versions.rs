//! A garden behaves like the version of Gardener that it plays: fields and warnings.

mod bindings;
mod descriptions;

use base::Clock;
use http::{Request, StatusCode};
use kube::client::Body;
use serde_json::{Value, json};
use simulators::{
    garden::{self, Settings, Version},
    pace::Speed,
};

use crate::support::{Garden, shoot, whole};

const SHOOTS: &str = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots";

async fn playing(version: Version) -> Garden {
    let catalog = |catalog, settings: &Settings| {
        garden::catalog(catalog, &Settings { version, ..settings.clone() })
    };
    Garden::with(Speed::MAX, Clock::running(), catalog).await
}

/// The response to a request: status, warnings, body.
async fn answer(garden: &Garden, request: Request<Vec<u8>>) -> (StatusCode, Vec<String>, Value) {
    let response = garden.client.send(request.map(Body::from)).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.into_body().collect_bytes().await.unwrap();
    let warnings = headers.get_all("warning").iter().map(|one| one.to_str().unwrap().to_owned());
    (status, warnings.collect(), serde_json::from_slice(&bytes).unwrap())
}

/// Creates a Shoot with these fields in `spec.kubernetes` and this query.
async fn create(
    garden: &Garden,
    query: &str,
    kubernetes: Value,
) -> (StatusCode, Vec<String>, Value) {
    let mut wanted = whole(&shoot("tried"));
    for (key, value) in kubernetes.as_object().unwrap() {
        wanted["spec"]["kubernetes"][key] = value.clone();
    }
    let request = Request::post(format!("{SHOOTS}?dryRun=All{query}"))
        .header("content-type", "application/json")
        .body(wanted.to_string().into_bytes())
        .unwrap();
    answer(garden, request).await
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_the_version_does_not_have_are_dropped_with_a_warning_or_refused() {
    let unknown = json!({"version": "1.26.4", "kubeAPIServer": {
        "enableBasicAuthentication": false, "structuredAuthentication": {"configMapName": "none"}, "foo": 1,
    }});
    let server = "spec.kubernetes.kubeAPIServer";
    for (version, expected) in [
        (Version::V1_65, ["structuredAuthentication", "foo"]),
        (Version::V1_117, ["enableBasicAuthentication", "foo"]),
    ] {
        let garden = playing(version).await;
        let mut sent = unknown.clone();
        if version == Version::V1_117 {
            sent["kubeAPIServer"].as_object_mut().unwrap().remove("structuredAuthentication");
        }

        let (status, warnings, made) = create(&garden, "", sent.clone()).await;
        let (strict, _, said) = create(&garden, "&fieldValidation=Strict", sent.clone()).await;
        let (ignored, silent, _) = create(&garden, "&fieldValidation=Ignore", sent).await;

        assert_eq!(status, StatusCode::CREATED, "{made}");
        let texts = expected.map(|field| format!(r#"299 - "unknown field \"{server}.{field}\"""#));
        assert_eq!(warnings, texts, "{version}");
        assert_eq!(made["spec"]["kubernetes"]["kubeAPIServer"]["foo"], Value::Null);
        assert_eq!(strict, StatusCode::BAD_REQUEST);
        let said = said["message"].as_str().unwrap();
        let start = r#"Shoot in version "v1beta1" cannot be handled as a Shoot: strict decoding error: unknown field "#;
        assert!(said.starts_with(start), "{said}");
        assert_eq!((ignored, silent), (StatusCode::CREATED, vec![]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn older_gardeners_warn_of_static_tokens_that_are_on() {
    let garden = playing(Version::V1_65).await;
    let text = "you should consider disabling the static token kubeconfig";
    for (kubernetes, is_warned) in [
        (json!({"version": "1.24.4"}), true),
        (json!({"version": "1.31.4"}), false),
        (json!({"version": "1.31.4", "enableStaticTokenKubeconfig": true}), true),
        (json!({"version": "1.24.4", "enableStaticTokenKubeconfig": false}), false),
    ] {
        let (status, warnings, said) = create(&garden, "", kubernetes.clone()).await;

        assert_eq!(status, StatusCode::CREATED, "{said}");
        assert_eq!(warnings.len(), usize::from(is_warned), "{kubernetes}: {warnings:?}");
        assert!(warnings.iter().all(|warning| warning.contains(text)), "{warnings:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn warnings_of_fields_come_with_refusals_and_those_of_static_tokens_after_the_static_rules() {
    let garden = playing(Version::V1_117).await;
    let unknown = r#"299 - "unknown field \"spec.kubernetes.foo\"""#;
    let deprecated = "299 - \"you are setting the spec.kubernetes.enableStaticTokenKubeconfig field. The field is deprecated \
                      and will be removed in Gardener v1.120. Please adapt your machinery to no longer set this field\"";
    for (kubernetes, status, expected) in [
        (json!({"version": "nope"}), 403, vec![unknown]),
        (json!({"version": "1.31.4", "kubeProxy": {"mode": "x"}}), 422, vec![unknown]),
        (json!({"version": "1.31.4"}), 201, vec![unknown, deprecated]),
    ] {
        let mut sent = kubernetes.clone();
        sent["foo"] = json!(1);
        sent["enableStaticTokenKubeconfig"] = json!(false);

        let (found, warnings, said) = create(&garden, "", sent).await;

        assert_eq!(found.as_u16(), status, "{kubernetes}: {said}");
        assert_eq!(warnings, expected, "{kubernetes}");
        assert_eq!(said.pointer("/spec/kubernetes/enableStaticTokenKubeconfig"), None);
    }
}
