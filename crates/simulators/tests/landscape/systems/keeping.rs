//! S2 and S3: what is answered is kept, a reset isolates, and the same calls give the same ids.

use std::fs;

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::ordinary::{SYSTEMS, call, making, nonsense, objects, order};
use crate::world::{World, status};

async fn everything(world: &World) -> Vec<Value> {
    let mut all = Vec::new();
    for system in SYSTEMS {
        all.extend(objects(world, system).await);
    }
    all
}

async fn filled() -> World {
    let world = World::new().await;
    for system in SYSTEMS {
        for number in 1..=3 {
            assert_eq!(status(making(&world, system, number)).await, 201, "{system}");
        }
    }
    world
}

#[tokio::test]
async fn everything_is_there_after_a_restart_and_goes_on_from_there() {
    let world = filled().await;
    assert_eq!(order(&world, "spc", "refuse-twice", json!({ "on": true })).await, 204);
    let before = everything(&world).await;

    let world = world.reopened().await;

    assert_eq!(everything(&world).await, before);
    assert_eq!(status(making(&world, "spc", 1)).await, 409, "orders are kept too");
    for system in SYSTEMS {
        assert_eq!(status(making(&world, system, 4)).await, 201, "{system}");
    }
    // Each system has one more, and the availability service the parent of all.
    assert_eq!(everything(&world).await.len(), 5 * 4 + 1);
}

#[tokio::test]
async fn a_tail_that_was_cut_off_costs_the_last_change_only() {
    for system in SYSTEMS {
        let world = filled().await;
        let before = objects(&world, system).await.len();

        let world = world
            .reopened_after(|folder| {
                for name in [format!("{system}.log"), "ledger.log".to_owned()] {
                    let path = folder.join(name);
                    let bytes = fs::read(&path).unwrap();
                    fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
                }
            })
            .await;

        assert_eq!(objects(&world, system).await.len(), before - 1, "{system}");
        assert_eq!(status(making(&world, system, 3)).await, 201, "{system}");
    }
}

#[tokio::test]
async fn a_reset_of_one_system_leaves_the_others_alone() {
    let world = filled().await;

    for (number, system) in SYSTEMS.into_iter().enumerate() {
        let reset = world.control("POST", &format!("/systems/{system}/reset"));
        assert_eq!(status(reset).await, 204);
        assert_eq!(objects(&world, system).await, Vec::<Value>::new());
        let left = everything(&world).await.len();
        assert_eq!(left, (4 - number) * 3, "{system}");
    }
}

#[tokio::test]
async fn the_same_calls_give_the_same_ids() {
    let (one, other) = (filled().await, filled().await);

    assert_eq!(everything(&one).await, everything(&other).await);
}

#[tokio::test]
async fn objects_are_shown_and_taken_away_by_hand() {
    let world = filled().await;

    for system in SYSTEMS {
        let object = objects(&world, system).await[0].clone();
        let (kind, id) = (object["kind"].as_str().unwrap(), object["id"].as_str().unwrap());
        let path = format!("/systems/{system}/objects/{kind}/{id}");

        assert_eq!(status(world.control("GET", &path)).await, 200);
        assert_eq!(status(world.control("DELETE", &path)).await, 204, "{system}");
        assert_eq!(status(world.control("DELETE", &path)).await, 404, "{system}");
    }
}

#[tokio::test]
async fn nobody_gets_in_without_credentials() {
    let world = World::new().await;
    let with = |request: RequestBuilder| request.header("authorization", "Bearer no");
    let anonymous = |method: &str, path: &str| {
        world.http.request(method.parse().unwrap(), format!("{}{path}", world.url))
    };
    let calls = [
        ("POST", "/avs/api/v2/evaluationmetadata"),
        ("GET", "/avs/api/v2/evaluationmetadata/1"),
        ("POST", "/edp/namespaces/kcp/dataTenants"),
        ("GET", "/edp/namespaces/kcp/dataTenants/a/dev/metadata"),
        ("GET", "/ias/service/company/global"),
        ("POST", "/ias/service/sps"),
        ("POST", "/lms/tenants"),
        ("GET", "/lms/tenants/1/status"),
    ];

    for (method, path) in calls {
        assert_eq!(status(anonymous(method, path)).await, 401, "{path}");
        assert_eq!(status(with(anonymous(method, path))).await, 401, "{path}");
    }
    let wrong = anonymous("GET", "/ias/service/company/global").basic_auth("kcp-ias", Some("no"));
    assert_eq!(status(wrong).await, 401);
    let wrong = anonymous("POST", "/lms/tenants").header("X-LMS-Token", "no");
    assert_eq!(status(wrong).await, 401);
    assert_eq!(everything(&world).await.len(), 0);
}

#[tokio::test]
async fn a_body_that_makes_no_sense_is_refused() {
    let world = World::new().await;

    for system in SYSTEMS {
        assert_eq!(status(nonsense(&world, system)).await, 400, "{system}");
        assert_eq!(objects(&world, system).await.len(), 0);
    }
}

#[tokio::test]
async fn expired_tokens_are_refused_where_tokens_are_used() {
    let world = World::new().await;
    world.landscape.issuer().expire_tokens().unwrap();

    for system in ["avs", "edp"] {
        assert_eq!(status(making(&world, system, 1)).await, 401, "{system}");
    }
    assert_eq!(status(call(&world, "GET", "/ias/service/company/global")).await, 200);
}
