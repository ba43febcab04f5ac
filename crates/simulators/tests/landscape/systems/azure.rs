//! Azure: tokens of its own, and what it refuses.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::world::{World, json, send, status};

const GROUPS: &str = "/subscriptions/sub-1/resourcegroups";
const VERSION: &str = "api-version=2019-05-01";

pub(crate) async fn token(world: &World) -> String {
    let fields = [
        ("grant_type", "client_credentials"),
        ("client_id", "client-1"),
        ("client_secret", "s3cret-client"),
        ("scope", "https://management.azure.com/.default"),
    ];
    let answer = json(world.post("/azure/tenant-1/oauth2/v2.0/token").form(&fields)).await;
    answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

pub(crate) fn call(world: &World, method: &str, path: &str, token: &str) -> RequestBuilder {
    let url = format!("{}/azure{path}", world.url);
    world.http.request(method.parse().unwrap(), url).bearer_auth(token)
}

async fn order(world: &World, name: &str, with: Value) {
    let order = world.control("POST", &format!("/systems/azure/orders/{name}")).json(&with);
    assert_eq!(status(order).await, 204, "{name} {with}");
}

async fn code(request: RequestBuilder) -> (u16, String) {
    let answer = send(request).await;
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.unwrap();
    (status, body["error"]["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn both_token_endpoints_answer_in_their_own_way() {
    let world = World::new().await;
    let ask = |path: &str, more: &[(&'static str, &'static str)]| {
        let mut fields = vec![("grant_type", "client_credentials")];
        fields.extend(more);
        world.post(&format!("/azure/tenant-1/{path}")).form(&fields)
    };
    let who = [("client_id", "client-1"), ("client_secret", "s")];
    let resource = [who[0], who[1], ("resource", "https://management.azure.com/")];

    let first = json(ask("oauth2/token", &resource)).await;
    assert_eq!((&first["token_type"], &first["expires_in"]), (&json!("Bearer"), &json!("3599")));
    let scope = [("scope", "https://management.azure.com/.default")];
    let second = json(ask("oauth2/v2.0/token", &scope).basic_auth("client-1", Some("s"))).await;
    assert_eq!(second["expires_in"], 3599);
    assert_eq!(json(ask("oauth2/v2.0/token", &who)).await["error"], "invalid_scope");
    assert_eq!(json(ask("oauth2/token", &who)).await["error"], "invalid_request");
    assert_eq!(json(ask("oauth2/v2.0/token", &scope)).await["error"], "invalid_client");
}

#[tokio::test]
async fn with_subscriptions_added_only_their_clients_get_in() {
    let world = World::new().await;
    let early = token(&world).await;
    let with = json!({"subscription": "sub-1", "tenant": "tenant-1", "client": "client-1", "secret": "s3cret-client"});
    order(&world, "add-subscription", with).await;
    let with =
        json!({"subscription": "sub-2", "tenant": "tenant-1", "client": "client-2", "secret": "x"});
    order(&world, "add-subscription", with).await;
    let list = format!("{GROUPS}?{VERSION}");

    let token = token(&world).await;
    assert_eq!(status(call(&world, "GET", &list, &token)).await, 200);
    assert_eq!(status(call(&world, "GET", &list, &early)).await, 200);
    let other = list.replace("sub-1", "sub-2");
    assert_eq!(
        code(call(&world, "GET", &other, &token)).await,
        (403, "AuthorizationFailed".into())
    );
    let none = list.replace("sub-1", "sub-3");
    assert_eq!(
        code(call(&world, "GET", &none, &token)).await,
        (404, "SubscriptionNotFound".into())
    );
    let wrong = [
        ("grant_type", "client_credentials"),
        ("client_id", "client-1"),
        ("client_secret", "wrong"),
        ("scope", "x/.default"),
    ];
    assert_eq!(status(world.post("/azure/tenant-1/oauth2/v2.0/token").form(&wrong)).await, 401);
    assert_eq!(status(world.post("/azure/tenant-2/oauth2/v2.0/token").form(&wrong)).await, 400);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_azures_codes() {
    let world = World::new().await;
    let token = token(&world).await;
    let put = |path: &str, body: Value| call(&world, "PUT", path, &token).json(&body);
    let group = format!("{GROUPS}/g?{VERSION}");
    let hub = "/subscriptions/sub-1/resourceGroups/g/providers/Microsoft.EventHub/namespaces";
    let long = format!("{GROUPS}/{}?{VERSION}", "g".repeat(91));
    let west = json!({"location": "west"});
    let get = |path: &str| call(&world, "GET", path, &token);

    let table = [
        (get(GROUPS), 400, "MissingApiVersionParameter"),
        (get(&format!("{GROUPS}?api-version=1999-01-01")), 400, "InvalidApiVersionParameter"),
        (get(&format!("{GROUPS}?{VERSION}&$filter=name")), 400, "InvalidFilterInQueryString"),
        (get(&group), 404, "ResourceGroupNotFound"),
        (put(&group, json!({})), 400, "LocationRequired"),
        (put(&long, west.clone()), 400, "InvalidResourceGroupName"),
        (call(&world, "DELETE", &group, &token), 404, "ResourceGroupNotFound"),
        (
            put(&format!("{hub}/namespace?api-version=2017-04-01"), west.clone()),
            404,
            "ResourceGroupNotFound",
        ),
        (put(&format!("{hub}/n?api-version=2017-04-01"), west), 400, "BadRequest"),
        (call(&world, "GET", &group, "nonsense"), 401, "InvalidAuthenticationToken"),
        (world.http.get(format!("{}/azure{group}", world.url)), 401, "AuthenticationFailed"),
    ];
    for (request, status, name) in table {
        assert_eq!(code(request).await, (status, name.to_owned()));
    }
}

#[tokio::test]
async fn groups_have_one_name_in_any_case_and_go_with_all_that_is_in_them() {
    let world = World::new().await;
    let token = token(&world).await;
    let west = json!({"location": "west", "tags": {"a": "b"}});
    let group = |name: &str| format!("{GROUPS}/{name}?{VERSION}");

    assert_eq!(status(call(&world, "PUT", &group("Mixed"), &token).json(&west)).await, 201);
    assert_eq!(status(call(&world, "PUT", &group("mixed"), &token).json(&west)).await, 200);
    let hub = "/subscriptions/sub-1/resourceGroups/MIXED/providers/Microsoft.EventHub/namespaces/namespace?api-version=2017-04-01";
    assert_eq!(status(call(&world, "PUT", hub, &token).json(&west)).await, 201);
    let deleted = send(call(&world, "DELETE", &group("MIXED"), &token)).await;
    assert_eq!(deleted.status(), 202);
    let link = deleted.headers()["location"].to_str().unwrap().to_owned();
    assert_eq!(status(world.http.get(&link).bearer_auth(&token)).await, 202);
    world.clock.advance(std::time::Duration::from_secs(5));

    assert_eq!(status(world.http.get(&link).bearer_auth(&token)).await, 200);
    let objects = json(world.control("GET", "/systems/azure/objects")).await;
    assert_eq!(objects["objects"], json!([]));
}
