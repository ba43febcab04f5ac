//! Reports to the Director when a runtime could not be made.
//!
//! What a reader would get wrong: that it was reported is stored, so that neither a crash nor an outage of the Director loses
//! it. The engine's events only make it soon.

use std::{sync::Arc, time::Duration};

use clients::{
    director::{Change, Condition},
    error::Kind,
};
use engine::{Event, Operation, State, Storage};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use uuid::Uuid;

use crate::{
    Error, Parts, Provisioner,
    operations::provisioning::{Provisioning, ProvisioningNoInstall},
};

/// The operations that make a runtime.
const MAKING: [&str; 2] = [Provisioning::KIND, ProvisioningNoInstall::KIND];
/// How many are looked at in one go.
const MOST: u32 = 100;
/// The interval between two checks, when nothing happens.
const EVERY: Duration = Duration::from_secs(30);

/// Goes on until it is dropped.
pub async fn keep(provisioner: Provisioner) {
    let Parts { engine, clock, .. } = provisioner.parts();
    let mut events = engine.events();
    loop {
        if let Err(error) = tell(&provisioner).await {
            let error = base::failure::chain(&error);
            tracing::warn!(error, "director: reporting failed runtimes failed");
        }
        tokio::select! {
            () = clock.sleep(EVERY) => {}
            () = failure(&mut events) => {}
        }
    }
}

/// Waits until a runtime could not be made.
async fn failure(events: &mut Receiver<Arc<Event>>) {
    loop {
        match events.recv().await {
            Ok(event) => {
                let ended = matches!(event.state, State::Failed | State::Canceled);
                if ended && MAKING.contains(&event.kind.as_str()) {
                    return;
                }
            }
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// Reports all failures to the Director that it does not know of; how many were reported.
pub async fn tell(provisioner: &Provisioner) -> Result<usize, Error> {
    let parts = provisioner.parts();
    let (mut reported, mut after) = (0, None);
    loop {
        let page = parts.store.not_provisioned(after, MOST).await?;
        let Some((last, _)) = page.last() else { return Ok(reported) };
        after = Some(*last);
        for (runtime, tenant) in page {
            if is_failed(parts, runtime).await? && mark(parts, runtime, &tenant).await? {
                reported += 1;
            }
        }
    }
}

/// Whether nobody makes the runtime any more.
async fn is_failed(parts: &Parts, runtime: Uuid) -> Result<bool, Error> {
    let Some(last) = parts.store.last_operation(runtime).await? else { return Ok(false) };
    let last = parts.engine.storage().read(last).await?;
    Ok(last.is_some_and(|last| matches!(last.state, State::Failed | State::Canceled)))
}

async fn mark(parts: &Parts, runtime: Uuid, tenant: &str) -> Result<bool, Error> {
    let change = Change { condition: Some(Condition::Failed), ..Change::default() };
    match parts.env.director.update(tenant, &runtime.to_string(), &change).await {
        Ok(()) => {}
        // Who is not registered needs no condition.
        Err(error) if error.kind == Kind::NotFound => {}
        Err(error) => {
            let error = base::failure::chain(&error);
            tracing::warn!(runtime.id = %runtime, error, "director: reporting a failed runtime failed, retrying later");
            return Ok(false);
        }
    }
    parts.store.note_failure_told(runtime).await?;
    Ok(true)
}
