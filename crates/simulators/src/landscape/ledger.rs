//! The ledger, page by page and as it grows.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
    http::HeaderMap,
    response::sse::{Event, KeepAlive, Sse},
};
use futures::{Stream, StreamExt};
use serde::Deserialize;

use super::{Landscape, error::Error};
use crate::ledger::{Entry, Filter, Page, Phase, follow};

/// How many lines a page holds by default.
const PAGE: usize = 100;

/// Which lines are wanted.
#[derive(Deserialize)]
pub(super) struct LedgerQuery {
    after: Option<u64>,
    /// Only the last so many lines, instead of `after`; the filters count afterwards.
    newest: Option<u64>,
    limit: Option<usize>,
    system: Option<String>,
    key: Option<String>,
    operation: Option<String>,
    phase: Option<Phase>,
}

impl LedgerQuery {
    fn filter(self) -> Filter {
        let Self { system, key, operation, phase, .. } = self;
        Filter { system, key, operation, phase }
    }
}

/// One page.
pub(super) async fn page(
    State(landscape): State<Arc<Landscape>>,
    asked: Result<Query<LedgerQuery>, QueryRejection>,
) -> Result<Json<Page>, Error> {
    let Query(asked) = asked?;
    let (after, limit) = match (asked.newest, asked.limit) {
        (Some(newest), limit) => {
            let after = landscape.ledger.last().borrow().saturating_sub(newest);
            (after, limit.unwrap_or_else(|| usize::try_from(newest).unwrap_or(PAGE)))
        }
        (None, limit) => (asked.after.unwrap_or(0), limit.unwrap_or(PAGE)),
    };
    Ok(Json(landscape.ledger.page(after, &asked.filter(), limit)?))
}

/// Every line from a place on, without end. A caller that comes back says where it was.
pub(super) async fn stream(
    State(landscape): State<Arc<Landscape>>,
    headers: HeaderMap,
    asked: Result<Query<LedgerQuery>, QueryRejection>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Error> {
    let Query(asked) = asked?;
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let after = seen.or(asked.after).unwrap_or(0);
    let lines = follow(landscape.ledger.clone(), after, asked.filter());
    Ok(Sse::new(lines.map(|entry| Ok(event(&entry)))).keep_alive(KeepAlive::default()))
}

fn event(entry: &Entry) -> Event {
    let event = Event::default().id(entry.sequence.to_string()).event("entry");
    event.json_data(entry).unwrap_or_default()
}
