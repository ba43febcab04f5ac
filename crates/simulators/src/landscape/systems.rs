//! The systems of the landscape, what they keep, and the orders they follow.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State, rejection::JsonRejection, rejection::QueryRejection},
    http::StatusCode,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Landscape, error::Error};
use crate::{
    system::{Object, System},
    trouble::{Kind, Rule},
};

/// Lists the systems.
pub(super) async fn list(State(landscape): State<Arc<Landscape>>) -> Json<Value> {
    let active = landscape.troubles.active();
    let systems: Vec<Value> =
        landscape.systems().map(|system| shown(&landscape, system, &active)).collect();
    Json(json!({ "systems": systems }))
}

/// Shows one system.
pub(super) async fn show(
    State(landscape): State<Arc<Landscape>>,
    Path(name): Path<String>,
) -> Result<Json<Value>, Error> {
    let active = landscape.troubles.active();
    Ok(Json(shown(&landscape, landscape.system(&name)?, &active)))
}

fn shown(landscape: &Landscape, system: &dyn System, active: &[Rule]) -> Value {
    let name = system.name();
    let concerns = |rule: &&Rule| rule.system.as_deref().is_none_or(|of| of == name);
    let troubles: Vec<&Rule> = active.iter().filter(concerns).collect();
    let now = landscape.clock.now();
    let down = troubles
        .iter()
        .any(|rule| matches!(rule.trouble, Kind::Down { .. }) && rule.is_for_all(now));
    let health = match (down, troubles.is_empty()) {
        (true, _) => "down",
        (false, false) => "troubled",
        (false, true) => "up",
    };
    json!({
        "name": name,
        "purpose": system.purpose(),
        "base": system.base(),
        "health": health,
        "troubles": troubles.iter().map(|rule| rule.id).collect::<Vec<_>>(),
        "calls": landscape.ledger.sums(name),
        "objects": system.objects().len(),
        "orders": system.orders(),
    })
}

#[derive(Deserialize)]
pub(super) struct ObjectsQuery {
    kind: Option<String>,
}

/// Lists what a system keeps.
pub(super) async fn objects(
    State(landscape): State<Arc<Landscape>>,
    Path(name): Path<String>,
    wanted: Result<Query<ObjectsQuery>, QueryRejection>,
) -> Result<Json<Value>, Error> {
    let Query(ObjectsQuery { kind }) = wanted?;
    let mut objects = landscape.system(&name)?.objects();
    objects.retain(|object| kind.as_deref().is_none_or(|kind| kind == object.kind));
    Ok(Json(json!({ "objects": objects })))
}

/// Shows one thing that a system keeps.
pub(super) async fn object(
    State(landscape): State<Arc<Landscape>>,
    Path((name, kind, id)): Path<(String, String, String)>,
) -> Result<Json<Object>, Error> {
    let objects = landscape.system(&name)?.objects();
    let found = objects.into_iter().find(|object| object.kind == kind && object.id == id);
    found.map(Json).ok_or_else(|| Error::NotFound(format!("{kind} {id}")))
}

/// Takes one thing away.
pub(super) async fn delete(
    State(landscape): State<Arc<Landscape>>,
    Path((name, kind, id)): Path<(String, String, String)>,
) -> Result<StatusCode, Error> {
    if landscape.system(&name)?.delete(&kind, &id)? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Error::NotFound(format!("{kind} {id} that can be deleted")))
    }
}

/// Gives a system an order.
pub(super) async fn order(
    State(landscape): State<Arc<Landscape>>,
    Path((name, order)): Path<(String, String)>,
    with: Result<Json<Value>, JsonRejection>,
) -> Result<StatusCode, Error> {
    // An order without a body needs nothing else.
    let with = match with {
        Ok(Json(with)) => with,
        Err(JsonRejection::MissingJsonContentType(_)) => Value::Null,
        Err(error) => return Err(error.into()),
    };
    landscape.system(&name)?.order(&order, &with)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes one system forget everything, its trouble included.
pub(super) async fn reset(
    State(landscape): State<Arc<Landscape>>,
    Path(name): Path<String>,
) -> Result<StatusCode, Error> {
    landscape.system(&name)?.reset()?;
    landscape.troubles.clear(Some(&name))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes all systems forget everything. The ledger stays.
pub(super) async fn reset_all(
    State(landscape): State<Arc<Landscape>>,
) -> Result<StatusCode, Error> {
    landscape.reset()?;
    Ok(StatusCode::NO_CONTENT)
}
