//! Runtimes of the original provisioner, taken over into both of our databases.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod original;
mod recorded;

use base::Clock;
use engine::{PlantedBug, State, Storage};
use original::{KEY, PROJECT, Situation, database, id, provider_config};
use provisioner::{
    configuration::Provider, document::Document, import::Import, operations::Input,
    status::OperationType,
};
use serde_json::json;
use store::{
    EngineStore, ProvisionerStore, Sealer, Set,
    engine::Time,
    import::{Error, Mode, ProvisionerSource, Report, SourceKey},
    testing::{Databases, TestDatabase, originals::OriginalDatabase},
};

struct World {
    store: ProvisionerStore,
    _database: TestDatabase,
}

impl World {
    async fn both() -> Vec<Self> {
        let mut worlds = Vec::new();
        for (_, test) in Databases::both().await {
            let database = test.database().await;
            for set in [Set::Engine, Set::Provisioner] {
                database.migrate(set).await.unwrap();
            }
            let engine =
                EngineStore::new(database, Sealer::generate(), Time::Database, PlantedBug::Nothing);
            let store = ProvisionerStore::new(engine, Clock::running());
            worlds.push(Self { store, _database: test });
        }
        worlds
    }

    async fn import(&self, from: &OriginalDatabase, mode: Mode) -> Report {
        self.import_as(from, mode, false).await.unwrap()
    }

    async fn import_as(
        &self,
        from: &OriginalDatabase,
        mode: Mode,
        unfinished: bool,
    ) -> Result<Report, Error> {
        self.import_with(KEY, from, mode, unfinished).await
    }

    async fn import_with(
        &self,
        key: &str,
        from: &OriginalDatabase,
        mode: Mode,
        unfinished: bool,
    ) -> Result<Report, Error> {
        let key = SourceKey::new(key.to_owned().into()).unwrap();
        let mut source = ProvisionerSource::open(&from.url().to_owned().into(), Some(key)).await?;
        let import = Import { store: &self.store, project: PROJECT, mode, unfinished };
        Box::pin(import.run(&mut source)).await
    }

    async fn all(&self) -> String {
        format!("{:?}", self.store.list(None, None, 1_000).await.unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runtimes_of_every_provider_and_state_are_taken_over_once() {
    let from = database().await;
    for world in World::both().await {
        let dry = world.import(&from, Mode::DryRun).await;
        assert!(world.store.list(None, None, 10).await.unwrap().is_empty());
        let first = world.import(&from, Mode::Apply).await;
        let before = world.all().await;

        let second = world.import(&from, Mode::Apply).await;

        assert_eq!(dry, first);
        assert_eq!(world.all().await, before);
        let all = Situation::ALL.len() as u64;
        let count = first.counts["runtimes"];
        assert_eq!((count.found, count.taken, count.left_out), (all, all - 2, 2), "{first:#?}");
        let again = second.counts["runtimes"];
        assert_eq!((again.taken, again.present), (0, all - 2));
        for (number, situation) in Situation::ALL.into_iter().enumerate() {
            let found = world.store.find(id(number, 1)).await.unwrap();
            assert_eq!(found.is_some(), !situation.is_running(), "{situation:?}");
            let Some(row) = found else { continue };
            assert_eq!(row.deleted_at.is_some(), situation == Situation::Removed);
            assert_eq!(row.provisioned_at.is_some(), situation != Situation::NotMade);
            assert_eq!((row.tenant.as_str(), row.shoot_uid), ("tenant", None));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_is_read_from_all_of_its_tables() {
    let from = database().await;
    for world in World::both().await {
        world.import(&from, Mode::Apply).await;

        let row = world.store.find(id(0, 1)).await.unwrap().unwrap();
        let document = Document::read(&row.document).unwrap();
        let configuration = document.configuration;
        assert_eq!(configuration.administrators, ["jo@example.test", "plain@example.test"]);
        let cluster = configuration.cluster;
        assert_eq!((cluster.volume_size_gb, cluster.auto_scaler_max), (Some(80), 4));
        let oidc = cluster.oidc.unwrap();
        assert_eq!((oidc.client_id.as_str(), oidc.signing_algs.len()), ("client", 2));
        let dns = cluster.dns.unwrap();
        assert_eq!(dns.providers[0].domains_include, ["a.test", "b.test"]);
        let kyma = configuration.kyma.unwrap();
        assert_eq!((kyma.version.as_str(), kyma.components.len()), ("2.10.0", 2));
        assert!(kyma.components[0].configuration[0].secret);
        assert_eq!(document.upgrade.unwrap().before.version, "2.9.3");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_of_a_provider_is_understood() {
    let from = database().await;
    for world in World::both().await {
        world.import(&from, Mode::Apply).await;

        for (number, (provider, _)) in provider_config().into_iter().enumerate() {
            let row = world.store.find(id(number, 1)).await.unwrap();
            let Some(row) = row else { continue };
            let cluster = Document::read(&row.document).unwrap().configuration.cluster;
            let found = match cluster.provider_config {
                Provider::Aws(aws) => ("aws", aws.zones.len()),
                Provider::Azure(_) => ("azure", 1),
                Provider::Gcp(gcp) => ("gcp", gcp.zones.len()),
                Provider::OpenStack(openstack) => ("openstack", openstack.zones.len()),
            };
            assert_eq!((found.0, found.1 > 0), (provider, true), "{number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_are_history_in_the_words_of_the_api() {
    let from = database().await;
    for world in World::both().await {
        world.import_as(&from, Mode::Apply, true).await.unwrap();

        for (number, situation) in Situation::ALL.into_iter().enumerate() {
            let read = world.store.engine().read(id(number, 2)).await.unwrap().unwrap();
            let input: Input = serde_json::from_slice(&read.input).unwrap();
            assert_eq!(input.known_as, OperationType::ProvisionNoInstall);
            let expected = match situation {
                Situation::NotMade | Situation::BeingMade => State::Failed,
                _ => State::Succeeded,
            };
            assert_eq!(read.state, expected, "{situation:?}");
            let journal = world.store.engine().journal(read.id).await.unwrap();
            let reason = journal[0].reason.clone().unwrap();
            assert!(reason.starts_with("imported from the original provisioner"), "{reason}");
        }
    }
}

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
