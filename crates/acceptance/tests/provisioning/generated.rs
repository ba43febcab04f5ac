//! The generated tests of the plan: each step twice, a crash at every point, every answer lost, each step failing for
//! good; all of it on the embedded database, a sample on PostgreSQL.

use broker::Details;
use engine::testing::{Part, prove_part, prove_some};
use uuid::Uuid;

use crate::{outside::Outside, trying::Trying};

async fn trying(accounts: usize, postgres: bool) -> Trying {
    Trying::on(Outside::start(&["aws"], accounts).await, postgres)
}

/// Instances that come back from a suspension.
async fn returning(accounts: usize, postgres: bool) -> Trying {
    let mut trying = trying(accounts, postgres).await;
    trying.suspended = Some(Details {
        sm_cluster_id: Some(Uuid::from_u128(7).to_string()),
        cluster_name: Some("demo-before".into()),
        ..Details::default()
    });
    trying
}

async fn older(accounts: usize, postgres: bool) -> Trying {
    let outside = Outside::start(&["aws", "azure"], accounts).await;
    let mut trying = Trying::on(outside, postgres);
    trying.legacy = true;
    trying
}

/// One part of the proof, on the embedded database.
async fn ends_the_same_way(part: usize, of: usize) {
    let trying = trying(300, false).await;

    let Part { tried, whole } = Box::pin(prove_part(&trying, &trying.databases, part, of)).await;

    assert!(tried.trials > 0 && whole.crashes > 60 && whole.lost_answers > 8, "{whole:?}");
}

engine::proven_in_parts!(ends_the_same_way:
    an_order_ends_the_same_way_whatever_happens_on_sqlite_in_the_first_third
    an_order_ends_the_same_way_whatever_happens_on_sqlite_in_the_second_third
    an_order_ends_the_same_way_whatever_happens_on_sqlite_in_the_last_third
);

#[tokio::test(flavor = "multi_thread")]
async fn an_order_ends_the_same_way_whatever_happens_on_postgres() {
    let trying = trying(50, true).await;

    let proof = prove_some(&trying, &trying.databases, 13).await;

    assert!(proof.trials > 8, "{proof:?}");
}

/// One part of the proof for a return, on the embedded database.
async fn returns_the_same_way(part: usize, of: usize) {
    let returning = returning(300, false).await;

    let Part { tried, whole } =
        Box::pin(prove_part(&returning, &returning.databases, part, of)).await;

    assert!(tried.trials > 0 && whole.crashes > 60 && whole.lost_answers > 8, "{whole:?}");
}

engine::proven_in_parts!(returns_the_same_way:
    a_return_ends_the_same_way_whatever_happens_on_sqlite_in_the_first_third
    a_return_ends_the_same_way_whatever_happens_on_sqlite_in_the_second_third
    a_return_ends_the_same_way_whatever_happens_on_sqlite_in_the_last_third
);

#[tokio::test(flavor = "multi_thread")]
async fn a_return_ends_the_same_way_whatever_happens_on_postgres() {
    let returning = returning(50, true).await;

    let proof = prove_some(&returning, &returning.databases, 13).await;

    assert!(proof.trials > 8, "{proof:?}");
}

/// One part of the proof for a legacy order, on the embedded database.
async fn ends_the_same_way_as_of_old(part: usize, of: usize) {
    let older = older(300, false).await;

    let Part { tried, whole } = Box::pin(prove_part(&older, &older.databases, part, of)).await;

    assert!(tried.trials > 0 && whole.crashes > 60 && whole.lost_answers > 8, "{whole:?}");
}

engine::proven_in_parts!(ends_the_same_way_as_of_old:
    an_order_of_the_older_documents_ends_the_same_way_whatever_happens_on_sqlite_in_the_first_third
    an_order_of_the_older_documents_ends_the_same_way_whatever_happens_on_sqlite_in_the_second_third
    an_order_of_the_older_documents_ends_the_same_way_whatever_happens_on_sqlite_in_the_last_third
);

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_the_older_documents_ends_the_same_way_whatever_happens_on_postgres() {
    let older = older(50, true).await;

    let proof = prove_some(&older, &older.databases, 17).await;

    assert!(proof.trials > 8, "{proof:?}");
}
