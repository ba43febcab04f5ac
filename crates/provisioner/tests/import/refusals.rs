//! What is not taken over: single rows, and whole databases of something else.

use serde_json::json;
use store::{
    import::{Mode, ProvisionerSource, SourceKey},
    testing::originals::OriginalDatabase,
};

use crate::{
    World,
    original::{Situation, database, id},
};

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_taken_over_is_listed_and_the_rest_is() {
    let from = database().await;
    let set = |number: usize, column: &str, value: &str| {
        format!(
            "UPDATE gardener_config SET {column} = {value} WHERE cluster_id = '{}'",
            id(number, 1)
        )
    };
    from.run(&set(0, "project_name", "'another'")).await;
    from.run(&set(1, "provider_specific_config", "'{\"unknown\": 1}'")).await;
    from.run(&set(2, "name", "'c-3'")).await;
    from.run(&format!("DELETE FROM gardener_config WHERE cluster_id = '{}'", id(4, 1))).await;
    for world in World::both().await {
        let report = world.import(&from, Mode::Apply).await;

        let problem = |number: usize| {
            let subject = id(number, 1).to_string();
            let mut all = report.findings.iter().filter(|it| it.subject.contains(&subject));
            all.next().map(|it| it.problem.clone()).unwrap_or_default()
        };
        assert!(problem(0).contains("project another"), "{}", problem(0));
        assert!(problem(1).contains("fits no provider"), "{}", problem(1));
        assert!((problem(2) + &problem(3)).contains("has the Shoot c-3"), "{:#?}", report.findings);
        assert!(!problem(4).is_empty(), "{:#?}", report.findings);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_and_the_database_of_something_else_are_told() {
    let from = database().await;
    let open = async |url: &str, key: Option<&str>| {
        let key = key.map(|key| SourceKey::new(key.to_owned().into()).unwrap());
        let opened = ProvisionerSource::open(&url.to_owned().into(), key).await;
        base::failure::chain(&opened.unwrap_err())
    };
    let keb = OriginalDatabase::keb().await;

    let wrong = open(from.url(), Some("another key of the right length!")).await;
    let missing = open(from.url(), None).await;
    let other = open(keb.url(), None).await;

    assert!(wrong.contains("opens none"), "{wrong}");
    assert!(missing.contains("KCP_IMPORT_KEY"), "{missing}");
    assert!(other.contains("table cluster"), "{other}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_older_originals_do_not_have_are_not_needed() {
    let from = database().await;
    for table in
        ["signing_algorithms", "oidc_config", "dns_providers", "dns_config", "runtime_upgrade"]
    {
        from.run(&format!("DROP TABLE {table}")).await;
    }
    from.run("ALTER TABLE cluster ADD COLUMN of_tomorrow text DEFAULT 'x'").await;
    from.insert(
        "cluster",
        &[json!({"id": id(99, 1), "tenant": "t", "creation_timestamp": "2026-01-01T00:00:00"})],
    )
    .await;
    for world in World::both().await {
        let report = world.import(&from, Mode::Apply).await;

        let all = Situation::ALL.len() as u64;
        assert_eq!(report.counts["runtimes"].taken, all - 2, "{report:#?}");
        assert!(report.findings.iter().any(|it| it.problem.contains("project")), "{report:#?}");
    }
}
