//! An accept that is repeated is answered from what was stored.

use std::ops::Deref;

use engine::{
    OperationId, State, Storage,
    storage::{Acceptance, Unfinished, Verdict},
};

use crate::bench::{Bench, KIND, new, queue};

pub(crate) async fn p03_a_repetition_is_answered_and_not_stored<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let mut first = new("i", "a");
    first.digest = Some(b"digest".to_vec());
    let mut again = first.clone();
    again.id = OperationId::now_v7();
    let same = |unfinished: &[Unfinished]| match unfinished {
        [] => Verdict::Queue,
        [one, ..] => {
            assert_eq!(one.digest.as_deref(), Some(&b"digest"[..]));
            assert_eq!((one.kind.as_str(), one.state), (KIND, State::Pending));
            assert!(one.admitted && !one.canceling);
            Verdict::Same(one.id)
        }
    };
    let (id, repeated) = (first.id, again.id);
    bench.store.accept(first, &same).await.unwrap();

    let answer = bench.store.accept(again, &same).await.unwrap();

    assert_eq!(answer, Acceptance::Same(id));
    assert_eq!(bench.store.read(repeated).await.unwrap(), None);
}

pub(crate) async fn p03_an_accept_repeated_after_a_lost_answer_stores_nothing_more<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let operation = new("i", "a");
    let id = operation.id;
    bench.store.accept(operation.clone(), &queue).await.unwrap();

    let answer = bench.store.accept(operation, &queue).await.unwrap();

    assert_eq!(answer, Acceptance::Same(id));
    assert_eq!(bench.store.journal(id).await.unwrap().len(), 1);
}

pub(crate) async fn p03_what_was_stored_answers_its_repetition_whatever_came_since<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let first = new("i", "a");
    let (id, _) = bench.accept_new(first.clone()).await;
    let held = bench.claim(replica, 1).await.remove(0);
    bench.commit(replica, bench.ends(&held, State::Failed)).await;
    let since = bench.accept("i").await;

    let again = bench.store.accept(first, &|_| Verdict::Same(since)).await.unwrap();

    assert_eq!(again, Acceptance::Same(id));
}
