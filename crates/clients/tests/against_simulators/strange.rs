//! Answers of another shape: unknown fields, missing fields, wrong types (C5), too large (C10), nobody
//! there (C3).

use std::time::Duration;

use clients::{CallLimits, Component, Gate, Http, Kind, director::Director};
use simulators::trouble::{self, Rule};

use crate::{
    garden::{Garden, shoot},
    world::{TENANT, World},
};

fn body(text: impl Into<String>) -> trouble::Kind {
    trouble::Kind::Malformed { body: Some(text.into()) }
}

#[tokio::test]
async fn a_wrong_type_is_named_by_its_field_and_what_is_unknown_or_missing_is_fine() {
    let world = World::new().await;
    let director = world.director();
    director.runtime(TENANT, "r").await.unwrap();
    let table = [
        (r#"{"data":{"result":{"id":"r","name":"n","more":{"a":[1]}}},"extensions":{}}"#, None),
        (r#"{"data":{"result":{"id":"r","name":"n","labels":null,"description":null}}}"#, None),
        (r#"{"data":{"result":{"id":"r","name":5}}}"#, Some("field name")),
        (r#"{"data":{"result":{"id":"r"}}}"#, Some("the body is not what was expected")),
        (r#"{"data":{"result":{"id":"r","name":"n","labels":"x"}}}"#, Some("field labels")),
        (r#"{"data":{}}"#, Some("field data.result")),
        (r#"{"data":null}"#, Some("there is no data in it")),
        ("[]", Some("there is no data in it")),
        ("null", Some("there is no data in it")),
    ];

    for (answer, said) in table {
        world.troubles().add(Rule::next(1, body(answer)).of("director")).unwrap();
        match (director.runtime(TENANT, "r").await, said) {
            (Ok(runtime), None) => assert_eq!(runtime.unwrap().name, "n"),
            (Err(error), Some(said)) => {
                assert_eq!((error.kind, error.said.as_deref()), (Kind::Malformed, Some(said)));
            }
            (found, _) => panic!("{answer}: {found:?}"),
        }
    }
}

#[tokio::test]
async fn a_strange_shoot_is_named_by_its_field() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    gardener.create(&shoot("c-1", "r-1")).await.unwrap();
    let table = [
        (r#"{"metadata":{"name":"c-1"},"spec":{"new":{"a":1}},"future":true}"#, None),
        (r#"{"metadata":{"name":"c-1"}}"#, None),
        (r#"{"metadata":{"name":"c-1"},"spec":{"region":5}}"#, Some("field spec.region")),
        (r#"{"metadata":{"name":5}}"#, Some("field metadata.name")),
        ("[]", Some("the body is not what was expected")),
    ];

    for (answer, said) in table {
        garden.troubles.add(Rule::next(1, body(answer)).on("GET", "/clusters/garden")).unwrap();
        match (gardener.shoot("c-1").await, said) {
            (Ok(found), None) => assert_eq!(found.unwrap().name(), "c-1"),
            (Err(error), Some(said)) => {
                assert_eq!((error.kind, error.said.as_deref()), (Kind::Malformed, Some(said)));
            }
            (found, _) => panic!("{answer}: {found:?}"),
        }
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused() {
    let world = World::new().await;
    // Slow machines need their time to send eight megabytes.
    let limits = CallLimits { body: 64 * 1024, ..CallLimits::DEFAULT };
    let director = Director::new(world.http(limits).with_token(world.tokens()));
    let large = format!(r#"{{"data":{{"result":{{"id":"{}"}}}}}}"#, "x".repeat(8 << 20));
    world.troubles().add(Rule::next(1, body(large.clone())).of("director")).unwrap();
    let tokens = world.tokens_for(clients::Grant::ClientCredentials {
        id: "machine".into(),
        secret: "secret".to_owned().into(),
        scope: String::new(),
    });

    let error = director.runtime(TENANT, "r").await.unwrap_err();

    assert_eq!(error.kind, Kind::Malformed);
    assert_eq!(error.said.as_deref(), Some("the body is too large"));
    assert!(tokens.token().await.is_ok());
    let garden = Garden::start().await;
    let limits = CallLimits { body: 64 * 1024, ..CallLimits::CLUSTER };
    let cluster = garden.cluster("garden", limits).await;
    let gardener = clients::gardener::Gardener::new(cluster, "kyma", "kcp");
    garden.troubles.add(Rule::next(1, body(large))).unwrap();
    let error = gardener.shoots("").await.unwrap_err();
    assert_eq!(error.said.as_deref(), Some("the body is too large"));
    assert!(gardener.shoots("").await.is_ok());
}

#[tokio::test]
async fn times_beyond_all_measure_are_cut_to_a_day() {
    let world = World::new().await;
    let director = world.director();
    let day = Duration::from_hours(24);
    let answer = r#"{"access_token":"t","expires_in":1e15}"#;
    world.troubles().add(Rule::next(1, body(answer)).of("issuer")).unwrap();
    world.tokens().token().await.unwrap();

    for as_date in [false, true] {
        let busy = trouble::Kind::Busy { retry_after_seconds: u64::MAX, as_date };
        world.troubles().add(Rule::next(1, busy).of("director")).unwrap();
        let error = director.runtime(TENANT, "r").await.unwrap_err();

        assert_eq!(error.kind, Kind::Throttled { retry_after: Some(day) }, "{as_date}");
    }
}

#[tokio::test]
async fn nobody_there_is_unavailable_also_for_changes() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    drop(listener);
    let gate = Gate::new(Component::DIRECTOR, CallLimits::DEFAULT, base::Clock::running());
    let director = Director::new(Http::through(gate, url).unwrap());
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    garden.server.clone().stop().await;

    let changed = director.unregister(TENANT, "r").await.unwrap_err();
    let made = gardener.create(&shoot("c-1", "r-1")).await.unwrap_err();
    let kubeconfig = gardener.admin_kubeconfig("c-1", Duration::from_hours(1)).await.unwrap_err();

    assert_eq!(changed.kind, Kind::Unavailable);
    assert_eq!(made.kind, Kind::Unavailable);
    assert_eq!(kubeconfig.kind, Kind::Unavailable);
}
