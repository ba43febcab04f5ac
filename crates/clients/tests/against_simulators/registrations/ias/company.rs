//! The company in IAS, which is read before a provider is made.

use clients::Kind;
use serde_json::{Value, json};
use url::Url;

use super::{super::world::World, GRAFANA, dashboard, kept};

#[tokio::test]
async fn the_company_is_read_once_and_once_more_only_for_a_new_provider() {
    let world = World::new().await;
    let ias = world.place().ias();
    let reads =
        |world: &World| world.received("ias").iter().filter(|line| line.starts_with("GET")).count();

    ias.register(GRAFANA, "i-1").await.unwrap();
    assert_eq!(reads(&world), 2);
    ias.register(GRAFANA, "i-1").await.unwrap();
    assert_eq!(reads(&world), 3);

    assert_eq!(kept(&world).await.len(), 1);
    assert_eq!(kept(&world).await[0]["clientSecrets"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_identity_provider_that_is_not_there_stops_before_anything_is_made() {
    let world = World::new().await;
    let settings = clients::ias::Settings {
        url: Url::parse(&format!("{}/ias", world.running.url)).unwrap(),
        user: "kcp-ias".into(),
        secret: "kcp-ias-secret".to_owned().into(),
        identity_provider: "nobody".into(),
    };
    let gate =
        clients::Gate::new(clients::ias::COMPONENT, clients::ias::LIMITS, world.clock.clone());
    let ias = clients::ias::Ias::new(settings, gate).unwrap();

    let error = ias.register(GRAFANA, "i-1").await.unwrap_err();

    assert_eq!(error.kind, Kind::NotFound);
    assert_eq!(kept(&world).await, Vec::<Value>::new());
    let missing = ias.set_type(GRAFANA, "i-1", &dashboard()).await.unwrap_err();
    assert_eq!(missing.kind, Kind::NotFound);
}

#[tokio::test]
async fn a_large_company_is_read_and_an_endless_one_is_not() {
    let world = World::new().await;
    let place = world.place();
    world.order("ias", "add-others", json!({ "number": 10_000 })).await;

    assert_eq!(place.ias().company().await.unwrap().service_providers.len(), 10_000);

    let limits = clients::CallLimits { body: 100_000, ..place.limits };
    let small = super::super::test_systems::TestSystems { limits, ..place };
    assert_eq!(small.ias().company().await.unwrap_err().kind, Kind::Malformed);
}
