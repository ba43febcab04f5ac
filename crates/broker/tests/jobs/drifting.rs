//! Where stored and real state differ is listed and not repaired.

use std::time::Duration;

use broker::jobs::Settings;
use clients::gardener::RUNTIME_ANNOTATION;
use serde_json::{Value, json};
use store::{
    BrokerStore,
    broker::{Instance, NewRuntimeState},
};
use uuid::Uuid;

use crate::world::World;

/// The provisioner was sent this cluster of an instance.
async fn sent(store: &BrokerStore, row: &Instance, cluster: &Value) {
    let payload = json!({"clusterConfig": {"gardenerConfig": cluster}});
    let state = NewRuntimeState {
        instance: row.id.clone(),
        runtime: row.runtime_id.unwrap(),
        operation: Uuid::now_v7(),
        holds: vec!["cluster-config".into()],
        payload: payload.to_string().into_bytes(),
    };
    assert!(store.add_runtime_state(&state).await.unwrap());
}

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

#[tokio::test(flavor = "multi_thread")]
async fn runtimes_that_cannot_be_looked_into_are_told_once_each_and_looked_into_by_the_next_run() {
    let settled = Duration::from_millis(1);
    for world in World::both(|| Settings { settled, ..Settings::default() }).await {
        // More than a page looks into.
        for number in 1..=12 {
            let (instance, runtime) = (format!("i-{number:02}"), Uuid::from_u128(number));
            let details = json!({"sm_cluster_id": Uuid::from_u128(100 + number)});
            let change = json!({"runtime_id": runtime, "details": details});
            let row = world.made_with(2, &instance, change).await;
            let annotations = json!({RUNTIME_ANNOTATION: runtime.to_string()});
            world.shoot(&row.shoot_name, annotations).await;
        }
        // Nothing was ever written into this one.
        let without = world.made(2, "without", Some(Uuid::from_u128(99))).await;
        let annotations = json!({RUNTIME_ANNOTATION: Uuid::from_u128(99).to_string()});
        world.shoot(&without.shoot_name, annotations).await;

        for _ in 0..2 {
            let run = world.run("drift", false).await;

            assert_eq!(run.state, engine::State::Succeeded, "{:?}", run.failure);
            let mut told: Vec<&str> =
                run.report.details.iter().map(|it| it.item.as_str()).collect();
            told.sort_unstable();
            let expected: Vec<String> = (1..=12).map(|number| format!("i-{number:02}")).collect();
            assert_eq!(told, expected);
            assert_eq!(crate::world::counts(&run), [12, 0, 0, 12]);
            let text = &run.report.details[0].text;
            assert!(text.contains("sap-btp-manager cannot be read"), "{text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_instance_whose_shoot_is_there_is_listed() {
    let settled = Duration::from_millis(1);
    for world in World::both(|| Settings { settled, ..Settings::default() }).await {
        let row = world.suspended("left", &["work/Check_Runtime_Removal"]).await;
        world.suspended("clean", &[]).await;
        let runtime = row.runtime_id.unwrap().to_string();
        world.shoot(&row.shoot_name, json!({RUNTIME_ANNOTATION: runtime})).await;

        let run = world.run("drift", false).await;

        let found: Vec<(&str, &str)> =
            run.report.details.iter().map(|it| (it.item.as_str(), it.text.as_str())).collect();
        let text = format!("suspended, and its Shoot {} is there", row.shoot_name);
        assert_eq!(found, [("left", text.as_str())]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_whose_change_or_order_failed_are_compared_and_failed_removals_are_not() {
    let settled = Duration::from_millis(1);
    for world in World::both(|| Settings { settled, ..Settings::default() }).await {
        world.not_updated("error").await;
        world.not_made("failed").await;
        world.not_removed("going").await;

        let run = world.run("drift", false).await;

        let mut found: Vec<&str> = run.report.details.iter().map(|it| it.item.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, ["error", "failed"]);
        for detail in &run.report.details {
            assert!(detail.text.starts_with("instance without a Shoot"), "{detail:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_that_differs_from_the_cluster_that_was_sent_is_listed_with_both_values() {
    let settled = Duration::from_millis(1);
    for world in World::both(|| Settings { settled, ..Settings::default() }).await {
        // As the Shoots of tests are, but for a patch that Gardener may install.
        let same = json!({
            "kubernetesVersion": "1.25.4", "machineType": "m5.xlarge", "autoScalerMin": 3,
            "autoScalerMax": 10, "oidcConfig": {"issuerURL": ""},
        });
        let other = json!({
            "kubernetesVersion": "1.26.4", "machineType": "m5.large", "autoScalerMin": 2,
            "autoScalerMax": 20, "oidcConfig": {"issuerURL": "https://issuer.example.com"},
        });
        for (number, (instance, cluster)) in
            (1..).zip([("same", Some(&same)), ("other", Some(&other)), ("never-said", None)])
        {
            let runtime = Uuid::from_u128(number);
            let row = world.made(2, instance, Some(runtime)).await;
            world.shoot(&row.shoot_name, json!({RUNTIME_ANNOTATION: runtime.to_string()})).await;
            if let Some(cluster) = cluster {
                sent(&world.store, &row, cluster).await;
            }
        }

        let run = world.run("drift", false).await;

        let found: Vec<(&str, &str)> =
            run.report.details.iter().map(|it| (it.item.as_str(), it.text.as_str())).collect();
        let [("other", text)] = found[..] else { panic!("{found:?}") };
        let (_, text) = text.split_once(" differs: ").unwrap();
        assert_eq!(
            text,
            "the version of Kubernetes is 1.25.6, ordered 1.26.4; the machine type is m5.xlarge, \
             ordered m5.large; the fewest nodes is 3, ordered 2; the most nodes is 10, ordered 20; \
             the OIDC issuer https://issuer.example.com is missing"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_after_a_change_that_failed_is_not_compared_with_the_change_before() {
    let settled = Duration::from_millis(1);
    for world in World::both(|| Settings { settled, ..Settings::default() }).await {
        world.not_updated("error").await;
        let row = world.store.find("error").await.unwrap().unwrap();
        let runtime = row.runtime_id.unwrap().to_string();
        world.shoot(&row.shoot_name, json!({RUNTIME_ANNOTATION: runtime})).await;
        sent(&world.store, &row, &json!({"autoScalerMax": 20})).await;

        assert_eq!(world.counts("drift", false).await, [0, 0, 0, 0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_was_sent_just_now_is_not_compared_with_a_shoot_that_was_read_before() {
    for world in World::both(Settings::default).await {
        let other = json!({"machineType": "m5.large"});
        for (number, instance) in [(1, "long-ago"), (2, "just-now")] {
            let runtime = Uuid::from_u128(number);
            let row = world.made(2, instance, Some(runtime)).await;
            world.shoot(&row.shoot_name, json!({RUNTIME_ANNOTATION: runtime.to_string()})).await;
            let broker = world.days_ago(if number == 1 { 2 } else { 0 });
            sent(&broker.parts().store, &row, &other).await;
        }

        let run = world.run("drift", false).await;

        let found: Vec<&str> = run.report.details.iter().map(|it| it.item.as_str()).collect();
        assert_eq!(found, ["long-ago"]);
    }
}
