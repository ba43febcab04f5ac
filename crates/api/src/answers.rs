//! `GET /answers/…`: what operators ask about many operations, the pool of accounts, and everything on one screen.

use axum::{
    Json, Router,
    extract::{Query, State, rejection::QueryRejection},
    routing::get,
};
use base::failure::chain;
use broker::{
    answers::{self, Answers, CapacityList, PACED, PoolReading, Status},
    operations::view::{
        MOST_DAYS, MOST_HOURS, Operations, StepOrder, StepReport, StuckOperation, Success,
    },
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// How many steps are listed by default.
const USUAL_STEPS: u32 = 50;
/// How many steps are listed at most.
const MOST_STEPS: u32 = 500;

/// Routes about operations, for every service.
pub(crate) fn of_operations() -> Router<Operations> {
    Router::new()
        .route("/answers/stuck", get(stuck))
        .route("/answers/steps", get(steps))
        .route("/answers/success", get(success))
}

/// Routes of the broker alone.
pub(crate) fn of_broker() -> Router<Answers> {
    Router::new()
        .route("/answers/pool", get(pool))
        .route("/answers/capacity", get(capacity))
        .route("/answers/status", get(status))
}

/// The operations that are stuck.
#[derive(Serialize)]
struct StuckList {
    at: Timestamp,
    complete: bool,
    stuck_operations: usize,
    stuck: Vec<StuckOperation>,
}

#[derive(Serialize)]
struct StepList {
    hours: u32,
    steps: Vec<StepReport>,
}

#[derive(Serialize)]
struct SuccessList {
    days: u32,
    success: Vec<Success>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepQuery {
    hours: Option<u32>,
    kind: Option<String>,
    order: Option<String>,
    limit: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuccessQuery {
    days: Option<u32>,
}

async fn stuck(State(operations): State<Operations>) -> Result<Json<StuckList>, Error> {
    let present = operations.present(&PACED).await?;
    Ok(Json(StuckList {
        at: present.at,
        complete: present.complete,
        stuck_operations: present.stuck_operations,
        stuck: present.stuck,
    }))
}

async fn steps(
    State(operations): State<Operations>,
    query: Result<Query<StepQuery>, QueryRejection>,
) -> Result<Json<StepList>, Error> {
    let Query(query) = query.map_err(|error| unreadable(&error))?;
    let hours = within("hours", query.hours.unwrap_or(24), MOST_HOURS)?;
    let limit = within("limit", query.limit.unwrap_or(USUAL_STEPS), MOST_STEPS)?;
    let order = match query.order.as_deref() {
        None | Some("slowest") => StepOrder::Slowest,
        Some("failing") => StepOrder::Failing,
        Some(_) => {
            let problem = "is none of: slowest, failing".into();
            return Err(Error::Bad { field: "order", problem });
        }
    };
    let steps = operations.steps(hours, query.kind.as_deref(), order, limit as usize).await?;
    Ok(Json(StepList { hours, steps }))
}

async fn success(
    State(operations): State<Operations>,
    query: Result<Query<SuccessQuery>, QueryRejection>,
) -> Result<Json<SuccessList>, Error> {
    let Query(query) = query.map_err(|error| unreadable(&error))?;
    let days = within("days", query.days.unwrap_or(7), MOST_DAYS)?;
    Ok(Json(SuccessList { days, success: operations.success(days).await? }))
}

async fn pool(State(answers): State<Answers>) -> Result<Json<PoolReading>, Error> {
    Ok(Json(answers.pool().await?))
}

async fn capacity(State(answers): State<Answers>) -> Result<Json<CapacityList>, Error> {
    Ok(Json(answers.capacity().await?))
}

async fn status(State(answers): State<Answers>) -> Result<Json<Status>, Error> {
    Ok(Json(answers.status().await?))
}

fn within(field: &'static str, number: u32, most: u32) -> Result<u32, Error> {
    if (1..=most).contains(&number) {
        return Ok(number);
    }
    Err(Error::Bad { field, problem: format!("is not a number from 1 to {most}") })
}

fn unreadable(error: &QueryRejection) -> Error {
    Error::Bad { field: "the query", problem: error.body_text() }
}

impl From<answers::Error> for Error {
    fn from(error: answers::Error) -> Self {
        match error {
            answers::Error::Operations(error) => error.into(),
            answers::Error::Jobs(error) => error.into(),
            answers::Error::Store(_) | answers::Error::Garden(_) => {
                tracing::warn!(error = chain(&error), "answers cannot be computed");
                Self::Unavailable
            }
        }
    }
}
