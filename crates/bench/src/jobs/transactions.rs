//! The longest transaction of a server while something else runs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use base::Clock;
use tokio::task::JoinHandle;

use crate::reads::rows::Rows;

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(20);
const AGE: &str = "
    SELECT COALESCE(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 * 1000 FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND datname = current_database()
      AND backend_xid IS NOT NULL";

/// Looks at transactions that write until it is asked for the longest.
pub(super) struct Transactions {
    stop: Arc<AtomicBool>,
    task: Option<JoinHandle<anyhow::Result<f64>>>,
}

impl Transactions {
    pub(super) fn watch(rows: Rows) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let Rows::Postgres(mut connection) = rows else { return Self { stop, task: None } };
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            let (clock, mut longest) = (Clock::running(), 0.0_f64);
            while !stopped.load(Ordering::Relaxed) {
                let age: f64 = sqlx::query_scalar(AGE).fetch_one(&mut *connection).await?;
                longest = longest.max(age);
                clock.sleep(LOOK).await;
            }
            Ok(longest)
        });
        Self { stop, task: Some(task) }
    }

    /// The longest of them in milliseconds; none with an embedded database.
    pub(super) async fn longest(mut self) -> anyhow::Result<Option<f64>> {
        self.stop.store(true, Ordering::Relaxed);
        match self.task.take() {
            Some(task) => task.await?.map(Some),
            None => Ok(None),
        }
    }
}

impl Drop for Transactions {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
