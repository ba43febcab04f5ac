//! Azure's pages, links, tokens and zones.

use std::time::Duration;

use axum::{Json, response::IntoResponse};
use clients::{Component, Kind};
use serde_json::json;
use simulators::trouble::Kind as Trouble;

use super::{super::support::answering, add_group, world};

#[tokio::test]
async fn a_token_that_ends_is_renewed_and_a_wrong_secret_is_not() {
    let (world, azure) = world().await;
    azure.check().await.unwrap();
    world.order("azure", "expire-tokens", json!({})).await;
    world.clock.advance(Duration::from_secs(1));

    assert_eq!(azure.groups().await.unwrap().len(), 0);

    let tokens = world.calls("azure").iter().filter(|path| path.ends_with("token")).count();
    assert_eq!(tokens, 2);
    let error = world.azure("wrong").groups().await.unwrap_err();
    assert_eq!((error.component, error.kind), (Component::ISSUER, Kind::Unauthorized));
    assert_eq!(error.reason.as_deref(), Some("invalid_client"));
}

#[tokio::test]
async fn all_pages_are_read() {
    let (world, azure) = world().await;
    world.order("azure", "set-page-size", json!({"size": 2})).await;
    for number in 0..5 {
        add_group(&world, &format!("g{number}"), "same").await;
    }

    assert_eq!(azure.groups().await.unwrap().len(), 5);
    assert_eq!(azure.groups_tagged("InstanceID", "same").await.unwrap().len(), 5);
    assert_eq!(azure.zones("westeurope", "Standard_D64s_v5").await.unwrap(), ["1", "2", "3"]);
}

#[tokio::test]
async fn a_link_that_leads_elsewhere_does_not_get_our_token() {
    let (thief, stolen) = answering(|_, _| Json(json!({"value": []})).into_response()).await;
    let (world, azure) = world().await;
    let own = world.url("/azure/subscriptions/sub-1/resourcegroups?api-version=2019-05-01&round=1");
    let page = |link: &str| json!({"value": [], "nextLink": link}).to_string();

    let theirs = thief.join("/azure/subscriptions/sub-1/resourcegroups?api-version=2019-05-01");

    for link in [theirs.unwrap().as_str(), "/other/path", "http://["] {
        world.trouble("azure", "GET", 1, Trouble::Malformed { body: Some(page(link)) });
        assert_eq!(azure.groups().await.unwrap_err().kind, Kind::Malformed, "{link}");
    }
    world.trouble("azure", "GET", 9, Trouble::Malformed { body: Some(page(own.as_str())) });
    assert_eq!(azure.groups().await.unwrap_err().kind, Kind::Malformed);

    assert_eq!(stolen.len(), 0);
}

#[tokio::test]
async fn zones_without_a_machine_are_left_out() {
    let (world, azure) = world().await;
    let machine = "Standard_X";
    let set = async |zones: &[&str], restricted: &[&str], bare: bool| {
        let with = json!({
            "location": "westeurope", "machine": machine, "zones": zones,
            "restricted": restricted, "bare": bare,
        });
        world.order("azure", "set-sku", with).await;
        azure.zones("westeurope", machine).await.unwrap()
    };

    assert_eq!(set(&["3", "1"], &[], false).await, ["1", "3"]);
    assert_eq!(set(&["1", "2"], &["2"], false).await, ["1"]);
    assert!(set(&["1", "2"], &["1", "2"], false).await.is_empty());
    assert!(set(&[], &[], true).await.is_empty());
    assert!(azure.zones("westeurope", "Premium_LRS").await.unwrap().is_empty());
}
