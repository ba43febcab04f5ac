//! IAS: a provider from its making to its end.

mod company;
mod repetition;

use clients::ias::{Attribute, ProviderKind};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use url::Url;

use super::world::World;

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
