//! One tenant's backlog, poison steps, and what they may cost the others.

use std::time::Duration;

use engine::{PlantedBug, Settings, State, testing::Faults};

use crate::script::{Act, Bench, SECOND, settings};

/// How long a single operation of another tenant waits behind a backlog of working steps.
async fn wait_behind_backlog(planted: PlantedBug) -> Duration {
    let bench = Bench::with(planted, Faults::default());
    let few = Settings { workers: 10, in_hand: 40, planted, ..settings() };
    let _engine = bench.start(few);
    for number in 0..2_000 {
        let id = bench.id();
        bench.env.script(id, "Start", &[Act::Work(Duration::from_millis(100))]);
        bench.order_for(id, &format!("instance {number}"), "big tenant").await;
    }
    bench.clock.sleep(SECOND).await;

    let id = bench.id();
    bench.order_for(id, "another instance", "small tenant").await;
    let accepted = bench.clock.now();
    bench.until(id, |row| row.state != State::Pending).await;

    Duration::try_from(bench.env.times(id, "Start")[0].duration_since(accepted)).unwrap()
}

#[tokio::test(start_paused = true)]
async fn p19_a_single_operation_starts_at_once_behind_another_tenants_backlog() {
    assert!(wait_behind_backlog(PlantedBug::Nothing).await <= Duration::from_millis(250));
}

#[tokio::test(start_paused = true)]
async fn p19_is_red_when_a_lane_may_take_everything() {
    assert!(wait_behind_backlog(PlantedBug::Unfair).await > Duration::from_millis(250));
}

/// How long a hundred healthy operations take beside some poisonous ones.
async fn healthy_beside(poison: &[Act]) -> Duration {
    let bench = Bench::new();
    let _engine = bench.start(Settings { workers: 20, ..settings() });
    for act in poison {
        bench.order("Start", std::slice::from_ref(act)).await;
    }
    let began = bench.clock.now();
    let mut ids = Vec::new();
    for _ in 0..100 {
        ids.push(bench.order("Use", &[Act::Work(Duration::from_millis(20))]).await);
    }
    for id in ids {
        bench.succeeds(id).await;
    }
    Duration::try_from(bench.clock.now().duration_since(began)).unwrap()
}

#[tokio::test(start_paused = true)]
async fn p13_poison_steps_do_not_slow_the_others() {
    let clean = healthy_beside(&[]).await;
    let poisoned = healthy_beside(&[Act::Panic, Act::Hang, Act::Fail, Act::Fatal]).await;

    assert!(poisoned <= clean * 2, "{clean:?} became {poisoned:?}");
}
