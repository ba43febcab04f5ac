//! How many runtimes of an orchestration are how far.

use jiff::Timestamp;
use uuid::Uuid;

use crate::{Error, Moment, broker::BrokerStore};

const COUNTS: &str = "
    SELECT wave, state, accepted, count(*) AS number FROM orchestration_operations
    WHERE orchestration = $1 AND NOT superseded GROUP BY wave, state, accepted";

const SPAN: &str = "
    SELECT min(started_at) AS first_started, max(ended_at) AS last_ended, count(ended_at) AS ended
    FROM orchestration_operations WHERE orchestration = $1 AND started_at IS NOT NULL";

/// Since when and until when runtimes of an orchestration were upgraded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// When the first one began.
    pub first_started: Option<Timestamp>,
    /// When the last one of those that have ended did.
    pub last_ended: Option<Timestamp>,
    /// How many have ended.
    pub ended: u64,
}

#[derive(sqlx_macros::FromRow)]
struct SpanRow {
    first_started: Option<Moment>,
    last_ended: Option<Moment>,
    ended: i64,
}

/// So many runtimes.
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

    /// Those in a state.
    pub fn in_state(&self, state: &str) -> u64 {
        self.sum(|count| count.state == state)
    }

    /// Those whose operation is stored and has not ended.
    pub fn running(&self) -> u64 {
        self.sum(|count| count.accepted && is_open(&count.state))
    }

    /// Those whose operation is not stored yet.
    pub fn waiting(&self) -> u64 {
        self.sum(|count| !count.accepted && is_open(&count.state))
    }

    /// Those of one wave.
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

    /// Since when and until when runtimes of an orchestration were upgraded.
    pub async fn orchestration_span(&self, id: Uuid) -> Result<Span, Error> {
        let row: SpanRow = on!(self.database().reader(), |pool| {
            sqlx::query_as(SPAN).bind(id).fetch_one(pool).await
        })?;
        Ok(Span {
            first_started: row.first_started.map(Into::into),
            last_ended: row.last_ended.map(Into::into),
            ended: row.ended.unsigned_abs(),
        })
    }
}
