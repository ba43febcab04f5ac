//! A garden behaves like the version of Gardener that it plays.

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

/// What a request is answered with: status, warnings, body.
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
async fn issuers_are_taken_where_the_version_takes_them() {
    let oidc = json!({"clientID": "c", "issuerURL": "https://issuer.example.com"});
    let (old, new) = (playing(Version::V1_65).await, playing(Version::V1_117).await);
    let with = |version: &str, server: Value| json!({"version": version, "kubeAPIServer": server});
    let inside = |version: &str| with(version, json!({"oidcConfig": oidc}));
    let named =
        |name: &str| with("1.32.4", json!({"structuredAuthentication": {"configMapName": name}}));
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "issuers", "namespace": "garden-kyma"},
        "data": {"config.yaml": "jwt: []"},
    });
    new.server().apply(garden::CLUSTER, "test", &map).unwrap();

    for (garden, kubernetes, status, text) in [
        (&old, inside("1.32.4"), 201, ""),
        (&new, inside("1.31.4"), 201, ""),
        (
            &new,
            inside("1.32.4"),
            422,
            "for Kubernetes versions >= 1.32, oidcConfig field is no longer supported",
        ),
        (&new, named("issuers"), 201, ""),
        (
            &new,
            named("nope"),
            403,
            r#"failed to resolve structured authentication config map reference: configmaps "nope" not found"#,
        ),
        (
            &new,
            with("1.29.4", json!({"structuredAuthentication": {"configMapName": "issuers"}})),
            422,
            "is available for Kubernetes versions >= v1.30",
        ),
    ] {
        let (found, _, said) = create(garden, "", kubernetes.clone()).await;

        assert_eq!(found.as_u16(), status, "{kubernetes}: {said}");
        let said = said["message"].as_str().unwrap_or_default();
        assert!(said.contains(text), "{kubernetes}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_of_shoots_has_the_fields_of_the_version() {
    let newest = "1.149".parse().unwrap();
    for (version, expected) in [
        (Version::V1_65, [true, false, true]),
        (Version::V1_117, [true, true, false]),
        (newest, [false, true, false]),
    ] {
        let garden = playing(version).await;
        let path = "/openapi/v3/apis/core.gardener.cloud/v1beta1";
        let request = Request::get(path).body(Vec::new()).unwrap();

        let (_, _, document) = answer(&garden, request).await;

        let schemas = &document["components"]["schemas"];
        let spec = &schemas["core.gardener.cloud.v1beta1.Shoot"]["properties"]["spec"];
        let server = &spec["properties"]["kubernetes"]["properties"]["kubeAPIServer"]["properties"];
        let fields = ["oidcConfig", "structuredAuthentication", "enableBasicAuthentication"];
        assert_eq!(fields.map(|field| server[field].is_object()), expected, "{version}");
    }
}
