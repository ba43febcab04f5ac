//! Making trouble, and ending it.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{Path, State, rejection::JsonRejection},
    http::StatusCode,
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Landscape, error::Error};
use crate::{
    pace::Speed,
    trouble::{Kind, Rule},
};

/// Trouble as it is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewTrouble {
    #[serde(default)]
    system: Option<String>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    path: Option<String>,
    /// A text in the body.
    #[serde(default)]
    body: Option<String>,
    /// The step of an operation that calls.
    #[serde(default)]
    step: Option<String>,
    /// The number, among the calls that fit, of the first one that meets it.
    #[serde(default)]
    nth: Option<u64>,
    #[serde(default)]
    probability: Option<f64>,
    /// How many calls meet it.
    #[serde(default)]
    calls: Option<u64>,
    /// When it begins, counted from now.
    #[serde(default)]
    after_seconds: Option<u64>,
    /// How long it lasts.
    #[serde(default)]
    seconds: Option<u64>,
    /// How long it is there, and then gone, when it comes and goes.
    #[serde(default)]
    flap_ms: Option<u64>,
    trouble: Kind,
}

/// Lists what has not ended.
pub(super) async fn list(State(landscape): State<Arc<Landscape>>) -> Json<Value> {
    Json(json!({ "troubles": landscape.troubles.active() }))
}

/// Shows one.
pub(super) async fn show(
    State(landscape): State<Arc<Landscape>>,
    Path(id): Path<u64>,
) -> Result<Json<Rule>, Error> {
    let found = landscape.troubles.active().into_iter().find(|rule| rule.id == id);
    found.map(Json).ok_or_else(|| Error::NotFound(format!("trouble {id}")))
}

/// Makes trouble.
pub(super) async fn add(
    State(landscape): State<Arc<Landscape>>,
    asked: Result<Json<NewTrouble>, JsonRejection>,
) -> Result<(StatusCode, Json<Rule>), Error> {
    let Json(asked) = asked?;
    if let Some(system) = &asked.system {
        landscape.system(system)?;
    }
    let later = |time: Timestamp, seconds| {
        time.checked_add(Duration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
    };
    let now = landscape.clock.now();
    let from = asked.after_seconds.map(|seconds| later(now, seconds));
    let until = asked.seconds.map(|seconds| later(from.unwrap_or(now), seconds));
    let rule = Rule {
        id: 0,
        system: asked.system,
        method: asked.method,
        path: asked.path,
        body: asked.body,
        step: asked.step,
        nth: asked.nth,
        probability: asked.probability,
        calls: asked.calls,
        from,
        until,
        flap_ms: asked.flap_ms,
        trouble: asked.trouble,
    };
    Ok((StatusCode::CREATED, Json(landscape.troubles.add(rule)?)))
}

/// Ends one.
pub(super) async fn remove(
    State(landscape): State<Arc<Landscape>>,
    Path(id): Path<u64>,
) -> Result<StatusCode, Error> {
    if landscape.troubles.remove(id)? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Error::NotFound(format!("trouble {id}")))
    }
}

/// Ends all.
pub(super) async fn clear(State(landscape): State<Arc<Landscape>>) -> Result<StatusCode, Error> {
    landscape.troubles.clear(None)?;
    Ok(StatusCode::NO_CONTENT)
}

/// A speed on its way.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpeedRequest {
    speed: Speed,
}

/// Says how fast the world is.
pub(super) async fn speed(State(landscape): State<Arc<Landscape>>) -> Json<Value> {
    Json(json!({ "speed": landscape.pace.get() }))
}

/// Makes the world faster or slower.
pub(super) async fn set_speed(
    State(landscape): State<Arc<Landscape>>,
    wished: Result<Json<SpeedRequest>, JsonRejection>,
) -> Result<Json<Value>, Error> {
    let Json(SpeedRequest { speed }) = wished?;
    if !speed.is_sensible() {
        return Err(Error::Speed);
    }
    landscape.pace.set(speed);
    Ok(Json(json!({ "speed": speed })))
}
