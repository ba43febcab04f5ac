//! Hints that something may be due: inside the process at once, to other replicas by NOTIFY.
//!
//! What a reader would expect and not find: NOTIFY is not part of the transactions it tells about.
//! It takes a lock over the whole server until its commit is on disk, so that accepting would go one
//! by one. One task sends instead, after the commit, whatever has gathered since it sent last.
//! A hint may be lost that way; it is only a hint.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ::engine::storage::Wake;
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

use crate::{Database, database::Backend};

/// How many hints a slow receiver may be behind; more of them say nothing more.
const BACKLOG: usize = 1024;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Gives hints, and receives those of other replicas.
pub(super) struct Wakes {
    local: broadcast::Sender<Wake>,
    outgoing: Option<Arc<Outgoing>>,
    tasks: Vec<JoinHandle<()>>,
}

/// Notifications for other replicas, and their sender.
struct Outgoing {
    gathered: Mutex<BTreeSet<String>>,
    bell: Notify,
    channel: String,
    /// Leads every payload, so that a process can pass over its own.
    origin: String,
}

impl Wakes {
    pub(super) fn start(database: &Database) -> Self {
        let (local, _) = broadcast::channel(BACKLOG);
        let Backend::Postgres(pool) = database.writer() else {
            return Self { local, outgoing: None, tasks: Vec::new() };
        };
        let outgoing = Arc::new(Outgoing {
            gathered: Mutex::default(),
            bell: Notify::new(),
            // Notifications go through the whole database, whatever the schema.
            channel: format!("kcp_engine_{}", database.schema().unwrap_or("public")),
            origin: Uuid::new_v4().simple().to_string(),
        });
        let tasks = vec![
            tokio::spawn(send(pool.clone(), outgoing.clone())),
            tokio::spawn(listen(pool.clone(), outgoing.clone(), local.clone())),
        ];
        Self { local, outgoing: Some(outgoing), tasks }
    }

    /// Tells everybody, without waiting for it.
    pub(super) fn ring(&self, wake: Wake) {
        if let Some(outgoing) = &self.outgoing {
            let payload = format!("{}{}", outgoing.origin, payload(&wake));
            outgoing.gathered.lock().unwrap_or_else(PoisonError::into_inner).insert(payload);
            outgoing.bell.notify_one();
        }
        let _ = self.local.send(wake);
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Wake> {
        self.local.subscribe()
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

/// Receives for ever. Whatever was missed while not listening is covered by one hint after it.
async fn listen(pool: PgPool, outgoing: Arc<Outgoing>, local: broadcast::Sender<Wake>) {
    let clock = Clock::running();
    let mut pause = FIRST_PAUSE;
    loop {
        if let Err(error) = receive(&pool, &outgoing, &local, &mut pause).await {
            warn!(%error, "notifications are interrupted");
        }
        clock.sleep(pause.mul_f64(0.5 + fastrand::f64())).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn receive(
    pool: &PgPool,
    outgoing: &Outgoing,
    local: &broadcast::Sender<Wake>,
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
    let _ = local.send(Wake::Due);
    *pause = FIRST_PAUSE;
    while let Some(notification) = listener.try_recv().await? {
        let payload = notification.payload();
        if !payload.starts_with(&outgoing.origin) {
            let _ = local.send(parse(payload));
        }
    }
    Ok(())
}

/// An origin has 32 characters.
const ORIGIN_LENGTH: usize = 32;

fn payload(wake: &Wake) -> String {
    match wake {
        Wake::Due => String::new(),
        Wake::Signal(signal) => format!(":{signal}"),
    }
}

fn parse(payload: &str) -> Wake {
    match payload.get(ORIGIN_LENGTH..).and_then(|rest| rest.strip_prefix(':')) {
        Some(signal) => Wake::Signal(signal.to_owned()),
        None => Wake::Due,
    }
}
