//! Answers of clusters that are lost, wrong or late.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, PostParams};
use simulators::{ledger::Phase, trouble::Kind};

use super::gardener;
use crate::world::{PROJECT, World, code, map, namespaced};

#[tokio::test]
async fn a_lost_answer_is_applied_once_and_found_by_the_next_try() {
    let world = World::new().await;
    let maps = namespaced::<ConfigMap>(&world.client("garden").await, PROJECT);
    world.trouble(gardener(Kind::LostAnswer { status: None }));

    maps.create(&PostParams::default(), &map("a")).await.unwrap_err();
    let again = maps.create(&PostParams::default(), &map("a")).await.map_err(code);

    assert_eq!(again.unwrap_err(), 409);
    let lines = world.lines("gardener");
    let phases: Vec<Phase> = lines.iter().take(3).map(|line| line.phase).collect();
    assert_eq!(phases, [Phase::Received, Phase::Applied, Phase::Lost]);
    assert_eq!(lines.iter().filter(|line| line.phase == Phase::Applied).count(), 1);
}

#[tokio::test]
async fn a_phantom_success_changes_nothing() {
    let world = World::new().await;
    let maps = namespaced::<ConfigMap>(&world.client("garden").await, PROJECT);

    world.trouble(gardener(Kind::Phantom));
    let made = maps.create(&PostParams::default(), &map("ghost")).await.unwrap();
    assert_eq!(made.metadata.name.as_deref(), Some("ghost"));
    assert!(maps.get_opt("ghost").await.unwrap().is_none());
    maps.create(&PostParams::default(), &map("real")).await.unwrap();
    world.trouble(gardener(Kind::Phantom));
    maps.delete("real", &DeleteParams::default()).await.unwrap();

    assert!(maps.get_opt("real").await.unwrap().is_some());
    let lines = world.lines("gardener");
    assert_eq!(lines.iter().filter(|line| line.phase == Phase::Applied).count(), 1);
}

#[tokio::test]
async fn malformed_slow_and_duplicate_calls_are_applied() {
    let world = World::new().await;
    let maps = namespaced::<ConfigMap>(&world.client("garden").await, PROJECT);

    world.trouble(gardener(Kind::Malformed { body: None }));
    let unreadable = maps.create(&PostParams::default(), &map("a")).await.unwrap_err();
    world.trouble(gardener(Kind::Slow { delay_ms: 50 }));
    let before = world.clock.monotonic();
    maps.create(&PostParams::default(), &map("b")).await.unwrap();
    let slow = world.clock.monotonic().saturating_sub(before);
    world.trouble(gardener(Kind::Duplicate));
    maps.create(&PostParams::default(), &map("c")).await.unwrap();

    assert_eq!(code(unreadable), 0);
    assert!(slow >= Duration::from_millis(50), "{slow:?}");
    let lines = world.lines("gardener");
    let applied = lines.iter().filter(|line| line.phase == Phase::Applied).count();
    let received = lines.iter().filter(|line| line.phase == Phase::Received).count();
    assert_eq!((received, applied), (4, 3));
}
