//! Identity authentication's own rules.

use serde_json::{Value, json};

use super::ordinary::{call, making, objects, order};
use crate::world::{World, json, status};

const PROVIDERS: &str = "/ias/service/sps";

async fn company(world: &World) -> Value {
    json(call(world, "GET", "/ias/service/company/global")).await
}

async fn provider(world: &World) -> String {
    assert_eq!(status(making(world, "ias", 1)).await, 201);
    company(world).await["service_providers"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_name_is_taken_raw_or_encoded_and_only_once() {
    let world = World::new().await;
    let raw = |body: &'static str| {
        let request = call(&world, "POST", PROVIDERS).body(body);
        request.header("content-type", "application/x-www-form-urlencoded")
    };

    assert_eq!(status(raw("sp_name=SKR Grafana (instanceID: 1)&company_id=global")).await, 201);
    let encoded = "sp_name=SKR+Grafana+%28instanceID%3A+1%29&company_id=global";
    assert_eq!(status(raw(encoded)).await, 409, "it is the same name");
    assert_eq!(status(raw("sp_name=a&company_id=other")).await, 400);
    assert_eq!(status(raw("company_id=global")).await, 400);

    let listed = company(&world).await;
    assert_eq!(listed["service_providers"][0]["display_name"], "SKR Grafana (instanceID: 1)");
    let people = json!([{ "id": "5f0f0000aa11", "name": "kcp-people" }]);
    assert_eq!(listed["identity_providers"], people);
}

#[tokio::test]
async fn a_provider_is_configured_piece_by_piece() {
    let world = World::new().await;
    let id = provider(&world).await;
    let one = format!("{PROVIDERS}/{id}");
    let attributes = json!([{ "assertionAttribute": "email", "userAttribute": "mail" }]);
    let oidc = json!({
        "ssoType": "openIdConnect", "sp_name": "grafana.d",
        "openId_connect_configuration": { "redirect_uris": ["https://grafana.d/x"] },
    });
    let idp = json!({
        "organization": "global", "id": id, "default_auth_idp": "https://x/service/idp/5f0f0000aa11",
    });
    let rules = json!([{ "action": "Allow", "group": "g", "group_type": "Cloud" }]);
    let access = json!({ "rba_rules": rules, "default_action": "Deny" });
    let calls = [
        (one.clone(), json!({ "assertion_attributes": attributes })),
        (one.clone(), json!({ "name_id_attribute": "mail" })),
        (one.clone(), oidc),
        (PROVIDERS.to_owned(), idp),
        (format!("{one}/rba"), json!({ "service_provider": { "rba_config": access } })),
    ];

    for (path, body) in calls {
        assert_eq!(status(call(&world, "PUT", &path).json(&body)).await, 200, "{body}");
    }

    let shown = &company(&world).await["service_providers"][0];
    assert_eq!(shown["display_name"], "n1", "its name for SSO is another one");
    assert_eq!(shown["assertion_attributes"], attributes);
    assert_eq!(shown["redirect_uris"], json!(["https://grafana.d/x"]));
    assert_eq!(shown["rba_config"], access);
    assert_eq!(shown["authenticatingIdp"]["name"], "kcp-people");
    assert_eq!(
        (&shown["ssoType"], &shown["name_id_attribute"]),
        (&json!("openIdConnect"), &json!("mail"))
    );
}

#[tokio::test]
async fn secrets_are_shown_once_and_deleted_by_id() {
    let world = World::new().await;
    let id = provider(&world).await;
    let wanted = json!({
        "organization": "global", "id": id,
        "rest_api_client_secret": { "description": "d", "scopes": ["OAuth"] },
    });

    let made = json(call(&world, "PUT", PROVIDERS).json(&wanted)).await;
    let secret = made["clientSecret"].as_str().unwrap();
    let listed = company(&world).await;
    let kept = listed["service_providers"][0]["clientSecrets"][0].clone();
    assert_eq!(kept["scopes"], json!(["OAuth"]));
    assert!(!listed.to_string().contains(secret));
    assert!(!json!(objects(&world, "ias").await).to_string().contains(secret));

    let delete = || {
        let ids = [&kept["clientSecretId"]];
        let body = json!({ "clientId": made["clientId"], "clientSecretsIds": ids });
        call(&world, "DELETE", &format!("{PROVIDERS}/clientSecret")).json(&body)
    };
    assert_eq!(status(delete()).await, 204);
    assert_eq!(status(delete()).await, 404);
}

#[tokio::test]
async fn what_the_real_one_refuses_is_refused() {
    let world = World::new().await;
    let id = provider(&world).await;
    let one = format!("{PROVIDERS}/{id}");
    let idp = |from: &str| json!({ "organization": "global", "id": id, "default_auth_idp": from });
    let table = [
        (one.as_str(), json!({}), 400),
        (one.as_str(), json!({ "assertion_attributes": [{}] }), 400),
        (one.as_str(), json!([]), 400),
        (PROVIDERS, idp("https://x/service/idp/nobody"), 400),
        (PROVIDERS, json!({ "organization": "global", "id": id }), 400),
        (PROVIDERS, json!({ "organization": "x", "id": id, "rest_api_client_secret": {} }), 400),
        (
            PROVIDERS,
            json!({ "organization": "global", "id": "x", "rest_api_client_secret": {} }),
            404,
        ),
        ("/ias/service/sps/x", json!({ "name_id_attribute": "mail" }), 404),
        ("/ias/service/sps/x/rba", json!({ "service_provider": {} }), 400),
        ("/ias/service/sps/delete?sp_id=x", json!({}), 404),
        ("/ias/service/sps/delete", json!({}), 400),
    ];

    for (path, body, expected) in table {
        assert_eq!(status(call(&world, "PUT", path).json(&body)).await, expected, "{path} {body}");
    }
    assert_eq!(status(call(&world, "PUT", &format!("{PROVIDERS}/delete?sp_id={id}"))).await, 200);
    assert_eq!(objects(&world, "ias").await.len(), 0);
}

#[tokio::test]
async fn an_operator_hides_doubles_breaks_and_fills() {
    let world = World::new().await;
    let providers =
        async |world: &World| company(world).await["service_providers"].as_array().unwrap().len();
    order(&world, "ias", "hide-new-providers", json!({ "readings": 1 })).await;
    assert_eq!(status(making(&world, "ias", 1)).await, 201);
    assert_eq!((providers(&world).await, providers(&world).await), (0, 1));

    order(&world, "ias", "allow-twins", json!({ "on": true })).await;
    assert_eq!(status(making(&world, "ias", 1)).await, 201);
    assert_eq!(objects(&world, "ias").await.len(), 2);

    order(&world, "ias", "fail-access", json!({ "calls": 1 })).await;
    let id = objects(&world, "ias").await[0]["id"].as_str().unwrap().to_owned();
    let rules = json!({ "rba_rules": [], "default_action": "Deny" });
    let body = json!({ "service_provider": { "rba_config": rules } });
    let set = || call(&world, "PUT", &format!("{PROVIDERS}/{id}/rba")).json(&body);
    assert_eq!((status(set()).await, status(set()).await), (500, 200));

    order(&world, "ias", "add-others", json!({ "number": 50 })).await;
    assert!(providers(&world).await >= 50);
}
