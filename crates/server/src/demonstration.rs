//! The demonstration's surroundings, and the first one of a new folder.

use std::{sync::Arc, time::Duration};

use broker::operations::demonstration::{self, Env};
use store::operations::{Operations, PageRequest};

use crate::up::Speed;

const DELIVERY: Duration = Duration::from_secs(5);
const INSPECTION: Duration = Duration::from_secs(4);

/// What the steps wait for, at this speed.
pub(crate) fn surroundings(speed: Speed) -> Arc<Env> {
    Arc::new(Env { delivery: speed.scaled(DELIVERY), inspection: speed.scaled(INSPECTION) })
}

/// Where nothing has ever happened, something should.
pub(crate) async fn first(operations: &Operations) -> anyhow::Result<()> {
    let page = operations.list(PageRequest { limit: 1, ..PageRequest::default() }).await?;
    if page.operations.is_empty() {
        demonstration::accept(operations.engine(), "the first start").await?;
    }
    Ok(())
}
