//! The event data platform's own rules.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::ordinary::{TENANTS, call, making, order};
use crate::world::{World, json, status};

fn metadata(world: &World, tenant: &str, key: &str) -> RequestBuilder {
    let path = format!("{TENANTS}/{tenant}/dev/metadata");
    call(world, "POST", &path).json(&json!({ "key": key, "value": "v" }))
}

#[tokio::test]
async fn tenants_and_metadata_are_made_listed_and_deleted_once() {
    let world = World::new().await;

    assert_eq!(status(metadata(&world, "n1", "k")).await, 404, "there is no tenant yet");
    assert_eq!(status(making(&world, "edp", 1)).await, 201);
    assert_eq!(status(making(&world, "edp", 1)).await, 409);
    assert_eq!(status(metadata(&world, "n1", "k")).await, 201);
    assert_eq!(status(metadata(&world, "n1", "k")).await, 409);
    let listed = json(call(&world, "GET", &format!("{TENANTS}/n1/dev/metadata"))).await;
    let tenant = json!({ "namespace": { "name": "kcp" }, "name": "n1", "environment": "dev" });
    assert_eq!(listed, json!([{ "dataTenant": tenant, "key": "k", "value": "v" }]));

    let delete = |path: &str| call(&world, "DELETE", &format!("{TENANTS}/n1/dev{path}"));
    assert_eq!(status(delete("/metadata/k")).await, 204);
    assert_eq!(status(delete("/metadata/k")).await, 404);
    assert_eq!(status(delete("")).await, 204);
    assert_eq!(status(delete("")).await, 404);
}

#[tokio::test]
async fn names_are_told_apart_by_case_and_by_environment() {
    let world = World::new().await;
    let tenant = |name: &str, environment: &str| {
        let body = json!({ "name": name, "environment": environment, "secret": "c2VjcmV0" });
        call(&world, "POST", TENANTS).json(&body)
    };

    for (name, environment) in [("sa", "dev"), ("SA", "dev"), ("sa", "prod")] {
        assert_eq!(status(tenant(name, environment)).await, 201);
    }
    assert_eq!(status(call(&world, "DELETE", &format!("{TENANTS}/Sa/dev"))).await, 404);
}

#[tokio::test]
async fn the_scope_decides_what_a_token_may_do() {
    let world = World::new().await;
    status(making(&world, "edp", 1)).await;
    let mut issued = Vec::new();
    for scope in ["edp-namespace.read", "edp-namespace.update"] {
        let form = [("grant_type", "client_credentials"), ("scope", scope)];
        let request =
            world.post("/oauth2/token").basic_auth("edp-namespace%3Bkcp", Some("edp secret"));
        let token: Value = json(request.form(&form)).await;
        issued.push(token["access_token"].as_str().unwrap().to_owned());
    }
    let with = |method: &str, path: &str, token: &str| {
        let url = format!("{}{TENANTS}/n1/dev{path}", world.url);
        world.http.request(method.parse().unwrap(), url).bearer_auth(token)
    };

    assert_eq!(status(with("GET", "/metadata", &issued[0])).await, 200);
    assert_eq!(status(with("DELETE", "", &issued[0])).await, 403);
    assert_eq!(status(with("GET", "/metadata", &issued[1])).await, 403);
    assert_eq!(status(with("DELETE", "", &issued[1])).await, 204);
}

#[tokio::test]
async fn a_tenant_needs_a_name_an_environment_and_a_secret() {
    let world = World::new().await;
    let wrong = [
        json!({ "name": "", "environment": "dev", "secret": "c2VjcmV0" }),
        json!({ "name": "a", "environment": "", "secret": "c2VjcmV0" }),
        json!({ "name": "a", "environment": "dev", "secret": "not base64!" }),
        json!({ "name": "a", "environment": "dev" }),
    ];

    for body in wrong {
        assert_eq!(status(call(&world, "POST", TENANTS).json(&body)).await, 400, "{body}");
    }
}

#[tokio::test]
async fn an_operator_makes_conflicts_and_odd_answers() {
    let world = World::new().await;
    let order = async |name: &str, on: bool| {
        assert_eq!(order(&world, "edp", name, json!({ "on": on })).await, 204);
    };

    order("conflict-always", true).await;
    assert_eq!(status(making(&world, "edp", 1)).await, 409);
    order("conflict-always", false).await;
    order("answer-200", true).await;
    assert_eq!(status(making(&world, "edp", 1)).await, 200);
    order("keep-tenants-with-metadata", true).await;
    assert_eq!(status(metadata(&world, "n1", "k")).await, 200);
    assert_eq!(status(call(&world, "DELETE", &format!("{TENANTS}/n1/dev"))).await, 409);
}
