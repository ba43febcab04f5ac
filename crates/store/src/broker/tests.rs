//! Every statement goes by an index.

use super::{
    accept, accept_new, changes, creations, instances, limits, list, lms_tenants, removed, states,
};
use crate::{
    Set,
    engine::change,
    explained::{go_by_indexes, reads_the_whole},
    testing::Databases,
};

#[tokio::test]
async fn every_statement_goes_by_an_index() {
    for (_, test) in Databases::both().await {
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Broker).await.unwrap();
        let sqlite = database.is_sqlite();
        let lists =
            [instances::LISTS, limits::TEXTS, list::LISTS, removed::LISTS, states::LISTS].concat();
        let lists = lists
            .into_iter()
            .map(|(text, index)| (if sqlite { text.sqlite } else { text.postgres }, index));
        let texts = [
            accept::TEXTS,
            accept_new::TEXTS,
            change::TEXTS,
            changes::TEXTS,
            creations::TEXTS,
            instances::TEXTS,
            lms_tenants::TEXTS,
            states::TEXTS,
        ];

        go_by_indexes(&database, texts.concat().into_iter().chain(lists)).await;
        reads_the_whole(&database, "SELECT service_id FROM instances ORDER BY provider").await;
    }
}
