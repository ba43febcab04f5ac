//! Scenarios of Shoots that are slow: conditions flap, addresses and domains come late.

use simulators::pace::Speed;

use super::FAST;
use crate::support::{Garden, health, is_settled, scripted, shoot, state};

#[tokio::test(flavor = "multi_thread")]
async fn conditions_flap() {
    let garden = Garden::anywhere(Speed::MAX).await;
    let _controller = garden.controller();
    garden.create(&scripted("flap", "flapping")).await;

    garden.until("flap", |s| health(s) == "healthy").await;
    let down = garden.until("flap", |s| health(s) == "unhealthy").await;
    garden.until("flap", |s| health(s) == "healthy").await;

    let failing: Vec<_> = down["status"]["conditions"].as_array().unwrap().iter().collect();
    assert_eq!(failing.iter().filter(|one| one["status"] == "False").count(), 1);
    assert_eq!(state(&down), "Succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_can_come_late() {
    let garden = Garden::anywhere(FAST).await;
    let _controller = garden.controller();
    let begin = garden.version().await;

    garden.create(&scripted("late", "kubeconfig-late")).await;
    let announced = |shoot: &serde_json::Value| !shoot["status"]["advertisedAddresses"].is_null();
    let events = garden.events(begin, |_, shoot| announced(shoot)).await;

    let (_, end) = events.last().unwrap();
    assert_eq!(state(end), "Succeeded");
    assert!(garden.runtimes.is_there("late"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_can_come_late() {
    let garden = Garden::anywhere(FAST).await;
    let _controller = garden.controller();

    let made = garden.create(&scripted("nameless", "domain-late")).await;
    let ready = garden.until_healthy("nameless").await;

    assert!(made.data["spec"]["dns"]["domain"].is_null());
    let expected = format!("nameless.{}.kyma.example.com", garden.settings.project);
    assert_eq!(ready["spec"]["dns"]["domain"], expected);
    let url = ready["status"]["advertisedAddresses"][0]["url"].as_str().unwrap();
    assert_eq!(url, format!("https://api.{expected}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_shoots_take_longer_than_others() {
    let garden = Garden::anywhere(Speed::Times(40.0)).await;
    let _controller = garden.controller();
    let begin = garden.version().await;

    garden.create(&scripted("tortoise", "slow")).await;
    garden.create(&shoot("hare")).await;
    let mut ready = Vec::new();
    garden
        .events(begin, |_, shoot| {
            let name = shoot["metadata"]["name"].as_str().unwrap().to_owned();
            if is_settled(shoot) && !ready.contains(&name) {
                ready.push(name);
            }
            ready.len() == 2
        })
        .await;

    assert_eq!(ready, ["hare", "tortoise"]);
}
