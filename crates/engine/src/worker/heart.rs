//! The heartbeat: keeps the lease and looks for lost operations while the process lives, on a thread and a connection of its own.

use std::{sync::Arc, time::Duration};

use base::Clock;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::Replica;
use crate::{
    drive::Incarnation, lease::Lease, settings::HeartPlace, storage::Storage, watch::Watch,
};

impl<S: Storage> Replica<S> {
    pub(super) fn start_heart(&self, incarnation: &Incarnation) {
        let Incarnation { lease, watch, .. } = incarnation;
        let beats = beats(
            self.storage.clone(),
            lease.clone(),
            watch.clone(),
            self.clock.clone(),
            self.crashed.clone(),
        );
        match self.settings.heart {
            HeartPlace::Task => drop(tokio::spawn(beats)),
            HeartPlace::Thread => {
                let lease = lease.clone();
                let thread =
                    std::thread::Builder::new().name("kcp-heart".into()).spawn(move || {
                        match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                            Ok(runtime) => runtime.block_on(beats),
                            Err(_) => lease.lose(),
                        }
                    });
                if let Err(error) = thread {
                    warn!(%error, "cannot start the heartbeat thread; the lease will run out");
                }
            }
        }
    }
}

async fn beats<S: Storage>(
    storage: Arc<S>,
    lease: Arc<Lease>,
    watch: Arc<Watch>,
    clock: Clock,
    crashed: CancellationToken,
) {
    let mut tries = 0_u32;
    while lease.is_valid() && !crashed.is_cancelled() {
        let heart = tokio::select! {
            biased;
            heart = storage.heart() => heart,
            () = lease.runs_out() => break,
        };
        match heart {
            Ok(heart) => {
                // A dead process does not beat, and does not know that it is dead.
                tokio::select! {
                    biased;
                    () = crashed.cancelled() => {}
                    () = lease.keep(heart, &watch) => {}
                }
                return;
            }
            Err(error) => {
                tries += 1;
                warn!(%error, tries, "the heartbeat has no connection");
                clock.sleep(Duration::from_millis(50 * u64::from(tries.min(10)))).await;
            }
        }
    }
    lease.lose();
}
