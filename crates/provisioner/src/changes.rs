//! Callers that wait until an operation changes.
//!
//! What a reader would get wrong: a caller that waits costs an entry in a table, not a query, a task or a connection to the database. What
//! this replica commits is sent by the engine; what other replicas commit is seen by one shared look at all awaited operations. Both
//! go on only while callers wait. A wake-up says that it is worth looking again, not that something is different.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base::Clock;
use engine::{Engine, OperationId, Storage, events::Event};
use store::EngineStore;
use tokio::sync::{broadcast::error::RecvError, watch};
use tokio_util::sync::CancellationToken;

/// How many callers may wait at once. Further ones are answered at once and have to ask again.
pub const PLACES: usize = 256;
/// How often the awaited operations are looked at together, for what other replicas did.
const LOOK: Duration = Duration::from_millis(250);

/// Everybody who waits for an operation of this replica's database.
#[derive(Clone)]
pub(crate) struct Changes(Arc<Shared>);

struct Shared {
    engine: Engine<EngineStore>,
    clock: Clock,
    table: Mutex<Table>,
    stopping: CancellationToken,
}

#[derive(Default)]
struct Table {
    awaited: HashMap<OperationId, AwaitedOperation>,
    /// How many callers there are.
    callers: usize,
    /// Whether a task polls the table.
    tended: bool,
}

/// One operation that callers wait for.
struct AwaitedOperation {
    bell: watch::Sender<()>,
    callers: usize,
    /// The epoch and the serial that the last look has found.
    last: Option<(i64, i64)>,
}

/// A caller that waits; gives its place back when it is dropped.
pub(crate) struct Waiter {
    changes: Changes,
    operation: OperationId,
    bell: watch::Receiver<()>,
}

impl Changes {
    pub(crate) fn new(engine: Engine<EngineStore>, clock: Clock) -> Self {
        let stopping = CancellationToken::new();
        Self(Arc::new(Shared { engine, clock, table: Mutex::default(), stopping }))
    }

    /// Waits for an operation from now on; `None` when there is no place, or nobody may wait any more.
    pub(crate) fn await_change(&self, operation: OperationId) -> Option<Waiter> {
        let mut table = self.table();
        if table.callers >= PLACES || self.0.stopping.is_cancelled() {
            return None;
        }
        table.callers += 1;
        let awaited = table.awaited.entry(operation).or_insert_with(|| AwaitedOperation {
            bell: watch::Sender::new(()),
            callers: 0,
            last: None,
        });
        awaited.callers += 1;
        let bell = awaited.bell.subscribe();
        if !table.tended {
            table.tended = true;
            // From before the caller looks, so that nothing is missed in between.
            let events = self.0.engine.events();
            tokio::spawn(tend(self.0.clone(), events));
        }
        Some(Waiter { changes: self.clone(), operation, bell })
    }

    /// Sends everybody away, and lets nobody wait any more.
    pub(crate) fn stop(&self) {
        self.0.stopping.cancel();
    }

    /// How many callers wait.
    pub(crate) fn waiting(&self) -> usize {
        self.table().callers
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.table()
    }
}

impl Waiter {
    /// Comes back when it is worth looking again. `false`: nobody may wait any more.
    pub(crate) async fn changed(&mut self) -> bool {
        tokio::select! {
            biased;
            () = self.changes.0.stopping.cancelled() => false,
            rung = self.bell.changed() => rung.is_ok(),
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut table = self.changes.table();
        table.callers -= 1;
        if let Some(awaited) = table.awaited.get_mut(&self.operation) {
            awaited.callers -= 1;
            if awaited.callers == 0 {
                table.awaited.remove(&self.operation);
            }
        }
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at everything that is awaited, in one statement.
    async fn look(&self) {
        let ids: Vec<OperationId> = self.table().awaited.keys().copied().collect();
        let found = match self.engine.storage().look(&ids).await {
            Ok(found) => found,
            Err(error) => {
                tracing::debug!(%error, "awaited operations could not be looked at");
                return;
            }
        };
        let mut table = self.table();
        for (id, seen) in ids.iter().zip(found) {
            let now = seen.map(|seen| (seen.epoch, seen.serial));
            if let Some(awaited) = table.awaited.get_mut(id)
                && awaited.last != now
            {
                awaited.last = now;
                awaited.bell.send_replace(());
            }
        }
    }
}

/// Wakes all waiting callers whose operation may have changed.
async fn tend(shared: Arc<Shared>, mut events: tokio::sync::broadcast::Receiver<Arc<Event>>) {
    let mut next = shared.clock.now() + LOOK;
    loop {
        {
            let mut table = shared.table();
            if table.callers == 0 {
                table.tended = false;
                return;
            }
        }
        tokio::select! {
            event = events.recv() => match event {
                Ok(event) => {
                    if let Some(awaited) = shared.table().awaited.get(&event.operation) {
                        awaited.bell.send_replace(());
                    }
                }
                Err(RecvError::Lagged(_)) => shared.look().await,
                Err(RecvError::Closed) => shared.clock.sleep(LOOK).await,
            },
            () = shared.clock.sleep_until(next) => {
                shared.look().await;
                next = shared.clock.now() + LOOK;
            }
        }
    }
}
