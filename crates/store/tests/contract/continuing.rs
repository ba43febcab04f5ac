//! A retry is a new operation that continues a final one.

use std::ops::Deref;

use base::Failure;
use engine::{
    OperationId, State, Storage, StorageError,
    storage::{Acceptance, Unfinished, Verdict},
};
use store::engine::RetryResult;

use crate::bench::{Bench, after, landed, queue};

pub(crate) async fn a_continuation_runs_only_what_was_not_completed<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let mut end = bench.ends(&held, State::Failed);
    end.data = Some(b"learnt".to_vec());
    end.position.closed = vec!["start".into(), "remove".into(), "forget".into()];
    end.position.incomplete = vec!["remove/Ask".into()];
    bench.commit(replica, end).await;
    let old = bench.read(held.id).await;

    let new = OperationId::now_v7();
    let answer = bench.store.continue_from(held.id, new, &queue).await.unwrap();

    assert_eq!(answer, Acceptance::Started);
    let continued = bench.claim(replica, 10).await.remove(0);
    assert_eq!((continued.id, continued.root, continued.serial), (new, held.id, 0));
    assert_eq!(
        (continued.input.as_slice(), continued.data.as_slice()),
        (&b"input"[..], &b"learnt"[..])
    );
    assert_eq!(continued.position.closed, ["start", "forget"]);
    assert_eq!(
        (continued.position.state, continued.position.stage.as_ref()),
        (State::Pending, None)
    );
    assert_eq!(bench.read(held.id).await, old);
}

pub(crate) async fn a_continuation_of_a_continuation_has_the_first_as_its_root<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let first = bench.held(replica, "i").await;
    let mut last = first;
    let root = last.id;
    for _ in 0..3 {
        bench.commit(replica, bench.ends(&last, State::Failed)).await;
        let next = OperationId::now_v7();
        bench.store.continue_from(last.id, next, &queue).await.unwrap();
        last = bench.claim(replica, 10).await.remove(0);
        assert_eq!((last.id, last.root), (next, root));
    }
}

pub(crate) async fn only_a_final_operation_can_be_continued<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let new = OperationId::now_v7();

    let unfinished = bench.store.continue_from(held.id, new, &queue).await;
    let unknown = bench.store.continue_from(OperationId::new_v4(), new, &queue).await;

    assert!(matches!(unfinished, Err(StorageError::Refused(_))), "{unfinished:?}");
    assert!(matches!(unknown, Err(StorageError::Refused(_))), "{unknown:?}");
    let end = bench.ends(&held, State::Failed);
    let landed = bench.commit(replica, end.clone()).await;
    after(held, &end, &landed);
}

pub(crate) async fn only_the_newest_operation_of_an_instance_is_retried(
    bench: impl Deref<Target = Bench<store::EngineStore>>,
) {
    let replica = bench.join("r").await;
    let first = bench.held(replica, "i").await;
    bench.commit(replica, bench.ends(&first, State::Failed)).await;
    let second = bench.held(replica, "i").await;
    let new = OperationId::now_v7;

    let while_running = bench.store.continue_newest(first.id, new(), &refuse).await.unwrap();
    bench.commit(replica, bench.ends(&second, State::Failed)).await;
    let older = bench.store.continue_newest(first.id, new(), &refuse).await.unwrap();
    let newest = bench.store.continue_newest(second.id, new(), &refuse).await.unwrap();
    let again = bench.store.continue_newest(second.id, new(), &refuse).await.unwrap();

    assert_eq!(while_running, RetryResult::Yes(Acceptance::Refused(second.id)));
    assert_eq!(older, RetryResult::Older(second.id));
    assert_eq!(newest, RetryResult::Yes(Acceptance::Started));
    assert!(matches!(again, RetryResult::Yes(Acceptance::Refused(_))), "{again:?}");
    assert_eq!(bench.claim(replica, 10).await.len(), 1, "one continuation is stored");
}

pub(crate) async fn newer_operations_that_changed_nothing_do_not_stand_in_the_way_of_a_retry(
    bench: impl Deref<Target = Bench<store::EngineStore>>,
) {
    let replica = bench.join("r").await;
    let old = bench.held(replica, "i").await;
    bench.commit(replica, bench.ends(&old, State::Failed)).await;
    // Ended before anybody had it in hand.
    let unbegun = bench.accept("i").await;
    assert!(bench.store.abandon(unbegun, &abandoned()).await.unwrap());
    // Failed because it found nothing to work on.
    let refused = bench.held(replica, "i").await;
    let mut end = bench.ends(&refused, State::Failed);
    end.position.started_at = Some(bench.later(0));
    end.position.failure = Some(Failure::new("broker", "suspended", "it is suspended"));
    assert!(landed(&bench.commit(replica, end).await));

    let retry = bench.store.continue_newest(old.id, OperationId::now_v7(), &refuse).await.unwrap();

    assert_eq!(retry, RetryResult::Yes(Acceptance::Started));
}

pub(crate) async fn an_operation_abandoned_in_its_first_step_may_have_changed_something(
    bench: impl Deref<Target = Bench<store::EngineStore>>,
) {
    let replica = bench.join("r").await;
    let old = bench.held(replica, "i").await;
    bench.commit(replica, bench.ends(&old, State::Failed)).await;
    let begun = bench.held(replica, "i").await;
    assert!(bench.store.abandon(begun.id, &abandoned()).await.unwrap());
    assert_eq!(bench.read(begun.id).await.started_at, None, "its step has brought no result");

    let older = bench.store.continue_newest(old.id, OperationId::now_v7(), &refuse).await.unwrap();
    let newest = bench.store.continue_newest(begun.id, OperationId::now_v7(), &refuse).await;

    assert_eq!(older, RetryResult::Older(begun.id));
    assert_eq!(newest.unwrap(), RetryResult::Yes(Acceptance::Started));
}

fn abandoned() -> Failure {
    Failure::new("engine", "abandoned", "it hangs")
}

fn refuse(unfinished: &[Unfinished]) -> Verdict {
    unfinished.first().map_or(Verdict::Queue, |other| Verdict::Refuse(other.id))
}
