//! The generated tests of the plan: each step twice, a crash at every point, every answer lost, each step failing for
//! good; all of it on the embedded database, a sample on PostgreSQL.

use engine::testing::{Part, prove_part, prove_some, prove_step};

use super::trying::Trying;
use crate::outside::Outside;

/// One part of the proof, on the embedded database.
async fn ends_the_same_way(part: usize, of: usize) {
    let trying = Trying::on(Outside::start(&["aws"], 200).await, false);

    let Part { tried, whole } = Box::pin(prove_part(&trying, &trying.databases, part, of)).await;

    assert!(tried.trials > 0 && whole.crashes > 20 && whole.lost_answers > 2, "{whole:?}");
}

engine::proven_in_parts!(ends_the_same_way:
    a_change_ends_the_same_way_whatever_happens_on_sqlite_in_the_first_half
    a_change_ends_the_same_way_whatever_happens_on_sqlite_in_the_second_half
);

#[tokio::test(flavor = "multi_thread")]
async fn a_change_ends_the_same_way_whatever_happens_on_postgres() {
    let trying = Trying::on(Outside::start(&["aws"], 30).await, true);

    let proof = Box::pin(prove_some(&trying, &trying.databases, 9)).await;

    assert!(proof.trials > 4, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_plan_ends_the_same_way_whatever_happens_on_sqlite() {
    let trying = Trying::of_plans(Outside::start(&["azure"], 60).await, false);

    for step in ["EDP_Registration", "Update_Kyma_Resource", "Save_Parameters"] {
        let proof = Box::pin(prove_step(&trying, &trying.databases, step)).await;
        assert!(proof.crashes > 1, "{step}: {proof:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_plan_ends_the_same_way_whatever_happens_on_postgres() {
    let trying = Trying::of_plans(Outside::start(&["azure"], 30).await, true);

    let proof = Box::pin(prove_some(&trying, &trying.databases, 9)).await;

    assert!(proof.trials > 4, "{proof:?}");
}
