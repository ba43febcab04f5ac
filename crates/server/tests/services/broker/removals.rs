//! Removals over a socket: at any step of an order, and after one that left something.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use server::settings;

use super::{instance, start};
use crate::platform::Platform;

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_stops_an_order_at_whatever_step_it_is_and_leaves_nothing() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), settings::load(None).unwrap()).await;
    let platform = Platform::of(&up).await;
    let before = platform.things().await;
    let paths: Vec<String> =
        (0..12).map(|at| format!("/oauth/v2/service_instances/removed-at-step-{at}")).collect();

    for (at, path) in paths.iter().enumerate() {
        let order = platform.order("aws", &json!({}));
        let asked = format!("{path}?accepts_incomplete=true");
        assert_eq!(platform.ask(Method::PUT, &asked, Some(&order)).await.0, 202);
        let mut looks = 0;
        while platform.is_before(path, at * 2).await {
            looks += 1;
            assert!(looks < 100_000, "the order does not go on");
        }
        let (service, plan) = (&platform.service, &platform.plans["aws"]);
        let removal = format!("{asked}&service_id={service}&plan_id={plan}");
        let (status, first) = platform.ask(Method::DELETE, &removal, None).await;
        let (_, again) = platform.ask(Method::DELETE, &removal, None).await;
        assert_eq!(status, 202, "{first}");
        assert!(again["operation"] == first["operation"] || again == json!({}), "{again}");
    }
    for path in &paths {
        platform.succeeded(path).await;
    }

    let mut after = platform.things().await;
    after.retain(|thing| thing.1 != "parent");
    let left: Vec<_> = after.symmetric_difference(&before).collect();
    assert!(left.is_empty(), "{left:?}");
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_removal_left_is_listed_until_another_one_has_removed_it() {
    let data = tempfile::tempdir().unwrap();
    let mut settings = settings::load(None).unwrap();
    settings.operations.removal_patience = Duration::from_secs(1);
    let up = start(data.path(), settings).await;
    let platform = Platform::of(&up).await;
    let path = instance("aws", None);
    let order = platform.order("aws", &json!({}));
    let asked = format!("{path}?accepts_incomplete=true");
    assert_eq!(platform.ask(Method::PUT, &asked, Some(&order)).await.0, 202);
    platform.succeeded(&path).await;
    let trouble = json!({"system": "edp", "seconds": 600, "trouble": {"kind": "down"}});
    let (status, rule) = platform.ask(Method::POST, "/landscape/troubles", Some(&trouble)).await;
    assert_eq!(status, 201, "{rule}");
    let (service, plan) = (&platform.service, &platform.plans["aws"]);
    let removal = format!("{asked}&service_id={service}&plan_id={plan}");

    assert_eq!(platform.ask(Method::DELETE, &removal, None).await.0, 202);
    platform.succeeded(&path).await;

    let (_, all) = platform.ask(Method::GET, "/leftovers", None).await;
    let left = &all["leftovers"][0];
    assert_eq!(left["instance"], "instance-of-aws", "{all}");
    assert_eq!(left["left"][0]["step"], "EDP_Deregistration", "{all}");
    let (_, tenants) =
        platform.ask(Method::GET, "/landscape/systems/edp/objects?kind=tenant", None).await;
    assert_eq!(tenants["objects"].as_array().unwrap().len(), 1);

    let healed = format!("/landscape/troubles/{}", rule["id"]);
    assert_eq!(platform.ask(Method::DELETE, &healed, None).await.0, 204);
    assert_eq!(platform.ask(Method::DELETE, &removal, None).await.0, 202);
    platform.succeeded(&path).await;

    let (_, all) = platform.ask(Method::GET, "/leftovers", None).await;
    assert_eq!(all["leftovers"], json!([]));
    let (_, tenants) =
        platform.ask(Method::GET, "/landscape/systems/edp/objects?kind=tenant", None).await;
    assert_eq!(tenants["objects"], json!([]));
    up.stop().await;
}
