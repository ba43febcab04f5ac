//! How many runtimes of an orchestration are how far.

use jiff::Timestamp;
use uuid::Uuid;

use crate::{Error, Moment, broker::BrokerStore};

const COUNTS: &str = "
    SELECT wave, state, accepted, count(*) AS number FROM orchestration_operations
    WHERE orchestration = $1 AND NOT superseded GROUP BY wave, state, accepted";

const SPANS: &str = "
    SELECT started_at, ended_at FROM orchestration_operations
    WHERE orchestration = $1 AND started_at IS NOT NULL ORDER BY started_at";
const LAST_WINDOW: &str = "
    SELECT max(window_begin) FROM orchestration_operations
    WHERE orchestration = $1 AND state = 'pending' AND NOT accepted";

/// The statement that needs an index of its own. The others read and sort all runtimes of one orchestration.
#[cfg(test)]
pub(in crate::broker) const TEXTS: &[(&str, &str)] =
    &[(LAST_WINDOW, "orchestration_operations_by_state")];

/// Since when and until when a runtime of an orchestration was upgraded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// When it began.
    pub began: Timestamp,
    /// When it ended, if it has.
    pub ended: Option<Timestamp>,
}

#[derive(sqlx_macros::FromRow)]
struct SpanRow {
    started_at: Moment,
    ended_at: Option<Moment>,
}

/// A number of runtimes.
#[derive(Debug, Clone, PartialEq, Eq, sqlx_macros::FromRow)]
pub struct Count {
    /// 0: canaries, 1: all others.
    pub wave: i64,
    /// How far they are.
    pub state: String,
    /// Whether their operations are stored.
    pub accepted: bool,
    /// How many.
    pub number: i64,
}

/// How many runtimes are how far; what is tried again counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(pub Vec<Count>);

impl Counts {
    fn sum(&self, which: impl Fn(&Count) -> bool) -> u64 {
        let counted = self.0.iter().filter(|count| which(count));
        counted.map(|count| count.number.unsigned_abs()).sum()
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.sum(|_| true)
    }

    /// The number in a state.
    pub fn in_state(&self, state: &str) -> u64 {
        self.sum(|count| count.state == state)
    }

    /// The number whose operation is stored and has not ended.
    pub fn running(&self) -> u64 {
        self.sum(|count| count.accepted && is_open(&count.state))
    }

    /// The number whose operation is not stored yet.
    pub fn waiting(&self) -> u64 {
        self.sum(|count| !count.accepted && is_open(&count.state))
    }

    /// The counts of one wave.
    #[must_use]
    pub fn of_wave(&self, wave: i64) -> Self {
        Self(self.0.iter().filter(|count| count.wave == wave).cloned().collect())
    }
}

fn is_open(state: &str) -> bool {
    matches!(state, "pending" | "in progress")
}

impl BrokerStore {
    /// How many runtimes of an orchestration are how far, at one moment.
    pub async fn orchestration_counts(&self, id: Uuid) -> Result<Counts, Error> {
        let counts = on!(self.database().writer(), |pool| {
            sqlx::query_as(COUNTS).bind(id).fetch_all(pool).await
        })?;
        Ok(Counts(counts))
    }

    /// Since when and until when runtimes of an orchestration were upgraded, by when that began.
    pub async fn orchestration_spans(&self, id: Uuid) -> Result<Vec<Span>, Error> {
        let rows: Vec<SpanRow> = on!(self.database().reader(), |pool| {
            sqlx::query_as(SPANS).bind(id).fetch_all(pool).await
        })?;
        let span = |row: SpanRow| Span {
            began: row.started_at.into(),
            ended: row.ended_at.map(Into::into),
        };
        Ok(rows.into_iter().map(span).collect())
    }

    /// When the last one of the runtimes that wait may start.
    pub async fn last_window(&self, id: Uuid) -> Result<Option<Timestamp>, Error> {
        let last: Option<Moment> = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(LAST_WINDOW).bind(id).fetch_one(pool).await
        })?;
        Ok(last.map(Into::into))
    }
}
