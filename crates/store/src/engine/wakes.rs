//! Hints that something may be due: inside the process at once, to other replicas by NOTIFY.
//!
//! What a reader would expect and not find: NOTIFY is not part of the transactions it tells about.
//! It takes a lock over the whole server until its commit is on disk, so that accepting would go one
//! by one. One task sends instead, after the commit, whatever has gathered since it sent last.
//! A hint may be lost that way; it is only a hint. The names of changed operations go the same way, a few times in a second at most.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ::engine::storage::{OperationId, Wake};
use base::Clock;
use sqlx::{
    PgPool,
    postgres::{PgListener, PgPoolOptions},
};
use tokio::{
    sync::{Notify, broadcast},
    task::JoinHandle,
};
use tracing::{debug, warn};
use uuid::Uuid;

use super::changed::{ChangedElsewhere, GatheredChanges};
use crate::{Database, database::Backend};

/// How many hints a slow receiver may be behind; more of them say nothing more.
const BACKLOG: usize = 1024;
/// How long changed operations gather before they are sent.
const GATHERING: Duration = Duration::from_millis(250);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Gives hints, and receives those of other replicas.
pub(super) struct Wakes {
    incoming: Incoming,
    outgoing: Option<Arc<Outgoing>>,
    tasks: Vec<JoinHandle<()>>,
}

/// What is received, and who waits for it.
#[derive(Clone)]
struct Incoming {
    /// Also the hints of this process.
    wakes: broadcast::Sender<Wake>,
    changes: broadcast::Sender<Arc<ChangedElsewhere>>,
}

/// Notifications for other replicas, and their sender.
struct Outgoing {
    gathered: Mutex<BTreeSet<String>>,
    bell: Notify,
    changes: Mutex<GatheredChanges>,
    changed: Notify,
    channel: String,
    /// Leads every payload, so that a process can pass over its own.
    origin: String,
}

impl Wakes {
    pub(super) fn start(database: &Database) -> Self {
        let (wakes, changes) = (broadcast::Sender::new(BACKLOG), broadcast::Sender::new(BACKLOG));
        let incoming = Incoming { wakes, changes };
        let Backend::Postgres(pool) = database.writer() else {
            return Self { incoming, outgoing: None, tasks: Vec::new() };
        };
        let outgoing = Arc::new(Outgoing {
            gathered: Mutex::default(),
            bell: Notify::new(),
            changes: Mutex::default(),
            changed: Notify::new(),
            // Notifications go through the whole database, whatever the schema.
            channel: format!("kcp_engine_{}", database.schema().unwrap_or("public")),
            origin: Uuid::new_v4().simple().to_string(),
        });
        let tasks = vec![
            tokio::spawn(send(pool.clone(), outgoing.clone())),
            tokio::spawn(gather(outgoing.clone())),
            tokio::spawn(listen(pool.clone(), outgoing.clone(), incoming.clone())),
        ];
        Self { incoming, outgoing: Some(outgoing), tasks }
    }

    /// Tells everybody, without waiting for it.
    pub(super) fn ring(&self, wake: Wake) {
        if let Some(outgoing) = &self.outgoing {
            outgoing.add(&payload(&wake));
        }
        let _ = self.incoming.wakes.send(wake);
    }

    /// Names changed operations to other replicas, without waiting for it. Those of this process have the engine's events.
    pub(super) fn changed<'a>(
        &self,
        operations: impl IntoIterator<Item = (OperationId, Option<&'a str>)>,
    ) {
        let Some(outgoing) = &self.outgoing else { return };
        let mut changes = outgoing.changes.lock().unwrap_or_else(PoisonError::into_inner);
        for (operation, instance) in operations {
            changes.add(operation, instance);
        }
        drop(changes);
        outgoing.changed.notify_one();
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Wake> {
        self.incoming.wakes.subscribe()
    }

    pub(super) fn changes(&self) -> broadcast::Receiver<Arc<ChangedElsewhere>> {
        self.incoming.changes.subscribe()
    }
}

impl Outgoing {
    fn add(&self, payload: &str) {
        let payload = format!("{}{payload}", self.origin);
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner).insert(payload);
        self.bell.notify_one();
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Sends what has gathered, in one statement.
async fn send(pool: PgPool, outgoing: Arc<Outgoing>) {
    const SQL: &str = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload";
    loop {
        outgoing.bell.notified().await;
        let gathered =
            std::mem::take(&mut *outgoing.gathered.lock().unwrap_or_else(PoisonError::into_inner));
        let payloads: Vec<String> = gathered.into_iter().collect();
        let sent = sqlx::query(SQL).bind(&outgoing.channel).bind(payloads).execute(&pool).await;
        if let Err(error) = sent {
            debug!(%error, "other replicas could not be woken");
        }
    }
}

/// Hands on changed operations, together with what else changes in the next moment.
async fn gather(outgoing: Arc<Outgoing>) {
    let clock = Clock::running();
    loop {
        outgoing.changed.notified().await;
        clock.sleep(GATHERING).await;
        let gathered = outgoing.changes.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(changes) = gathered {
            outgoing.add(&format!("{CHANGES}{changes}"));
        }
    }
}

/// Receives for ever. Whatever was missed while not listening is covered by one hint after it.
async fn listen(pool: PgPool, outgoing: Arc<Outgoing>, incoming: Incoming) {
    let clock = Clock::running();
    let mut pause = FIRST_PAUSE;
    loop {
        if let Err(error) = receive(&pool, &outgoing, &incoming, &mut pause).await {
            warn!(%error, "notifications are interrupted");
        }
        clock.sleep(pause.mul_f64(0.5 + fastrand::f64())).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn receive(
    pool: &PgPool,
    outgoing: &Outgoing,
    incoming: &Incoming,
    pause: &mut Duration,
) -> Result<(), sqlx::Error> {
    // A connection of its own: it must not take one of the shared ones away for ever.
    let own = PgPoolOptions::new()
        .max_connections(1)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(pool.connect_options().as_ref().clone());
    let mut listener = PgListener::connect_with(&own).await?;
    listener.eager_reconnect(false);
    listener.listen(&outgoing.channel).await?;
    let _ = incoming.wakes.send(Wake::Due);
    let _ = incoming.changes.send(Arc::new(ChangedElsewhere::Any));
    *pause = FIRST_PAUSE;
    while let Some(notification) = listener.try_recv().await? {
        let payload = notification.payload();
        if !payload.starts_with(&outgoing.origin) {
            incoming.take(payload);
        }
    }
    Ok(())
}

/// An origin has 32 characters.
const ORIGIN_LENGTH: usize = 32;
/// Leads the name of a signal.
const SIGNAL: char = ':';
/// Leads changed operations.
const CHANGES: char = '!';

fn payload(wake: &Wake) -> String {
    match wake {
        Wake::Due => String::new(),
        Wake::Signal(signal) => format!("{SIGNAL}{signal}"),
    }
}

impl Incoming {
    /// Hands on a payload of another process.
    fn take(&self, payload: &str) {
        let rest = payload.get(ORIGIN_LENGTH..).unwrap_or_default();
        if let Some(changes) = rest.strip_prefix(CHANGES) {
            let _ = self.changes.send(Arc::new(ChangedElsewhere::parse(changes)));
            return;
        }
        let signal = rest.strip_prefix(SIGNAL).map(|signal| Wake::Signal(signal.to_owned()));
        let _ = self.wakes.send(signal.unwrap_or(Wake::Due));
    }
}
