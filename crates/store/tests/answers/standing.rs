//! What works, is stuck or has failed, and which replicas live.

use engine::explain::Standstill;
use store::{operations::ExceededLimit, testing::Sort};

use crate::{
    LIMIT, MINUTE, World,
    plans::{Building, Resting},
};

pub(super) async fn a_stuck_operation_is_found(sort: Sort) {
    let world = World::new(sort).await;
    for instance in ["a", "b", "c", "d"] {
        world.built(instance, MINUTE).await;
    }
    world.count().await;
    let slow = world.begin::<Building>("slow").await;
    let resting = world.begin::<Resting>("resting").await;
    let since = world.clock.now();
    for id in [slow, resting] {
        world.waits(id).await;
    }

    assert_eq!(world.stuck().await, []);
    world.pass(4 * MINUTE);
    world.waits(slow).await;
    assert_eq!(world.stuck().await, [], "less than five minutes is never stuck");
    world.pass(2 * MINUTE);
    for id in [slow, resting] {
        world.waits(id).await;
    }
    let stuck = world.stuck().await;

    // The one that rests waits for its next try within its limit.
    assert_eq!(stuck.iter().map(|it| it.operation).collect::<Vec<_>>(), [slow]);
    let found = &stuck[0];
    assert_eq!(
        (found.step.as_deref(), found.standing),
        (Some("Wait_For_Parts"), Standstill::Waiting)
    );
    assert_eq!((found.beyond, found.since), (ExceededLimit::UsualOfStep, since));
    assert_eq!(
        (found.present_seconds, found.reason.as_str()),
        (6 * MINUTE, "the parts are on their way")
    );
    assert!((50..75).contains(&found.usual_seconds.unwrap()), "{found:?}");
    assert_eq!(found.limit_at, Some(since + LIMIT));
    assert!(world.operations.present(&["building"]).await.unwrap().stuck.is_empty());

    // Without a replica nothing goes on.
    world.operations.engine().kill();
    world.pass(6 * MINUTE);
    let stuck = world.stuck().await;
    assert_eq!(stuck.len(), 2);
    assert!(stuck.iter().all(|it| it.beyond == ExceededLimit::Due), "{stuck:?}");
}

pub(super) async fn what_works_what_failed_and_who_lives_is_told(sort: Sort) {
    let world = World::new(sort).await;
    let first = world.begin::<Building>("a").await;
    world.waits(first).await;
    let second = world.begin::<Building>("a").await;
    let third = world.begin::<Building>("b").await;
    world.waits(third).await;

    let present = world.operations.present(&[]).await.unwrap();

    assert_eq!((present.standing.waiting, present.standing.queued), (2, 1));
    assert_eq!((present.waits[0].operations, present.waits[0].standing), (2, Standstill::Waiting));
    assert_eq!(present.waits[0].reason, "the parts are on their way");
    let replicas = world.operations.replicas().await.unwrap();
    assert_eq!(replicas.len(), 1);
    world.operations.abandon(first, "it hangs".into()).await.unwrap();
    let failed = world.operations.failed_lately().await.unwrap();
    assert_eq!(failed.iter().map(|it| it.operation).collect::<Vec<_>>(), [first]);
    assert!(failed[0].reason.contains("it hangs"), "{failed:?}");
    world.until(second, |it| it.due_at.is_some()).await;
    world.pass(25 * 60 * MINUTE);
    // The others may fail meanwhile: their time is over as well.
    let failed = world.operations.failed_lately().await.unwrap();
    assert!(failed.iter().all(|it| it.operation != first), "{failed:?}");
}
