//! Every kind of trouble on the routes of clusters, in the words of Kubernetes.

mod answers;

use cluster::Identity;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Error, api::PostParams};
use reqwest::Response;
use serde_json::{Value, json};
use simulators::{
    ledger::Phase,
    trouble::{Cut, Kind, Rule},
};

use crate::world::{PROJECT, World, code, map, namespaced};

/// Asks the garden for its `ConfigMaps` without any library in between.
async fn raw(world: &World, parameters: &str) -> reqwest::Result<Response> {
    let server = world.running.clusters().server();
    let token = server.token("garden", &Identity::admin("me"), None).unwrap();
    let authority = server.certificate_authority().as_bytes();
    let authority = reqwest::Certificate::from_pem(authority).unwrap();
    let http = reqwest::Client::builder().tls_certs_only([authority]).build().unwrap();
    let path = format!("/api/v1/namespaces/{PROJECT}/configmaps{parameters}");
    http.get(format!("{}{path}", server.url("garden"))).bearer_auth(token).send().await
}

fn gardener(kind: Kind) -> Rule {
    Rule::next(1, kind).of("gardener")
}

#[tokio::test]
async fn errors_are_statuses_and_nothing_is_applied() {
    let world = World::new().await;
    let maps = namespaced::<ConfigMap>(&world.client("garden").await, PROJECT);

    for (kind, expected, reason) in [
        (Kind::Down { refuse: false }, 503, "ServiceUnavailable"),
        (Kind::Status { status: 500, body: None }, 500, "InternalError"),
        (Kind::Status { status: 504, body: None }, 504, "Timeout"),
        (Kind::Status { status: 403, body: None }, 403, "Forbidden"),
        (Kind::Status { status: 409, body: None }, 409, "Conflict"),
        (Kind::Busy { retry_after_seconds: 7, as_date: false }, 429, "TooManyRequests"),
    ] {
        world.trouble(gardener(kind.clone()));
        let error = maps.create(&PostParams::default(), &map("a")).await.unwrap_err();
        let Error::Api(status) = error else { panic!("{kind:?} is no refusal: {error:?}") };
        assert_eq!((status.code, status.reason.as_str()), (expected, reason), "{kind:?}");
    }

    assert!(world.lines("gardener").iter().all(|line| line.phase != Phase::Applied));
    maps.create(&PostParams::default(), &map("a")).await.unwrap();
}

#[tokio::test]
async fn a_gateway_speaks_for_itself_and_says_when_to_come_back() {
    let world = World::new().await;

    world.trouble(gardener(Kind::Status { status: 502, body: None }));
    let gateway = raw(&world, "").await.unwrap();
    world.trouble(gardener(Kind::Busy { retry_after_seconds: 7, as_date: false }));
    let busy = raw(&world, "").await.unwrap();

    assert_eq!(gateway.status(), 502);
    assert!(gateway.text().await.unwrap().starts_with("<html>"));
    assert_eq!(
        (busy.status().as_u16(), busy.headers()["retry-after"].to_str().unwrap()),
        (429, "7")
    );
    assert_eq!(busy.json::<Value>().await.unwrap()["kind"], "Status");
}

#[tokio::test]
async fn cut_connections_give_no_answer_and_watches_end() {
    let world = World::new().await;
    for kind in [
        Kind::Down { refuse: true },
        Kind::Reset { when: Cut::BeforeHeaders },
        Kind::Reset { when: Cut::AfterHeaders },
        Kind::LostAnswer { status: None },
        Kind::Truncated,
    ] {
        for parameters in ["", "?watch=true&resourceVersion=0"] {
            world.trouble(gardener(kind.clone()));
            let answer = match raw(&world, parameters).await {
                Ok(answer) => answer.bytes().await.map(drop),
                Err(error) => Err(error),
            };
            assert!(answer.is_err(), "{kind:?} {parameters}");
            assert_eq!(world.lines("gardener").last().unwrap().phase, Phase::Lost);
        }
    }
    assert_eq!(raw(&world, "").await.unwrap().status(), 200);
}

#[tokio::test]
async fn trouble_keeps_to_its_cluster() {
    let world = World::new().await;
    world.runtime("fine").await;
    world.trouble(Rule::next(100, Kind::Down { refuse: false }).of("gardener"));

    for (cluster, expected) in [("garden", Err(503)), ("kcp", Ok(())), ("fine", Ok(()))] {
        let maps = namespaced::<ConfigMap>(&world.client(cluster).await, "default");
        let made = maps.create(&PostParams::default(), &map("a")).await;
        assert_eq!(made.map(drop).map_err(code), expected, "{cluster}");
    }
    let answer = world.control("GET", "/systems/gardener").send().await.unwrap();
    assert_eq!(answer.json::<Value>().await.unwrap()["health"], json!("down"));
}
