//! Every statement goes by an index.

use super::{accept, changes, intents, runtimes};
use crate::{
    Set,
    explained::{go_by_indexes, reads_the_whole},
    testing::Databases,
};

#[tokio::test]
async fn every_statement_goes_by_an_index() {
    for (_, test) in Databases::both().await {
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Provisioner).await.unwrap();
        let texts = [accept::TEXTS, changes::TEXTS, intents::TEXTS, runtimes::TEXTS];

        go_by_indexes(&database, texts.concat()).await;
        reads_the_whole(&database, "SELECT tenant FROM runtimes ORDER BY subaccount").await;
    }
}
