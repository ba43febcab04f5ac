//! Sums by step and by day.

use engine::State;
use store::{operations::StepOrder, testing::Sort};

use crate::{MINUTE, World, plans::Resting};

pub(super) async fn steps_and_days_are_summed_once(sort: Sort) {
    let world = World::new(sort).await;
    for instance in ["flaky-1", "b", "c"] {
        world.built(instance, 10 * MINUTE).await;
    }
    let canceled = world.begin::<Resting>("resting").await;
    world.waits(canceled).await;
    world.operations.cancel(canceled, "enough".into()).await.unwrap();
    world.until(canceled, |it| it.state == State::Canceled).await;

    world.count().await;
    world.count().await;

    let steps = world.operations.steps(24, None, StepOrder::Slowest, 10).await.unwrap();
    let named = |step: &str| {
        let of = |it: &&store::operations::StepReport| {
            it.kind == "building" && it.step.as_deref() == Some(step)
        };
        steps.iter().find(of).unwrap()
    };
    let waits = named("Wait_For_Parts");
    assert_eq!((waits.operations, waits.failures), (3, 0));
    assert!(waits.runs > 3, "{waits:?}");
    assert!((520.0..690.0).contains(&waits.median_seconds.unwrap()), "{waits:?}");
    let orders = named("Order_Parts");
    assert_eq!((orders.operations, orders.runs, orders.failures, orders.retries), (3, 4, 1, 1));
    let failing =
        world.operations.steps(24, Some("building"), StepOrder::Failing, 1).await.unwrap();
    assert_eq!(failing[0].step.as_deref(), Some("Order_Parts"));
    let success = world.operations.success(7).await.unwrap();
    let ended: Vec<_> = success
        .iter()
        .map(|it| (it.kind.as_str(), it.plan.as_str(), it.succeeded, it.failed, it.canceled))
        .collect();
    assert_eq!(ended, [("building", "aws", 3, 0, 0), ("resting", "aws", 0, 0, 1)]);
    assert_eq!(success[0].day.to_string(), "2026-01-01");

    world.pass(200 * 24 * 60 * MINUTE);
    world.operations.forget_sums().await.unwrap();
    assert_eq!(world.operations.success(90).await.unwrap(), []);
    assert_eq!(world.operations.steps(168, None, StepOrder::Slowest, 10).await.unwrap(), []);
}

pub(super) async fn sums_are_told_for_the_time_that_is_asked_for(sort: Sort) {
    let world = World::new(sort).await;
    world.built("first", MINUTE).await;
    world.pass(24 * 60 * MINUTE);
    world.built("second", MINUTE).await;
    world.count().await;
    let days = async |days| world.operations.success(days).await.unwrap().len();
    let operations = async |hours, kind| {
        let found = world.operations.steps(hours, kind, StepOrder::Slowest, 10).await.unwrap();
        let orders = found.iter().find(|it| it.step.as_deref() == Some("Order_Parts"));
        orders.map_or(0, |it| it.operations)
    };

    assert_eq!([days(1).await, days(2).await], [1, 2], "today, and yesterday");
    assert_eq!([operations(1, None).await, operations(30, None).await], [1, 2]);
    assert_eq!(operations(30, Some("building")).await, 2);
    assert_eq!(operations(30, Some("resting")).await, 0);

    // Whatever can be asked for is kept.
    world.pass(6 * 24 * 60 * MINUTE - 60 * MINUTE);
    world.operations.forget_sums().await.unwrap();
    assert_eq!(operations(168, None).await, 2, "of seven days");
    world.pass(82 * 24 * 60 * MINUTE);
    world.operations.forget_sums().await.unwrap();
    assert_eq!((days(90).await, operations(168, None).await), (2, 0), "of ninety days");
    assert_eq!(days(200).await, days(90).await, "nobody asks for more");
}
