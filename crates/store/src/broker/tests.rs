//! Every statement goes by an index.

use super::{
    accept, accept_new, archive, bindings, change_order, changes, creations, import, instances,
    job_details, jobs, limits, list, lms_tenants, maintenances, orchestrations, pool, removed,
    states,
};
use crate::{
    Set,
    engine::{change, continue_from, import as operations, of_instances, sums, unfinished},
    explained::{go_by_indexes, reads_the_whole, rows_read},
    testing::{Databases, TestDatabase},
};

#[tokio::test]
async fn every_statement_goes_by_an_index() {
    for (_, test) in Databases::both().await {
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Broker).await.unwrap();
        let sqlite = database.is_sqlite();
        let lists = [
            crate::audit::LISTS,
            import::LISTS,
            instances::LISTS,
            limits::TEXTS,
            list::LISTS,
            orchestrations::LISTS,
            removed::LISTS,
            states::LISTS,
            sums::LISTS,
            of_instances::LISTS,
            job_details::LISTS,
        ]
        .concat();
        let lists = lists
            .into_iter()
            .map(|(text, index)| (if sqlite { text.sqlite } else { text.postgres }, index));
        let texts = [
            accept::TEXTS,
            accept_new::TEXTS,
            archive::TEXTS,
            bindings::TEXTS,
            change::TEXTS,
            change_order::TEXTS,
            changes::TEXTS,
            continue_from::TEXTS,
            creations::TEXTS,
            import::TEXTS,
            import::ORCHESTRATION_TEXTS,
            operations::TEXTS,
            instances::TEXTS,
            job_details::TEXTS,
            jobs::TEXTS,
            lms_tenants::TEXTS,
            maintenances::TEXTS,
            orchestrations::TEXTS,
            orchestrations::MEMBER_TEXTS[0],
            orchestrations::MEMBER_TEXTS[1],
            pool::TEXTS,
            states::TEXTS,
            sums::TEXTS,
            unfinished::TEXTS,
        ];

        go_by_indexes(&database, texts.concat().into_iter().chain(lists)).await;
        reads_the_whole(&database, "SELECT service_id FROM instances ORDER BY provider").await;
    }
}

#[tokio::test]
async fn no_list_reads_the_operations_of_each_instance() {
    const ROWS: i64 = 2_000;
    const INSTANCES: &str = "
        INSERT INTO instances (id, global_account, subaccount, service_id, plan_id, plan_name, provider, region,
            platform_region, shoot_name, dashboard_url, ordered, digest, accepted_by, created_at, updated_at)
        SELECT 'instance ' || n, 'account', 'subaccount', '', '', '', '', '', '', '', '', '', '',
            gen_random_uuid(), now(), now()
        FROM generate_series(1, 2000) n";
    const OPERATIONS: &str = "
        INSERT INTO operations (id, root, instance, kind, data_version, lane, state, ended_at, created_at, updated_at)
        SELECT gen_random_uuid(), gen_random_uuid(), 'instance ' || n, 'provision', 1, '', 'succeeded',
            now(), now(), now()
        FROM generate_series(1, 2000) n, generate_series(1, 3)";
    let test = TestDatabase::postgres().await;
    let database = test.database().await;
    for set in [Set::Engine, Set::Broker] {
        database.migrate(set).await.unwrap();
    }
    for text in [INSTANCES, OPERATIONS] {
        on!(database.writer(), |pool| sqlx::query(text).execute(pool).await.map(drop)).unwrap();
    }

    let parameters = r#"'["account"]', '["subaccount"]', NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        '["provisioning"]', false, '1970-01-01', ''"#;
    for (text, index) in list::LISTS {
        let has = |parameter| text.postgres.contains(parameter);
        let parameters = match (has("$15"), has("$14"), has("$13")) {
            (true, ..) => format!("{parameters}, 100, 0"),
            (_, true, _) => format!("{parameters}, 1000"),
            (.., true) => parameters.to_owned(),
            // Those by name have no page.
            _ => continue,
        };
        // Lists from the newest back begin behind all of them.
        let is_backwards = text.postgres.contains("created_at DESC");
        let start = if is_backwards { "2999-01-01" } else { "1970-01-01" };
        let parameters = parameters.replace("1970-01-01", start);
        let read = rows_read(&database, text.postgres, &parameters).await;
        // Nothing is left over or has expired, and no region and no plan is asked for.
        let finds_nothing = [
            "instances_left_over",
            "instances_expired",
            "instances_of_region",
            "instances_of_plan_name",
        ];
        assert!(read > 0 || finds_nothing.contains(index), "{index}: {}", text.postgres);
        // A plan may go over the rows of several indexes, and over what it found, but never over the operations of each instance.
        assert!(read <= 10 * ROWS, "{read} rows are read by {index}: {}", text.postgres);
    }
}
