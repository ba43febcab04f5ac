//! Pages of operations, by key: the last page costs what the first one costs.

use ::engine::{OperationId, State, storage::Snapshot};
use jiff::Timestamp;
use sqlx_macros::FromRow;

use super::{
    EngineStore,
    rows::{self, OperationRow, columns},
};
use crate::{Error, Moment};

/// Which operations to list; newest first.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those of this instance.
    pub instance: Option<String>,
    /// Only those in this state.
    pub state: Option<State>,
    /// Only those of this kind.
    pub kind: Option<String>,
    /// Only those after this one: where the page before ended.
    pub after: Option<PageKey>,
    /// How many at most.
    pub most: u32,
}

/// Where a page ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageKey {
    /// When its last operation was accepted.
    pub created_at: Timestamp,
    /// Its last operation.
    pub id: OperationId,
}

/// Some operations, and where to go on.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The operations, without input and data.
    pub operations: Vec<Snapshot>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<PageKey>,
}

/// How many unfinished operations of one kind are in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationCount {
    /// The kind.
    pub kind: String,
    pub state: State,
    /// How many.
    pub operations: u64,
}

// One text for each way in: an index serves only a condition that is always there.
macro_rules! page {
    ($more:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM operations o
             WHERE (o.created_at, o.id) < ($1, $2)
               AND ($3 IS NULL OR o.state = $3) AND ($4 IS NULL OR o.kind = $4)",
            $more,
            " ORDER BY o.created_at DESC, o.id DESC LIMIT $5"
        )
    };
}
const ALL: &str = page!("");
const OF_INSTANCE: &str = page!(" AND o.instance = $6");

const COUNT: &str = "
    SELECT kind, state, count(*) AS operations FROM operations
    WHERE due_at IS NOT NULL GROUP BY kind, state
    UNION ALL
    SELECT kind, state, count(*) FROM operations
    WHERE due_at IS NULL AND ended_at IS NULL GROUP BY kind, state";

#[derive(FromRow)]
struct CountedRow {
    kind: String,
    state: String,
    operations: i64,
}

impl EngineStore {
    /// A page of operations, newest first, without their input and data.
    pub async fn list(&self, filter: &Filter) -> Result<Page, Error> {
        let start = filter.after.unwrap_or(PageKey {
            created_at: Timestamp::from_second(253_000_000_000).unwrap_or(Timestamp::MAX),
            id: OperationId::max(),
        });
        let text = if filter.instance.is_some() { OF_INSTANCE } else { ALL };
        let found: Vec<OperationRow> = on!(self.database.reader(), |pool| {
            let query = sqlx::query_as(text)
                .bind(Moment::from(start.created_at))
                .bind(start.id)
                .bind(filter.state.map(State::as_str))
                .bind(filter.kind.as_deref())
                .bind(i64::from(filter.most) + 1);
            match &filter.instance {
                Some(instance) => query.bind(instance).fetch_all(pool).await,
                None => query.fetch_all(pool).await,
            }
        })?;
        let more = found.len() > filter.most as usize;
        let operations = found
            .into_iter()
            .take(filter.most as usize)
            .map(|row| row.into_snapshot(Vec::new(), Vec::new()))
            .collect::<Result<Vec<_>, _>>()?;
        let next = operations.last().filter(|_| more);
        let next = next.map(|last| PageKey { created_at: last.created_at, id: last.id });
        Ok(Page { operations, next })
    }

    /// How many unfinished operations there are, for metrics.
    pub async fn count(&self) -> Result<Vec<OperationCount>, Error> {
        let found: Vec<CountedRow> =
            on!(self.database.reader(), |pool| { sqlx::query_as(COUNT).fetch_all(pool).await })?;
        let mut counted: Vec<OperationCount> = Vec::new();
        for row in found {
            let state = rows::word(&row.state)?;
            let operations = row.operations.unsigned_abs();
            match counted.iter_mut().find(|one| one.kind == row.kind && one.state == state) {
                Some(one) => one.operations += operations,
                None => counted.push(OperationCount { kind: row.kind, state, operations }),
            }
        }
        Ok(counted)
    }
}
