//! A garden without the webhooks of the providers' extensions answers as the bare API server of its version does.

use simulators::{garden::Version, pace::Speed};

use super::{
    create,
    table::rows,
    updates::{send, settled},
};
use crate::support::Garden;

/// The requests: `create` a changed Shoot, `put` a changed one that was reconciled.
const TABLE: &str = include_str!("bare.txt");

#[tokio::test(flavor = "multi_thread")]
async fn without_the_webhooks_of_providers_only_gardener_s_own_rules_hold() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(garden) = Garden::bare(version, Speed::MAX).await else { return };
        let live = settled(&garden).await;
        let mut wrong = Vec::new();
        for row in rows(TABLE) {
            let (code, said) = match row.request.strip_prefix("create ") {
                Some(changes) => create(&garden, changes).await,
                None => send(&garden, &live, row.request).await,
            };
            wrong.extend(row.judge(version, code, &said));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
