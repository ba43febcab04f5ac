//! Where stored and real state differ is listed and not repaired.

use std::time::Duration;

use broker::jobs::Settings;
use clients::gardener::RUNTIME_ANNOTATION;
use serde_json::json;
use uuid::Uuid;

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn differences_are_listed_and_nothing_is_changed() {
    let settled = Duration::from_millis(1);
    let world = World::new(Settings { settled, ..Settings::default() }).await;
    let good = world.made(2, "good", Some(Uuid::from_u128(1))).await;
    world.made(2, "lost", Some(Uuid::from_u128(2))).await;
    let other = world.made(2, "other", Some(Uuid::from_u128(3))).await;
    let runtime = |id: u128| json!({RUNTIME_ANNOTATION: Uuid::from_u128(id).to_string()});
    world.shoot(&good.shoot_name, runtime(1)).await;
    world.shoot(&other.shoot_name, runtime(99)).await;
    world.shoot("nobodys", json!({})).await;

    let run = world.run("drift", false).await;

    let mut found: Vec<(&str, &str)> =
        run.report.details.iter().map(|it| (it.item.as_str(), it.text.as_str())).collect();
    found.sort_unstable();
    let items: Vec<&str> = found.iter().map(|(item, _)| *item).collect();
    assert_eq!(items, ["lost", "nobodys", "other"]);
    assert!(found[0].1.starts_with("instance without a Shoot"), "{found:?}");
    assert_eq!(found[1].1, "Shoot without an instance");
    assert!(found[2].1.contains("belongs to runtime"), "{found:?}");
    assert!(world.has_shoot("nobodys").await);
    assert!(world.store.find("lost").await.unwrap().unwrap().runtime_id.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_being_made_is_no_difference() {
    let world = World::new(Settings::default()).await;
    world.shoot("new", json!({})).await;
    world.made(0, "just-made", Some(Uuid::from_u128(1))).await;

    assert_eq!(world.counts("drift", false).await, [0, 0, 0, 0]);
}
