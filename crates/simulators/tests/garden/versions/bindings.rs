//! Where a version of Gardener takes credentials and issuers.

use http::Request;
use serde_json::{Value, json};
use simulators::garden::{self, Version};

use super::{answer, create, playing};

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
