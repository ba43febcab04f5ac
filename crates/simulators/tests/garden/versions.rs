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

#[tokio::test(flavor = "multi_thread")]
async fn bindings_are_read_by_their_fields() {
    const BINDINGS: &str =
        "/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/secretbindings";
    let garden = playing(Version::V1_117).await;
    let secret = json!({"name": "aws-free-1", "namespace": "garden-kyma"});
    for (key, value, query, status, warning, text) in [
        ("foo", json!(1), "", 201, Some(r#"299 - "unknown field \"foo\"""#), ""),
        ("foo", json!(1), "&fieldValidation=Strict", 400, None, "unknown field"),
        ("quotas", json!("x"), "", 400, None, "Go struct field SecretBinding.quotas of type"),
        (
            "secretRef",
            json!({"name": "aws-free-1"}),
            "",
            403,
            None,
            "an empty namespace may not be set",
        ),
        (
            "secretRef",
            json!({"name": "aws-free-1", "namespace": ""}),
            "",
            403,
            None,
            "an empty namespace",
        ),
    ] {
        let mut binding = json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
            "metadata": {"name": "odd"}, "provider": {"type": "aws"}, "secretRef": secret,
        });
        binding[key] = value.clone();
        let request = Request::post(format!("{BINDINGS}?dryRun=All{query}"))
            .header("content-type", "application/json")
            .body(binding.to_string().into_bytes())
            .unwrap();

        let (found, warnings, said) = answer(&garden, request).await;

        assert_eq!(found.as_u16(), status, "{key}={value}: {said}");
        assert_eq!(warnings.first().map(String::as_str), warning, "{key}={value}");
        assert_eq!(said.get("foo"), None);
        assert!(said["message"].as_str().unwrap_or_default().contains(text), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_garden_names_its_gardener_at_its_version() {
    for version in [Version::V1_65, Version::V1_117] {
        let garden = playing(version).await;
        let request = Request::get("/version").body(Vec::new()).unwrap();

        let (_, _, said) = answer(&garden, request).await;

        let full = format!("v1.32.0+gardener.{}", version.release());
        assert_eq!((&said["minor"], &said["gitVersion"]), (&json!("32"), &json!(full)));
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
