//! The generated tests of the plan: each step twice, a crash at every point, every answer lost, each step failing for
//! good; all of it on the embedded database, a sample on PostgreSQL.

use engine::testing::{prove, prove_some};

use crate::{outside::Outside, trying::Trying};

#[tokio::test(flavor = "multi_thread")]
async fn an_order_ends_the_same_way_whatever_happens_on_sqlite() {
    let trying = Trying::on(Outside::start(&["aws"], 300).await, false);

    let proof = prove(&trying, &trying.trials()).await;

    println!("{proof:?}");
    assert!(proof.crashes > 60 && proof.lost_answers > 15, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_ends_the_same_way_whatever_happens_on_postgres() {
    let trying = Trying::on(Outside::start(&["aws"], 50).await, true);

    let proof = prove_some(&trying, &trying.trials(), 13).await;

    assert!(proof.trials > 8, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_the_older_documents_ends_the_same_way_whatever_happens() {
    let outside = Outside::start(&["aws", "azure"], 100).await;
    let mut trying = Trying::on(outside, false);
    trying.legacy = true;

    let proof = prove_some(&trying, &trying.trials(), 9).await;

    assert!(proof.trials > 8, "{proof:?}");
}
