//! Accounts that were given back are emptied before they are free again.

use broker::jobs::Settings;
use serde_json::json;

use crate::world::World;

const DIRTY: &str = "aws-dirty-1";
const KEY: &str = "AKIA-aws-dirty-1";

async fn is_dirty(world: &World, name: &str) -> bool {
    let dirty = world.env.gardener.pool(world.env.account_bindings).dirty().await.unwrap();
    dirty.iter().any(|binding| binding.name() == name)
}

fn volume(world: &World, in_use: bool) {
    world.tell("aws", "add-key", &json!({ "key": KEY }));
    let with = json!({"key": KEY, "id": "vol-1", "region": "cn-north-1", "in_use": in_use});
    world.tell("aws", "add-volume", &with);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_free_when_it_is_empty() {
    let world = World::new(Settings::default()).await;
    volume(&world, false);
    assert!(is_dirty(&world, DIRTY).await);

    let dry = world.run("subscription-cleanup", true).await;
    assert!(dry.report.done >= 1 && is_dirty(&world, DIRTY).await);
    let mut runs = 0;
    while is_dirty(&world, DIRTY).await {
        world.run("subscription-cleanup", false).await;
        runs += 1;
        assert!(runs < 10, "the volume goes, and the account with it");
    }

    assert!(runs >= 2, "while the volume is being deleted, the account stays dirty");
    let pool = world.env.gardener.pool(world.env.account_bindings);
    let free = pool.list("hyperscalerType=aws,!dirty,!tenantName").await.unwrap();
    assert!(free.iter().any(|binding| binding.name() == DIRTY));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_with_something_in_use_stays_dirty() {
    let world = World::new(Settings::default()).await;
    volume(&world, true);

    let run = world.run("subscription-cleanup", false).await;

    let detail = run.report.details.iter().find(|detail| detail.item == DIRTY).unwrap();
    assert!(detail.text.contains("vol-1 is in use"), "{detail:?}");
    assert!(run.report.failed >= 1 && is_dirty(&world, DIRTY).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_pays_for_a_shoot_stays_as_it_is() {
    let world = World::new(Settings::default()).await;
    volume(&world, false);
    world.shoot_with("still-there", "/spec/secretBindingName", DIRTY).await;

    for dry_run in [true, false] {
        let run = world.run("subscription-cleanup", dry_run).await;

        let detail = run.report.details.iter().find(|detail| detail.item == DIRTY).unwrap();
        assert_eq!(detail.text, "a Shoot uses it");
    }
    assert!(is_dirty(&world, DIRTY).await);
    let volumes = world.running.landscape.objects("aws");
    assert!(volumes.iter().any(|object| object.id == "vol-1"), "{volumes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_azure_account_is_free_when_its_resource_groups_are_gone() {
    const NAME: &str = "azure-dirty-1";
    let world = World::new(Settings::default()).await;
    let subscription = format!("subscription-of-{NAME}");
    let with = json!({
        "subscription": subscription, "tenant": "landscape", "client": format!("client-of-{NAME}"),
        "secret": format!("secret-of-{NAME}"),
    });
    world.tell("azure", "add-subscription", &with);
    let group = json!({"subscription": subscription, "group": "left", "tags": {}});
    world.tell("azure", "add-group", &group);
    world.tell("azure", "stick-deletion", &group);

    let detail = |run: broker::jobs::LastRun| {
        run.report.details.into_iter().find(|detail| detail.item == NAME).unwrap()
    };
    let dry = detail(world.run("subscription-cleanup", true).await);
    assert_eq!(dry.text, "would be emptied and returned to the pool");
    for _ in 0..2 {
        let stays = detail(world.run("subscription-cleanup", false).await);
        assert_eq!(stays.text, "1 volumes or resource groups are being deleted");
        assert!(is_dirty(&world, NAME).await);
    }
    let mut goes = group.clone();
    goes["on"] = json!(false);
    world.tell("azure", "stick-deletion", &goes);
    let mut runs = 0;
    while is_dirty(&world, NAME).await {
        world.run("subscription-cleanup", false).await;
        runs += 1;
        assert!(runs < 10, "the resource group goes, and the account with it");
    }

    let pool = world.env.gardener.pool(world.env.account_bindings);
    let free = pool.list("hyperscalerType=azure,!dirty,!tenantName").await.unwrap();
    assert!(free.iter().any(|binding| binding.name() == NAME));
}
