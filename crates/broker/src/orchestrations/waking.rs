//! Wakes the driver of an orchestration when one of its operations ends.
//!
//! What a reader would get wrong: no orchestration needs it. A driver that waits looks by itself; it is only woken earlier.

use std::sync::Arc;

use engine::{Event, Operation as _};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::Orchestrations;
use crate::operations::{upgrade_cluster::UpgradingCluster, upgrade_kyma::UpgradingKyma};

/// Wakes drivers for as long as there are events of this process.
pub async fn wake_drivers(orchestrations: Orchestrations, mut events: Receiver<Arc<Event>>) {
    loop {
        match events.recv().await {
            Ok(event) if ends_upgrade(&event) => wake_driver_of(&orchestrations, &event).await,
            // Those that were missed are found by polling.
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

fn ends_upgrade(event: &Event) -> bool {
    let upgrades = [UpgradingKyma::KIND, UpgradingCluster::KIND];
    event.state.is_final() && upgrades.contains(&event.kind.as_str())
}

async fn wake_driver_of(orchestrations: &Orchestrations, event: &Event) {
    match orchestrations.store().orchestration_of(event.operation).await {
        Ok(Some(id)) => orchestrations.wake(id).await,
        Ok(None) => {}
        Err(error) => {
            tracing::debug!(%error, operation.id = %event.operation, "driver not woken, it polls");
        }
    }
}
