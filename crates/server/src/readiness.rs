//! Whether the parts of a service can work.

use std::{collections::BTreeMap, future::Future, pin::Pin, time::Duration};

use api::health::Readiness;
use engine::Engine;
use store::EngineStore;

type ReadinessFuture<'a> = Pin<Box<dyn Future<Output = BTreeMap<&'static str, bool>> + Send + 'a>>;

/// How long the database may take to show that it is there.
const PATIENCE: Duration = Duration::from_secs(2);

/// A service with a database and an engine.
pub(crate) struct EngineReadiness(pub(crate) Engine<EngineStore>);

impl Readiness for EngineReadiness {
    fn parts(&self) -> ReadinessFuture<'_> {
        Box::pin(async {
            let ping = self.0.storage().database().ping();
            let database = tokio::time::timeout(PATIENCE, ping).await;
            let lease = self.0.alive().borrow().is_some();
            [("database", matches!(database, Ok(Ok(())))), ("engine", lease)].into()
        })
    }
}

/// A service that needs nothing.
#[cfg_attr(not(feature = "landscape"), expect(dead_code, reason = "only `kcp up` uses it"))]
pub(crate) struct Always;

impl Readiness for Always {
    fn parts(&self) -> ReadinessFuture<'_> {
        Box::pin(std::future::ready(BTreeMap::new()))
    }
}
