//! How many bindings an instance may have, and which of them count.

use futures::future::join_all;
use store::{
    broker::{BeginBinding, NewBinding},
    on,
};
use uuid::Uuid;

use super::{HOLD, new};
use crate::bench::Bench;

pub(crate) async fn of_twenty_bindings_at_once_only_as_many_are_begun_as_may_be(b: Bench) {
    b.running("one").await;
    let ids: Vec<String> = (0..20).map(|at| format!("b-{at}")).collect();

    let begun = join_all(ids.iter().map(|id| b.begin("one", id))).await;

    let count = |wanted: fn(&BeginBinding) -> bool| begun.iter().filter(|it| wanted(it)).count();
    assert_eq!(count(|it| matches!(it, BeginBinding::Begun(_))), 10);
    assert_eq!(count(|it| matches!(it, BeginBinding::Full)), 10);
    assert_eq!(b.store.bindings_of("one").await.unwrap().len(), 10);
}

pub(crate) async fn what_has_expired_or_goes_does_not_count_to_the_limit(b: Bench) {
    b.running("one").await;
    for at in 0..10 {
        b.bound("one", &format!("b-{at}")).await;
    }
    assert_eq!(b.begin("one", "more").await, BeginBinding::Full);

    let first = b.binding("one", "b-0").await.unwrap();
    b.store.begin_unbinding(first.id, None, HOLD).await.unwrap().unwrap();
    b.begun("one", "more").await;
    assert_eq!(b.begin("one", "one-too-many").await, BeginBinding::Full);
    b.wait(601);

    b.begun("one", "after-all-have-expired").await;
}

pub(crate) async fn what_went_with_a_runtime_neither_counts_to_the_limit_nor_is_gone_on_with(
    b: Bench,
) {
    const NEXT: Uuid = Uuid::from_u128(8);
    b.running("one").await;
    for at in 0..10 {
        b.begun("one", &format!("b-{at}")).await;
    }
    let of_before = b.binding("one", "b-0").await.unwrap();
    b.wait(120);
    on!(b.database.writer(), |pool| {
        sqlx::query("UPDATE instances SET runtime_id = $1").bind(NEXT).execute(pool).await.map(drop)
    })
    .unwrap();

    let resumed = b.store.resume_binding(&of_before, HOLD).await.unwrap();
    let next = NewBinding { runtime: NEXT, ..new("one", "next") };
    let begun = b.store.begin_binding(&next, 1, HOLD).await.unwrap();

    assert_eq!(resumed, None);
    assert!(matches!(begun, BeginBinding::Begun(_)), "{begun:?}");
    let more = NewBinding { binding: "more", ..next };
    assert_eq!(b.store.begin_binding(&more, 1, HOLD).await.unwrap(), BeginBinding::Full);
}
