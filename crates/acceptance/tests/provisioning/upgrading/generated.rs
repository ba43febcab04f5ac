//! The generated tests of both plans: each step twice, a crash at every point, every answer lost, each step failing for good; all of
//! it on the embedded database, a sample on PostgreSQL. After each trial the maintenance is over.

use engine::testing::{Part, prove_part, prove_some};

use super::trying::{ClusterTrying, KymaTrying};
use crate::{outside::Outside, updating::trying::Trying as Runtimes};

async fn runtimes(accounts: usize, postgres: bool) -> Runtimes {
    Runtimes::on(Outside::start(&["aws"], accounts).await, postgres)
}

async fn kyma_ends_the_same_way(part: usize, of: usize) {
    let trying = KymaTrying(runtimes(200, false).await);

    let Part { tried, whole } = Box::pin(prove_part(&trying, &trying.0.databases, part, of)).await;

    assert!(tried.trials > 0 && whole.crashes > 20 && whole.lost_answers > 3, "{whole:?}");
}

engine::proven_in_parts!(kyma_ends_the_same_way:
    an_upgrade_of_kyma_ends_the_same_way_whatever_happens_on_sqlite_in_the_first_half
    an_upgrade_of_kyma_ends_the_same_way_whatever_happens_on_sqlite_in_the_second_half
);

async fn cluster_ends_the_same_way(part: usize, of: usize) {
    let trying = ClusterTrying(runtimes(200, false).await);

    let Part { tried, whole } = Box::pin(prove_part(&trying, &trying.0.databases, part, of)).await;

    assert!(tried.trials > 0 && whole.crashes > 15 && whole.lost_answers > 3, "{whole:?}");
}

engine::proven_in_parts!(cluster_ends_the_same_way:
    an_upgrade_of_a_cluster_ends_the_same_way_whatever_happens_on_sqlite_in_the_first_half
    an_upgrade_of_a_cluster_ends_the_same_way_whatever_happens_on_sqlite_in_the_second_half
);

#[tokio::test(flavor = "multi_thread")]
async fn upgrades_end_the_same_way_whatever_happens_on_postgres() {
    let kyma = KymaTrying(runtimes(30, true).await);
    let cluster = ClusterTrying(runtimes(30, true).await);

    let proofs = [
        Box::pin(prove_some(&kyma, &kyma.0.databases, 9)).await,
        Box::pin(prove_some(&cluster, &cluster.0.databases, 9)).await,
    ];

    assert!(proofs.iter().all(|proof| proof.trials > 3), "{proofs:?}");
}
