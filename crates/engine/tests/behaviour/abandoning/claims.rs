//! Operations that are abandoned before a replica has begun them.

use engine::{
    PlantedBug, Settings, State, Storage as _,
    storage::{Outcome, Verdict},
};

use crate::script::{Act, Bench, MINUTE, settings};

async fn what_is_abandoned_while_its_claim_is_on_its_way(planted: PlantedBug) -> Vec<&'static str> {
    let bench = Bench::new();
    let slow = bench.store.line(bench.clock.clone());
    let engine = bench.start_on(&slow, Settings { planted, ..settings() });
    bench.clock.sleep(MINUTE / 6).await;
    slow.delay_claims(true);
    let id = bench.id();
    bench.order_for(id, "one instance", "tenant").await;
    bench.until(id, |row| row.held).await;

    assert!(engine.abandon(id, "not wanted").await.unwrap());
    // The next heartbeat renews the lease and cannot name what has not arrived.
    bench.clock.sleep(settings().lease / 2).await;
    slow.delay_claims(false);
    bench.clock.sleep(MINUTE).await;

    bench.env.ran(id)
}

#[tokio::test(start_paused = true)]
async fn p29_what_is_abandoned_while_its_claim_is_on_its_way_never_begins() {
    let ran = what_is_abandoned_while_its_claim_is_on_its_way(PlantedBug::Nothing).await;

    assert!(ran.is_empty(), "{ran:?}");
}

#[tokio::test(start_paused = true)]
async fn p29_is_red_when_late_claims_run() {
    let ran = what_is_abandoned_while_its_claim_is_on_its_way(PlantedBug::LateClaimsRun).await;

    assert!(!ran.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_operation_in_line_for_a_place_is_not_begun_once_it_was_abandoned() {
    let bench = Bench::new();
    let engine = bench.start(Settings { workers: 1, ..settings() });
    let (first, second) = (bench.id(), bench.id());
    bench.env.script(first, "Start", &[Act::Work(MINUTE / 3)]);
    bench.order_for(first, "one instance", "tenant").await;
    bench.order_for(second, "another instance", "tenant").await;
    bench.until(second, |row| row.held).await;

    assert!(engine.abandon(second, "not wanted").await.unwrap());
    bench.succeeds(first).await;
    bench.clock.sleep(MINUTE).await;

    assert!(bench.env.ran(second).is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_no_replica_knows_can_be_abandoned() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let id = bench.id();
    let mut order = engine::Order::<crate::script::ScriptedOperation> {
        id,
        instance: "one instance".into(),
        lane: "tenant".into(),
        input: (),
        data: crate::script::Data::default(),
        digest: None,
    }
    .encoded()
    .unwrap();
    order.kind = "of a newer program".into();
    bench.store.accept(order, &|_| Verdict::Queue).await.unwrap();
    bench.clock.sleep(60 * MINUTE).await;
    assert_eq!(bench.read(id).await.state, State::Pending);

    assert!(engine.abandon(id, "nobody can run it").await.unwrap());

    let ended = bench.read(id).await;
    assert_eq!((ended.state, ended.due_at), (State::Failed, None));
    let last = bench.store.history(id).pop().unwrap();
    assert_eq!((last.outcome, last.state), (Some(Outcome::Ended), State::Failed));
}
