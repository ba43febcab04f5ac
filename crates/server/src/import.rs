//! `kcp import`: takes over what the original broker and provisioner keep in their databases.
//!
//! What a reader would get wrong: a dry run opens our own database too, and brings its tables up to date; it writes no row.

use std::{env, fs, path::PathBuf};

use anyhow::Context;
use base::Clock;
use secrecy::SecretString;
pub use store::import::{Count, Finding, Mode, Report};
use store::{
    BrokerStore, ProvisionerStore, Set,
    import::{KebSource, ProvisionerSource, SourceKey},
};

use crate::{
    Settings, Speed, broker::from_settings, keys, service_context::ServiceContext,
    settings::provisioner::ProvisionerSettings,
};

/// Names the original's key, where no file does.
pub const KEY: &str = "KCP_IMPORT_KEY";
/// Names the original's database, where no flag does.
pub const DATABASE: &str = "KCP_IMPORT_DATABASE";

/// Where from, and how.
#[derive(Debug, Clone)]
pub struct Source {
    /// The original's database.
    pub database: SecretString,
    /// The file with the original's key.
    pub key_file: Option<PathBuf>,
    /// Whether anything is written.
    pub mode: Mode,
    /// Whether the original is stopped for good, so that what it had not ended can be taken over.
    pub unfinished: bool,
}

impl Source {
    /// The original's key: from the file, or from the environment.
    fn key(&self) -> anyhow::Result<Option<SourceKey>> {
        let text =
            match &self.key_file {
                Some(file) => {
                    let text = fs::read_to_string(file);
                    Some(text.with_context(|| {
                        format!("the key file {} cannot be read", file.display())
                    })?)
                }
                None => env::var(KEY).ok(),
            };
        let text = text.map(|text| text.trim_end_matches(['\r', '\n']).to_owned());
        let text = text.filter(|text| !text.is_empty());
        Ok(text.map(|text| SourceKey::new(text.into())).transpose()?)
    }
}

/// Takes over the instances of the original broker.
pub async fn keb(settings: &Settings, source: &Source) -> anyhow::Result<Report> {
    let (catalog, _) = from_settings::catalog(settings)?;
    let mut from = KebSource::open(&source.database, source.key()?).await?;
    let clock = Clock::running();
    let database = &settings.database;
    let place = place(&database.url, &database.sealing_keys)?;
    let engine = place.store("broker", database.tables(), Set::Broker).await?;
    let store = BrokerStore::new(engine, clock.clone());
    let import = broker::import::Import {
        store: &store,
        catalog: &catalog,
        mode: source.mode,
        unfinished: source.unfinished,
        clock: &clock,
    };
    let report = Box::pin(import.run(&mut from)).await;
    store.engine().database().close().await;
    Ok(report?)
}

/// Takes over the runtimes of the original provisioner.
pub async fn provisioner(
    settings: &ProvisionerSettings,
    source: &Source,
) -> anyhow::Result<Report> {
    let mut from = ProvisionerSource::open(&source.database, source.key()?).await?;
    let clock = Clock::running();
    let database = &settings.database;
    let place = place(&database.url, &database.sealing_keys)?;
    let engine = place.store("provisioner", database.tables(), Set::Provisioner).await?;
    let store = ProvisionerStore::new(engine, clock);
    let import = provisioner::import::Import {
        store: &store,
        project: &settings.gardener.project,
        mode: source.mode,
        unfinished: source.unfinished,
    };
    let report = Box::pin(import.run(&mut from)).await;
    store.engine().database().close().await;
    Ok(report?)
}

fn place(url: &SecretString, sealing_keys: &std::path::Path) -> anyhow::Result<ServiceContext> {
    let sealer = keys::read(sealing_keys)?;
    Ok(ServiceContext { url: url.clone(), sealer, replica: None, speed: Speed::Times(1.0) })
}

#[cfg(test)]
mod tests;
