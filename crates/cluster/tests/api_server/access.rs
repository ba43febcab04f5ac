//! Tokens and certificates: who comes in, and until when.

use std::time::Duration;

use base::Clock;
use cluster::Identity;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, api::ListParams};
use serde_json::{Value, json};

use crate::support::{catalog, connect, refusal, start, start_with};

async fn looks_in(client: Client) -> u16 {
    let spaces: Api<Namespace> = Api::all(client);
    match spaces.list(&ListParams::default()).await {
        Ok(_) => 200,
        Err(error) => refusal(error).0,
    }
}

#[tokio::test]
async fn tokens_and_certificates_open_their_cluster_until_they_expire() {
    let noon = "2026-01-01T12:00:00Z".parse().unwrap();
    let running = start_with(catalog(), Clock::held_at(noon), |_| {}).await;
    let (server, who) = (&running.server, Identity::admin("me"));
    let hour = SignedDuration::from_hours(1);
    let token = server.kubeconfig_with_token("c", "c", &who, Some(hour)).unwrap();
    let certificate = server.kubeconfig_with_certificate("c", "c", &who, hour).unwrap();
    let (token, certificate) = (connect(&token).await, connect(&certificate).await);

    let before = (looks_in(token.clone()).await, looks_in(certificate.clone()).await);
    running.clock.advance(Duration::from_secs(3_601));
    let after = (looks_in(token).await, looks_in(certificate).await);
    let without_end = looks_in(running.client().await).await;

    assert_eq!(before, (200, 200));
    assert_eq!(after, (401, 401));
    assert_eq!(without_end, 200);
}

#[tokio::test]
async fn credentials_of_one_cluster_do_not_open_another_nor_a_later_one_of_the_same_name() {
    let running = start().await;
    let server = &running.server;
    server.create_cluster("d").unwrap();
    let for_d = server.kubeconfig("d", "me").unwrap();
    let certificate = server
        .kubeconfig_with_certificate(
            "d",
            "d",
            &Identity::admin("me"),
            SignedDuration::from_hours(1),
        )
        .unwrap();

    let in_c = looks_in(connect(&for_d.replace("/clusters/d", "/clusters/c")).await).await;
    let certified =
        looks_in(connect(&certificate.replace("/clusters/d", "/clusters/c")).await).await;
    let in_d = looks_in(connect(&for_d).await).await;
    server.remove_cluster("d").unwrap();
    let removed = looks_in(connect(&for_d).await).await;
    server.create_cluster("d").unwrap();
    let later = looks_in(connect(&for_d).await).await;

    assert_eq!((in_c, certified, in_d, removed, later), (401, 401, 200, 404, 401));
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_not_accepted() {
    let (ours, theirs) = (start().await, start().await);
    let hour = SignedDuration::from_hours(1);
    let who = Identity::admin("me");
    let good = ours.server.kubeconfig_with_certificate("c", "c", &who, hour).unwrap();
    let other = theirs.server.kubeconfig_with_certificate("c", "c", &who, hour).unwrap();
    let line = |file: &str, key: &str| file.lines().find(|l| l.contains(key)).unwrap().to_owned();
    let mut forged = good.clone();
    for key in ["client-certificate-data", "client-key-data"] {
        forged = forged.replace(&line(&good, key), &line(&other, key));
    }

    assert_eq!(looks_in(connect(&good).await).await, 200);
    assert_eq!(looks_in(connect(&forged).await).await, 401);
}

#[tokio::test]
async fn a_service_account_gets_a_token_that_works() {
    let running = start().await;
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "bob", "namespace": "default"},
    });
    running.server.apply("c", "test", &account).unwrap();
    let ask = http::Request::post("/api/v1/namespaces/default/serviceaccounts/bob/token")
        .header("content-type", "application/json")
        .body(serde_json::to_vec(&json!({"spec": {"expirationSeconds": 600}})).unwrap())
        .unwrap();

    let answer: Value = running.client().await.request(ask).await.unwrap();

    let own = running.server.kubeconfig("c", "me").unwrap();
    let admin = running.server.token("c", &Identity::admin("me"), None).unwrap();
    let bobs = own.replace(&admin, answer["status"]["token"].as_str().unwrap());
    assert_ne!(own, bobs);
    assert_eq!(looks_in(connect(&bobs).await).await, 200);
}
