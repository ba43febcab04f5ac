//! Each step of the driver that tells customers something is disturbed in every way: what it tells is told once. What is told is in
//! `announcing.rs`.

use engine::testing::{Proof, prove_step};
use store::testing::Sort;

use crate::announcing::{Announcing, Course};

/// Disturbs one step in every way. The other steps are disturbed in `generated.rs`.
async fn is_told_once_whatever_happens_at(sort: Sort, course: Course, step: &str) -> Proof {
    let announcing = Announcing::on(sort, course).await;
    let proof = Box::pin(prove_step(&announcing, &announcing.trials, step)).await;
    assert!(proof.crashes > 1, "{proof:?}");
    proof
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_scheduled_is_told_once_whatever_happens() {
    is_told_once_whatever_happens_at(Sort::Sqlite, Course::Now, "Resolve_Targets").await;
    let proof =
        is_told_once_whatever_happens_at(Sort::Sqlite, Course::Now, "Send_Notification").await;

    assert!(proof.lost_answers > 0, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_begins_later_is_told_once_whatever_happens() {
    is_told_once_whatever_happens_at(Sort::Sqlite, Course::Later, "Refresh_Targets").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_out_is_told_once_whatever_happens() {
    for sort in [Sort::Sqlite, Sort::Postgres] {
        let proof = is_told_once_whatever_happens_at(sort, Course::Now, "Notify_Left_Out").await;

        assert!(proof.lost_answers > 0, "{proof:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_canceled_is_told_once_whatever_happens() {
    let proof =
        is_told_once_whatever_happens_at(Sort::Sqlite, Course::Canceled, "Cancel_Notification")
            .await;

    assert!(proof.lost_answers > 0, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_scheduled_or_canceled_is_told_once_whatever_happens_on_postgres() {
    is_told_once_whatever_happens_at(Sort::Postgres, Course::Now, "Send_Notification").await;
    is_told_once_whatever_happens_at(Sort::Postgres, Course::Canceled, "Cancel_Notification").await;
}
