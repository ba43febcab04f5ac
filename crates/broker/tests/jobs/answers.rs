//! What operators ask about the pool of accounts and everything on one screen, from the garden and from operations.

use broker::{
    answers::{AccountCounts, Answers, CapacityState, PoolReading},
    jobs::Settings,
    operations::view::Operations,
};
use clients::gardener::AccountNeed;
use serde_json::Value;
use store::broker::PoolSample;

use crate::world::World;

const DOCUMENT: &str = include_str!("../../../../docs/openapi/answers.yaml");

/// Every field is described, and those that are always there are.
fn fits(schemas: &Value, name: &str, value: &Value) {
    let schema = &schemas[name];
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{name}: {value}");
        return;
    }
    let fields = value.as_object().unwrap();
    for required in schema["required"].as_array().unwrap() {
        assert!(fields.contains_key(required.as_str().unwrap()), "{name} lacks {required}");
    }
    let named =
        |described: &Value| Some(described["$ref"].as_str()?.rsplit('/').next()?.to_owned());
    for (field, value) in fields {
        let described = schema["properties"].get(field);
        let described = described.unwrap_or_else(|| panic!("{name} has {field}"));
        if let Some(name) = named(described) {
            fits(schemas, &name, value);
        }
        if let Some(name) = named(&described["items"]) {
            value.as_array().unwrap().iter().for_each(|item| fits(schemas, &name, item));
        }
    }
}

fn answers(world: &World) -> Answers {
    Answers::new(Operations::new(world.engine.clone()), world.jobs.clone(), &world.env)
}

fn aws(reading: &PoolReading) -> AccountCounts {
    let aws = |it: &&AccountCounts| it.hyperscaler == "aws" && !it.eu_access;
    reading.accounts.iter().find(aws).unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pool_and_how_long_it_lasts_are_told_as_provisionings_see_it() {
    for world in World::both(Settings::default).await {
        let first = answers(&world);
        let before = aws(&first.pool().await.unwrap());
        let pool = world.env.gardener.pool(world.env.account_bindings);
        let need = AccountNeed { hyperscaler: "aws", eu_access: false };
        pool.claim("ga-9", need).await.unwrap();

        assert_eq!(aws(&first.pool().await.unwrap()), before, "the garden is not read each time");
        let second = answers(&world);
        let now = aws(&second.pool().await.unwrap());
        assert_eq!((now.free, now.claimed), (before.free - 1, before.claimed + 1));
        assert_eq!((now.dirty, now.shared), (before.dirty, before.shared));
        assert!(before.dirty == 1 && before.free > 1);

        // A day ago one less was in use.
        let hour = PoolSample::hour_of(world.clock.now()) - 24;
        let (hyperscaler, eu_access) = ("aws".to_owned(), false);
        let sample = PoolSample { hour, hyperscaler, eu_access, used: before.used() };
        world.store.note_pool(&[sample.clone(), sample]).await.unwrap();
        let list = second.capacity().await.unwrap();
        let aws = list.capacity.iter().find(|it| it.hyperscaler == "aws").unwrap();
        let per_day = aws.used_per_day.unwrap();
        assert!((0.9..=1.0).contains(&per_day), "{aws:?}");
        assert_ne!(aws.state, CapacityState::Empty);

        second.compute().await.unwrap();
        let gauges = second.gauges();
        assert!(gauges.at.is_some() && gauges.replicas >= 1);
        assert!(gauges.accounts.contains(&now) && gauges.stuck.is_empty());
        let kept = world.store.pool_since(world.clock.now()).await.unwrap();
        assert!(kept.iter().any(|it| it.hyperscaler == "aws" && it.used == now.used()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_screen_has_jobs_replicas_and_the_pool_and_plans_are_counted() {
    for world in World::both(Settings::default).await {
        world.made(0, "made", None).await;
        world.run("drift", false).await;
        let answers = answers(&world);

        answers.count_ended().await;
        let status = answers.status().await.unwrap();

        assert_eq!((status.failed_operations, status.present.stuck_operations), (0, 0));
        assert!(!status.capacity.is_empty() && status.capacity_problem.is_none());
        assert_eq!(status.jobs.len(), 3);
        assert!(!status.replicas.is_empty());
        let document: Value = serde_saphyr::from_str(DOCUMENT).unwrap();
        let schemas = &document["components"]["schemas"];
        fits(schemas, "Status", &serde_json::to_value(&status).unwrap());
        let pool = answers.pool().await.unwrap();
        fits(schemas, "Pool", &serde_json::to_value(&pool).unwrap());
        let capacity = answers.capacity().await.unwrap();
        fits(schemas, "CapacityList", &serde_json::to_value(&capacity).unwrap());
        let success = Operations::new(world.engine.clone()).success(2).await.unwrap();
        let ended: Vec<_> =
            success.iter().map(|it| (it.kind.as_str(), it.plan.as_str(), it.succeeded)).collect();
        assert!(ended.contains(&("provision", "aws", 1)), "{ended:?}");
        assert!(ended.contains(&("job", "", 1)), "{ended:?}");
    }
}
