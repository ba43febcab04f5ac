//! `GET /jobs`, `POST /jobs/{name}/run`: the jobs that keep everything clean. `GET /drift`: where stored and real state differ.

use axum::{
    Extension, Json, Router,
    body::Bytes,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::StatusCode,
    routing::{get, post},
};
use base::failure::chain;
use broker::jobs::{self, DetailPage, JobView, Jobs, LastRun, StartedRun};
use domain::OperationId;
use serde::{Deserialize, Serialize};

use crate::{auth::Principal, error::Error};

/// How many details a page has, unless the query says.
const USUAL: u32 = 200;
/// How many a page has at most.
const MOST: u32 = 1_000;
/// The job whose findings are the differences.
const DRIFT: &str = "drift";

/// Routes that only read.
pub(crate) fn reading() -> Router<Jobs> {
    Router::new()
        .route("/jobs", get(list))
        .route("/jobs/{name}", get(find))
        .route("/jobs/{name}/details", get(details))
        .route("/drift", get(drift))
}

/// The route that starts a run.
pub(crate) fn running() -> Router<Jobs> {
    Router::new().route("/jobs/{name}/run", post(run))
}

/// All jobs.
#[derive(Serialize)]
struct JobList {
    jobs: Vec<JobView>,
}

/// Where stored and real state differ, as the newest run found it, dry or not.
#[derive(Serialize)]
struct Differences {
    #[serde(skip_serializing_if = "Option::is_none")]
    last_run: Option<LastRun>,
}

/// Which details.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DetailParams {
    /// A run; the newest one, dry or not, when absent.
    operation: Option<OperationId>,
    limit: Option<u32>,
    after: Option<u64>,
}

/// How a run is asked for.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RunRequest {
    #[serde(alias = "dryRun")]
    dry_run: bool,
}

async fn list(State(jobs): State<Jobs>) -> Result<Json<JobList>, Error> {
    Ok(Json(JobList { jobs: jobs.list().await? }))
}

async fn find(State(jobs): State<Jobs>, Path(name): Path<String>) -> Result<Json<JobView>, Error> {
    Ok(Json(jobs.find(&name).await?))
}

async fn details(
    State(jobs): State<Jobs>,
    Path(name): Path<String>,
    query: Result<Query<DetailParams>, QueryRejection>,
) -> Result<Json<DetailPage>, Error> {
    let bad = |problem: String| Error::Bad { field: "the query", problem };
    let Query(query) = query.map_err(|error| bad(error.body_text()))?;
    let limit = query.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        let problem = format!("must be between 1 and {MOST}");
        return Err(Error::Bad { field: "limit", problem });
    }
    let after = query.after.unwrap_or_default();
    let found = jobs.details(&name, query.operation, after, limit).await?;
    found.map(Json).ok_or_else(|| Error::NotFound(format!("run of job {name}")))
}

async fn drift(State(jobs): State<Jobs>) -> Result<Json<Differences>, Error> {
    Ok(Json(Differences { last_run: jobs.find(DRIFT).await?.into_newest_run() }))
}

async fn run(
    State(jobs): State<Jobs>,
    Extension(principal): Extension<Principal>,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<(StatusCode, Json<StartedRun>), Error> {
    let request = if body.is_empty() {
        RunRequest::default()
    } else {
        let bad = |error: serde_json::Error| Error::Bad {
            field: "the body",
            problem: format!("must be an object with the boolean dry_run: {error}"),
        };
        serde_json::from_slice(&body).map_err(bad)?
    };
    let started = jobs.run(&name, request.dry_run, &principal.subject).await?;
    Ok((StatusCode::ACCEPTED, Json(started)))
}

impl From<jobs::Error> for Error {
    fn from(error: jobs::Error) -> Self {
        match &error {
            jobs::Error::Unknown(_) => Self::NotFound(error.to_string()),
            jobs::Error::Impossible { .. } => Self::Conflict(error.to_string()),
            jobs::Error::Operations(_) | jobs::Error::Store(_) => {
                tracing::warn!(error = chain(&error), "jobs cannot be read or started");
                Self::Unavailable
            }
            jobs::Error::Json(_) => {
                tracing::error!(error = chain(&error), "jobs cannot be read or started");
                Self::Internal
            }
        }
    }
}
