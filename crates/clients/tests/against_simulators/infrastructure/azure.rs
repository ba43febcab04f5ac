//! Azure: golden requests, and what the tests about Azure share.

mod groups;
mod namespaces;
mod reading;

use std::collections::BTreeMap;

use axum::{Json, response::IntoResponse};
use clients::{CallLimits, Kind, azure::Azure};
use serde_json::json;

use super::{
    support::{answering, noon},
    world::{SUBSCRIPTION, World, azure},
};

const SECRET: &str = "azure-s3cret";

fn tags(instance: &str) -> BTreeMap<String, String> {
    let pairs = [("SubAccountID", "sa"), ("InstanceID", instance), ("OperationID", "o")];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

async fn world() -> (World, Azure) {
    let world = World::new().await;
    world.add_subscription(SECRET).await;
    let azure = world.azure(SECRET);
    (world, azure)
}

async fn add_group(world: &World, name: &str, instance: &str) {
    let with =
        json!({"subscription": SUBSCRIPTION, "group": name, "tags": {"InstanceID": instance}});
    world.order("azure", "add-group", with).await;
}

#[tokio::test]
async fn requests_are_what_azure_documents() {
    let (issuer, asked) =
        answering(|_, _| Json(json!({"access_token": "t"})).into_response()).await;
    let (url, heard) = answering(|_, heard| {
        assert_eq!(heard.header("authorization"), Some("Bearer t"));
        let body = json!({
            "name": "g", "location": "west", "value": [], "new": 1,
            "properties": {"provisioningState": "Succeeded"}, "primaryConnectionString": "x",
        });
        Json(body).into_response()
    })
    .await;
    let azure = azure(issuer, url, "s", CallLimits::DEFAULT, &noon());
    let tags = BTreeMap::from([("a".to_owned(), "b".to_owned())]);

    azure.put_group("g", "west", &tags).await.unwrap();
    azure.groups_tagged("InstanceID", "o'neill").await.unwrap();
    azure.put_namespace("g", "namespace", "west", &tags).await.unwrap();
    azure.namespace("g", "namespace").await.unwrap().unwrap();
    azure.namespaces("g").await.unwrap();
    azure.keys("g", "namespace").await.unwrap();
    azure.zones("west", "m").await.unwrap();
    azure.delete_group("g").await.unwrap();

    let groups = "/subscriptions/sub-1/resourcegroups";
    let hubs = "/subscriptions/sub-1/resourceGroups/g/providers/Microsoft.EventHub/namespaces";
    let first = "api-version=2019-05-01";
    let filter = "tagName+eq+%27InstanceID%27+and+tagValue+eq+%27o%27%27neill%27";
    let golden = [
        ("PUT", format!("{groups}/g"), first.to_owned()),
        ("GET", groups.to_owned(), format!("{first}&%24filter={filter}")),
        ("PUT", format!("{hubs}/namespace"), "api-version=2017-04-01".to_owned()),
        ("GET", format!("{hubs}/namespace"), "api-version=2017-04-01".to_owned()),
        ("GET", hubs.to_owned(), "api-version=2017-04-01".to_owned()),
        (
            "POST",
            format!("{hubs}/namespace/AuthorizationRules/RootManageSharedAccessKey/listKeys"),
            "api-version=2017-04-01".to_owned(),
        ),
        (
            "GET",
            "/subscriptions/sub-1/providers/Microsoft.Compute/skus".to_owned(),
            "%24filter=location+eq+%27west%27&api-version=2021-07-01".to_owned(),
        ),
        ("DELETE", format!("{groups}/g"), first.to_owned()),
    ];
    let all = heard.all();
    let lines: Vec<_> =
        all.iter().map(|it| (it.method.as_str(), it.path.clone(), it.query.clone())).collect();
    assert_eq!(lines, golden);
    assert_eq!(all[0].json(), json!({"location": "west", "tags": {"a": "b"}}));
    let token = asked.last();
    assert_eq!(token.path, "/tenant-1/oauth2/v2.0/token");
    assert!(token.body.contains("grant_type=client_credentials"));
    assert!(token.body.contains("%2F.default"));
}

#[tokio::test]
async fn names_that_do_not_fit_are_not_even_sent() {
    let (world, azure) = world().await;
    let long = "g".repeat(91);

    for name in ["", "..", long.as_str()] {
        let refused = azure.delete_group(name).await.unwrap_err();
        assert_eq!(refused.kind, Kind::Refused { status: 400 });
    }
    let short = azure.put_namespace("kone", "short", "west", &tags("x")).await.unwrap_err();
    assert_eq!(short.said.as_deref(), Some("its name has 6 to 50 characters"));
    assert!(world.calls("azure").is_empty());
}
