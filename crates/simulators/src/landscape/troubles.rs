//! Making trouble, and ending it.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{Path, State, rejection::JsonRejection},
    http::StatusCode,
};
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
pub(super) struct Asked {
    #[serde(default)]
    system: Option<String>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    probability: Option<f64>,
    /// How many calls meet it.
    #[serde(default)]
    calls: Option<u64>,
    /// When it ends, counted from now.
    #[serde(default)]
    seconds: Option<u64>,
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
    asked: Result<Json<Asked>, JsonRejection>,
) -> Result<(StatusCode, Json<Rule>), Error> {
    let Json(asked) = asked?;
    if let Some(system) = &asked.system {
        landscape.system(system)?;
    }
    let now = landscape.clock.now();
    let until = asked.seconds.map(|seconds| {
        now.checked_add(Duration::from_secs(seconds)).unwrap_or(jiff::Timestamp::MAX)
    });
    let rule = Rule {
        id: 0,
        system: asked.system,
        method: asked.method,
        path: asked.path,
        probability: asked.probability,
        calls: asked.calls,
        until,
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
pub(super) struct Wished {
    speed: Speed,
}

/// Says how fast the world is.
pub(super) async fn speed(State(landscape): State<Arc<Landscape>>) -> Json<Value> {
    Json(json!({ "speed": landscape.pace.get() }))
}

/// Makes the world faster or slower.
pub(super) async fn set_speed(
    State(landscape): State<Arc<Landscape>>,
    wished: Result<Json<Wished>, JsonRejection>,
) -> Result<Json<Value>, Error> {
    let Json(Wished { speed }) = wished?;
    if !speed.is_sensible() {
        return Err(Error::Speed);
    }
    landscape.pace.set(speed);
    Ok(Json(json!({ "speed": speed })))
}
