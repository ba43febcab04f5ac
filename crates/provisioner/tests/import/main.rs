//! Runtimes of the original provisioner, taken over into both of our databases.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod original;
mod reading;
mod recorded;
mod refusals;

use base::Clock;
use engine::PlantedBug;
use original::{KEY, PROJECT, Situation, database, id};
use provisioner::import::Import;
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
