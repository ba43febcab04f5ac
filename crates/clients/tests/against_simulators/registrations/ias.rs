//! Identity authentication as a whole: a provider from its making to its end, and what can come between.

use clients::{
    Kind,
    ias::{Attribute, ProviderKind},
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use simulators::trouble;
use url::Url;

use super::world::{World, lost, on};

const GRAFANA: ProviderKind = ProviderKind::Grafana;

async fn kept(world: &World) -> Vec<Value> {
    let providers = world.objects("ias", "provider").await;
    providers.into_iter().map(|provider| provider["value"].clone()).collect()
}

fn dashboard() -> Url {
    Url::parse("https://console.c-1.example.com").unwrap()
}

#[tokio::test]
async fn a_provider_is_registered_typed_and_taken_off() {
    let world = World::new().await;
    let ias = world.place().ias();

    let credentials = ias.register(GRAFANA, "i-1").await.unwrap().unwrap();
    ias.set_type(GRAFANA, "i-1", &dashboard()).await.unwrap();

    let provider = &kept(&world).await[0];
    assert_eq!(credentials.client_id, provider["userForRest"]);
    assert_eq!(credentials.client_secret.expose_secret().len(), 32);
    assert_eq!(provider["display_name"], "SKR Grafana (instanceID: i-1)");
    assert_eq!(provider["ssoType"], "openIdConnect");
    let address = json!(["https://grafana.c-1.example.com/login/generic_oauth"]);
    assert_eq!(provider["redirect_uris"], address);
    assert_eq!(provider["name_id_attribute"], "mail");
    assert_eq!(provider["authenticatingIdp"]["name"], "kcp-people");
    assert_eq!(provider["rba_config"]["default_action"], "Deny");
    assert_eq!(provider["rba_config"]["rba_rules"][1]["group"], "skr-monitoring-viewer");
    assert_eq!(provider["clientSecrets"].as_array().unwrap().len(), 1);
    let attributes = provider["assertion_attributes"].as_array().unwrap();
    assert_eq!(attributes.len(), 4);
    assert_eq!(attributes[3]["userAttribute"], "companyGroups");

    ias.deregister(GRAFANA, "i-1").await.unwrap();
    ias.deregister(GRAFANA, "i-1").await.unwrap();
    assert_eq!(kept(&world).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_provider_without_oidc_has_no_secret() {
    let world = World::new().await;
    let ias = world.place().ias();

    assert!(ias.register(ProviderKind::Dex, "i-1").await.unwrap().is_none());
    ias.set_type(ProviderKind::Dex, "i-1", &dashboard()).await.unwrap();

    let provider = &kept(&world).await[0];
    assert_eq!(provider["acs_endpoints"][0]["location"], "https://dex.c-1.example.com/callback");
    assert_eq!(provider["clientSecrets"], json!([]));
}

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
async fn every_answer_may_be_lost_and_there_is_one_provider_with_one_secret() {
    // Company, create, company, attributes, subject, identity provider, access, secret.
    for call in 0..8 {
        let world = World::new().await;
        let ias = world.place().ias();
        if call > 0 {
            world.trouble("ias", call, trouble::Kind::Slow { delay_ms: 0 });
        }
        world.trouble("ias", 1, lost());

        let error = ias.register(GRAFANA, "i-1").await.unwrap_err();
        let reads = call == 0 || call == 2;
        assert_eq!(error.kind, if reads { Kind::Unavailable } else { Kind::AnswerLost });
        ias.register(GRAFANA, "i-1").await.unwrap();

        let providers = kept(&world).await;
        assert_eq!(providers.len(), 1, "call {call}");
        assert_eq!(providers[0]["clientSecrets"].as_array().unwrap().len(), 1, "call {call}");
    }
}

#[tokio::test]
async fn a_provider_that_is_not_visible_yet_is_waited_for_and_not_made_twice() {
    let world = World::new().await;
    world.order("ias", "hide-new-providers", json!({ "readings": 2 })).await;
    let ias = world.place().ias();

    let first = ias.register(GRAFANA, "i-1").await.unwrap_err();
    assert_eq!(
        (first.kind, first.said.as_deref()),
        (Kind::Unavailable, Some("it is not visible yet"))
    );
    ias.register(GRAFANA, "i-1").await.unwrap();

    assert_eq!(kept(&world).await.len(), 1);
}

#[tokio::test]
async fn of_twins_the_first_is_taken() {
    let world = World::new().await;
    world.order("ias", "allow-twins", on()).await;
    world.trouble_on("POST", "/ias/service/sps", trouble::Kind::Duplicate);
    let ias = world.place().ias();

    ias.register(GRAFANA, "i-1").await.unwrap();

    let twins = kept(&world).await;
    assert_eq!(twins.len(), 2);
    assert_eq!(twins[0]["name_id_attribute"], "mail");
    assert_eq!(twins[1]["name_id_attribute"], "uid");
}

#[tokio::test]
async fn attributes_that_somebody_mapped_stay_and_foreign_ones_go() {
    let world = World::new().await;
    let ias = world.place().ias();
    ias.create_provider("SKR Grafana (instanceID: i-1)").await.unwrap();
    let id = ias.company().await.unwrap().service_providers[0].id.clone();
    let attribute =
        |assertion: &str, user: &str| Attribute { assertion: assertion.into(), user: user.into() };
    let before = [attribute("email", "otherMail"), attribute("shoe_size", "size")];
    ias.set_attributes(&id, &before).await.unwrap();

    ias.register(GRAFANA, "i-1").await.unwrap();

    let company = ias.company().await.unwrap();
    let after: Vec<_> = company.service_providers[0]
        .attributes
        .iter()
        .map(|one| (one.assertion.as_str(), one.user.as_str()))
        .collect();
    let expected = [
        ("first_name", "firstName"),
        ("last_name", "lastName"),
        ("email", "otherMail"),
        ("groups", "companyGroups"),
    ];
    assert_eq!(after, expected);
}

#[tokio::test]
async fn half_a_configuration_is_finished_by_the_next_run() {
    let world = World::new().await;
    world.order("ias", "fail-access", json!({ "calls": 1 })).await;
    let ias = world.place().ias();

    assert_eq!(ias.register(GRAFANA, "i-1").await.unwrap_err().kind, Kind::Unavailable);
    ias.register(GRAFANA, "i-1").await.unwrap();

    assert_eq!(kept(&world).await[0]["rba_config"]["default_action"], "Deny");
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
    let small = super::test_systems::TestSystems { limits, ..place };
    assert_eq!(small.ias().company().await.unwrap_err().kind, Kind::Malformed);
}
