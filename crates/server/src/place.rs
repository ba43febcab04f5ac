//! Where a service runs: its database, its keys, its name, its speed.

use anyhow::Context;
use engine::Planted;
use secrecy::SecretString;
use store::{Database, EngineStore, Sealer, Set, engine::Time, rotate};

use crate::up::Speed;

/// What depends on where a service runs.
pub(crate) struct Place {
    /// The database.
    pub(crate) url: SecretString,
    /// What seals secrets.
    pub(crate) sealer: Sealer,
    /// The name under which the engine takes over from its earlier self.
    pub(crate) replica: Option<String>,
    /// How fast what it waits for is, if that is a simulated world.
    pub(crate) speed: Speed,
}

impl Place {
    /// Opens the database, and brings the engine's tables and those of `set` up to date.
    pub(crate) async fn store(
        &self,
        whose: &str,
        connections: u32,
        schema: &str,
        set: Set,
    ) -> anyhow::Result<EngineStore> {
        let options = store::Options {
            connections,
            schema: Some(schema.to_owned()),
            ..store::Options::new(self.url.clone())
        };
        let database = Database::open(&options)
            .await
            .with_context(|| format!("the {whose}'s database cannot be opened"))?;
        for set in [Set::Engine, set] {
            let migrated = database.migrate(set).await;
            migrated
                .with_context(|| format!("the {whose}'s database cannot be brought up to date"))?;
        }
        let sealed = match set {
            Set::Engine => Vec::new(),
            Set::Broker => rotate::BROKER.to_vec(),
            Set::Provisioner => rotate::PROVISIONER.to_vec(),
        };
        let sealed = [rotate::ENGINE.to_vec(), sealed].concat();
        database
            .check_keys(&self.sealer, &sealed)
            .await
            .with_context(|| format!("the {whose}'s sealing keys cannot be used"))?;
        Ok(EngineStore::new(database, self.sealer.clone(), Time::Database, Planted::Nothing))
    }
}
