//! Settings of a broker that show over a socket.

use std::collections::BTreeSet;

use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::json;
use server::settings;

use super::{instance, removed, start};
use crate::platform::Platform;

#[tokio::test(flavor = "multi_thread")]
async fn with_legacy_in_the_settings_orders_go_the_way_of_the_older_documents() {
    let data = tempfile::tempdir().unwrap();
    let mut settings = settings::load(None).unwrap();
    settings.runtimes.legacy = true;
    let up = start(data.path(), settings).await;
    let platform = Platform::of(&up).await;
    let path = instance("azure", None);
    let before = platform.things().await;

    let order = platform.order("azure", &json!({}));
    let asked = format!("{path}?accepts_incomplete=true");
    let (status, first) = platform.ask(Method::PUT, &asked, Some(&order)).await;
    assert_eq!(status, 202, "{first}");
    platform.succeeded(&path).await;

    let operation = first["operation"].as_str().unwrap();
    let (_, journal) =
        platform.ask(Method::GET, &format!("/operations/{operation}/journal"), None).await;
    let steps: BTreeSet<&str> =
        journal.as_array().unwrap().iter().filter_map(|e| e["step"].as_str()).collect();
    for step in [
        "Initialization",
        "AVS_Configuration_Step",
        "Create_LMS_Tenant",
        "IAS_Registration",
        "Provision Azure Event Hubs",
        "ServiceManagerOverrides",
        "Request_LMS_Certificates",
        "Create_Runtime",
    ] {
        assert!(steps.contains(step), "{step} is not in {steps:?}");
    }
    let made: Vec<_> = platform.things().await.difference(&before).cloned().collect();
    for system in ["azure", "ias", "lms", "avs", "edp", "gardener", "director"] {
        assert!(made.iter().any(|thing| thing.0 == system), "{system} has nothing new: {made:?}");
    }

    removed(&platform, "azure", &path).await;

    let after = platform.things().await;
    // Tenants for logs are kept: other runtimes of their account use them.
    let left: Vec<_> = after.difference(&before).filter(|thing| thing.0 != "lms").collect();
    assert!(left.iter().all(|thing| thing.1 == "parent"), "{left:?}");
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_requests_take_effect_and_calls_outside_are_counted() {
    let data = tempfile::tempdir().unwrap();
    let mut settings = settings::load(None).unwrap();
    settings.requests.body = 4_000.try_into().unwrap();
    settings.answers.address = Some("https://broker.example.test".into());
    settings.answers.assume_async = true;
    settings.bindings.kubeconfig_origins = vec!["https://dashboard.example.test".into()];
    let up = start(data.path(), settings).await;
    let platform = Platform::of(&up).await;
    let path = instance("aws", None);
    let large = platform.order("aws", &json!({"more": "x".repeat(4_000)}));
    assert_eq!(platform.ask(Method::PUT, &path, Some(&large)).await.0, 413);

    let (status, first) =
        platform.ask(Method::PUT, &path, Some(&platform.order("aws", &json!({})))).await;
    assert_eq!(status, 202, "nobody said accepts_incomplete: {first}");
    let labels = first["metadata"]["labels"].to_string();
    assert!(labels.contains("https://broker.example.test"), "{first}");
    platform.succeeded(&path).await;
    let id = path.rsplit('/').next().unwrap();
    for (origin, allowed) in
        [("https://dashboard.example.test", true), ("https://other.example.test", false)]
    {
        let asked = platform.http.get(format!("{}/kubeconfig/{id}", up.connection.broker));
        let asked = asked.header("origin", origin);
        let answer = asked.bearer_auth(up.connection.token.expose_secret()).send().await.unwrap();
        assert_eq!(answer.status(), 200, "the token is what counts");
        let said = answer.headers().get("access-control-allow-origin");
        assert_eq!(said.is_some_and(|said| said == origin), allowed, "{origin}");
    }

    for (base, systems) in [
        (&up.connection.broker, &["gardener", "edp", "avs", "provisioner", "issuer"][..]),
        (&up.connection.provisioner, &["gardener", "director", "issuer"][..]),
    ] {
        let asked = platform.http.get(format!("{base}/metrics"));
        let answer = asked.bearer_auth(up.connection.token.expose_secret()).send().await.unwrap();
        let text = answer.text().await.unwrap();
        for system in systems {
            let counted = format!("kcp_outside_calls_total{{system=\"{system}\"");
            assert!(text.contains(&counted), "{base}: {counted} is not in {text}");
            let timed = format!("kcp_outside_call_seconds_count{{system=\"{system}\"}}");
            assert!(text.contains(&timed), "{base}: {timed}");
        }
        assert!(text.contains("kcp_outside_call_wait_seconds_count"), "{text}");
    }
    up.stop().await;
}
