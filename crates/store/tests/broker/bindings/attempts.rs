//! Attempts at a binding: one at a time, and taken over from who died.

use std::time::Duration;

use futures::future::join_all;
use store::broker::Attempt;

use super::{HOLD, LIFETIME, SECRET};
use crate::bench::Bench;

pub(crate) async fn an_attempt_that_was_taken_over_neither_finishes_nor_forgets_a_binding(
    b: Bench,
) {
    b.running("one").await;
    let slow = b.begun("one", "b-1").await;
    let stored = b.binding("one", "b-1").await.unwrap();

    assert_eq!(b.store.resume_binding(&stored, HOLD).await.unwrap(), None);
    assert_eq!(b.store.begin_unbinding(stored.id, None, HOLD).await.unwrap(), None);
    b.wait(120);
    let second = b.store.resume_binding(&stored, HOLD).await.unwrap().unwrap();

    let until = b.clock.now() + LIFETIME;
    assert!(!b.store.finish_binding(slow, b"late", until).await.unwrap());
    assert!(!b.store.forget_binding(slow).await.unwrap());
    assert_eq!(b.store.begin_unbinding(stored.id, Some(slow), HOLD).await.unwrap(), None);
    assert!(b.store.finish_binding(second, SECRET.as_bytes(), until).await.unwrap());
    let found = b.binding("one", "b-1").await.unwrap();
    assert_eq!(found.credentials.as_deref(), Some(SECRET.as_bytes()));
}

pub(crate) async fn of_many_who_clean_up_one_gets_each_binding(b: Bench) {
    b.running("one").await;
    b.bound("one", "expired").await;
    b.begun("one", "abandoned").await;
    assert_eq!(b.store.due_bindings(10).await.unwrap(), []);
    b.wait(600);
    let due = b.store.due_bindings(10).await.unwrap();
    assert_eq!(due.len(), 2);

    for binding in due {
        let takes = (0..10).map(|_| b.store.begin_unbinding(binding.id, None, HOLD));
        let taken: Vec<Attempt> =
            join_all(takes).await.into_iter().filter_map(Result::unwrap).collect();
        assert_eq!(taken.len(), 1, "{binding:?}");
        b.store.postpone_unbinding(taken[0], Duration::from_secs(30)).await.unwrap();
    }

    assert_eq!(b.store.due_bindings(10).await.unwrap(), []);
    let expired = b.binding("one", "expired").await.unwrap();
    let asked = b.store.begin_unbinding(expired.id, None, HOLD).await.unwrap();
    let also = b.store.begin_unbinding(expired.id, None, HOLD).await.unwrap();
    assert!(asked.is_some() && also.is_none(), "a removal that was given up is nobody's");
    b.store.postpone_unbinding(asked.unwrap(), Duration::from_secs(30)).await.unwrap();
    b.wait(30);
    assert_eq!(b.store.due_bindings(10).await.unwrap().len(), 2);
    assert_eq!(b.store.due_bindings(1).await.unwrap().len(), 1);
}
