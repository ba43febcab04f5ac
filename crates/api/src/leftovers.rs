//! `GET /leftovers`: what is left of instances that were removed, until it is gone.

use axum::{
    Json, Router,
    extract::{Path, Query, State, rejection::QueryRejection},
    routing::get,
};
use base::failure::chain;
use broker::{
    chores::leftovers::Leftover,
    instances::{self, Broker, LeftoverPage},
};
use serde::Deserialize;

use crate::error::Error;

/// How many a page has, unless it is said.
const USUAL: u32 = 50;
/// How many a page has at most.
const MOST: u32 = 200;

pub(crate) fn routes() -> Router<Broker> {
    Router::new().route("/leftovers", get(list)).route("/leftovers/{instance}", get(find))
}

/// Which page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    limit: Option<u32>,
    after: Option<String>,
}

async fn list(
    State(broker): State<Broker>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Json<LeftoverPage>, Error> {
    let bad = |problem: String| Error::Bad { field: "the query", problem };
    let Query(Asked { limit, after }) = asked.map_err(|error| bad(error.body_text()))?;
    let limit = limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        let problem = format!("must be between 1 and {MOST}");
        return Err(Error::Bad { field: "limit", problem });
    }
    Ok(Json(broker.leftovers(after.as_deref(), limit).await.map_err(|error| refused(&error))?))
}

async fn find(
    State(broker): State<Broker>,
    Path(instance): Path<String>,
) -> Result<Json<Leftover>, Error> {
    let found = broker.leftovers_of(&instance).await.map_err(|error| refused(&error))?;
    found.map(Json).ok_or_else(|| Error::NotFound(format!("something left of {instance}")))
}

fn refused(error: &instances::Error) -> Error {
    match error {
        instances::Error::Bad(problem) => Error::Bad { field: "after", problem: problem.clone() },
        instances::Error::Unavailable(_) => {
            tracing::warn!(error = chain(error), "leftovers cannot be read");
            Error::Unavailable
        }
        _ => {
            tracing::error!(error = chain(error), "leftovers cannot be read");
            Error::Internal
        }
    }
}
