//! Every statement goes by an index.

use super::{accept, changes, import, intents, runtimes};
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
        let texts = [accept::TEXTS, changes::TEXTS, import::TEXTS, intents::TEXTS, runtimes::TEXTS];
        let sqlite = database.is_sqlite();
        let lists = import::LISTS
            .iter()
            .map(|(text, index)| (if sqlite { text.sqlite } else { text.postgres }, *index));

        go_by_indexes(&database, texts.concat().into_iter().chain(lists)).await;
        reads_the_whole(&database, "SELECT tenant FROM runtimes ORDER BY subaccount").await;
    }
}
