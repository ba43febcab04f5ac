//! Routes for operators: rounds, histories, and stored objects.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query, State},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    Reconciler,
    clusters::found,
    error::Refusal,
    records::{Event, Records, Round, Status},
};

type Fields = Query<Vec<(String, String)>>;
const WEEK: Duration = Duration::from_hours(7 * 24);
/// How a cluster can be named when its state is asked for.
const NAMES: [&str; 3] = ["runtimeID", "schedulingID", "correlationID"];

/// The query parameters that have a value: empty ones count as absent.
fn given(fields: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    let all = fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    all.filter(|(_, value)| !value.is_empty())
}

/// All that is kept about a cluster.
pub(super) async fn state(
    State(reconciler): State<Arc<Reconciler>>,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    reconciler.settle()?;
    reconciler.known.read(|known| {
        let mut given = given(&fields).filter(|(name, _)| NAMES.contains(name));
        let runtime = match given.next() {
            Some(("runtimeID", id)) => id.to_owned(),
            Some(("schedulingID", id)) => round(known, id)?.runtime.clone(),
            Some(("correlationID", id)) => {
                let of = |round: &&Round| correlations(round).any(|(_, it)| it == id);
                let round = known.rounds.iter().find(of).ok_or_else(|| missing(id))?;
                round.runtime.clone()
            }
            _ => {
                return Err(Refusal::BadRequest(
                    "one of runtimeID, schedulingID, correlationID is required".into(),
                ));
            }
        };
        let cluster = found(known, &runtime)?;
        let config = cluster.configs.last().ok_or(Refusal::Internal)?;
        Ok(Json(json!({
            "cluster": {
                "runtimeID": runtime, "version": cluster.version, "created": cluster.created_at,
                "runtime": cluster.runtime_input, "metadata": cluster.metadata, "contract": 1,
            },
            "configuration": {
                "runtimeID": runtime, "version": config.version, "contract": 1,
                "clusterVersion": config.cluster_version, "kymaVersion": config.says["version"],
                "kymaProfile": config.says["profile"], "components": config.says["components"],
                "administrators": config.says["administrators"], "deleted": false,
            },
            "status": {
                "runtimeID": runtime, "clusterVersion": cluster.version, "deleted": false,
                "configVersion": config.version, "status": cluster.status, "created": cluster.since,
            },
        })))
    })
}

/// Returns a configuration.
pub(super) async fn configuration(
    State(reconciler): State<Arc<Reconciler>>,
    Path((runtime, version)): Path<(String, i64)>,
) -> Result<Json<Value>, Refusal> {
    reconciler.known.read(|known| {
        let configs = &found(known, &runtime)?.configs;
        let config = configs.iter().find(|config| config.version == version);
        config.map(|config| Json(config.says.clone())).ok_or_else(|| missing(&version.to_string()))
    })
}

/// Returns the status changes of a cluster.
pub(super) async fn history(
    State(reconciler): State<Arc<Reconciler>>,
    Path(runtime): Path<String>,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    reconciler.settle()?;
    let offset = given(&fields).find(|(name, _)| *name == "offset").map(|(_, value)| value);
    let offset = offset.map_or(Some(WEEK), duration);
    let offset = offset.ok_or_else(|| Refusal::BadRequest("invalid offset".into()))?;
    let now = reconciler.clock.now();
    reconciler.known.read(|known| {
        let history = &found(known, &runtime)?.history;
        let ends = history.iter().skip(1).map(|(at, _)| *at).chain([now]);
        let changes: Vec<Value> = history
            .iter()
            .zip(ends)
            .filter(|((at, _), _)| *at + offset >= now)
            .map(|((at, status), end)| change(*at, *status, end))
            .collect();
        Ok(Json(json!({ "statusChanges": changes })))
    })
}

fn change(at: Timestamp, status: Status, end: Timestamp) -> Value {
    let duration = i64::try_from(end.duration_since(at).as_nanos()).unwrap_or(i64::MAX);
    json!({ "started": at, "duration": duration, "status": status.shown() })
}

/// Lists rounds, the latest first.
pub(super) async fn list(
    State(reconciler): State<Arc<Reconciler>>,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    reconciler.settle()?;
    let wanted = |name: &str, value: &str| {
        let mut given = given(&fields).filter(|(field, _)| *field == name).peekable();
        given.peek().is_none() || given.any(|(_, wanted)| wanted == value)
    };
    let last = given(&fields).find(|(name, _)| *name == "last").map(|(_, last)| last.parse());
    let last: usize = last
        .transpose()
        .map_err(|_| Refusal::BadRequest("last is no number".into()))?
        .unwrap_or(usize::MAX);
    let (before, after) = (moment(&fields, "before")?, moment(&fields, "after")?);
    let between = |at: Timestamp| {
        before.is_none_or(|before| at < before) && after.is_none_or(|after| at > after)
    };
    Ok(Json(reconciler.known.read(|known| {
        let rounds = known.rounds.iter().rev();
        let rounds = rounds.filter(|round| {
            let status = json!(ending(round));
            wanted("runtimeID", &round.runtime)
                && wanted("status", status.as_str().unwrap_or(""))
                && between(round.began_at)
        });
        rounds.take(last).map(|round| round_json(known, round)).collect()
    })))
}

/// The moment that a query parameter names.
fn moment(fields: &[(String, String)], name: &str) -> Result<Option<Timestamp>, Refusal> {
    let value = given(fields).find(|(field, _)| *field == name).map(|(_, value)| value.parse());
    value.transpose().map_err(|_| Refusal::BadRequest(format!("{name} is no time")))
}

/// All about one round.
pub(super) async fn info(
    State(reconciler): State<Arc<Reconciler>>,
    Path(scheduling): Path<String>,
) -> Result<Json<Value>, Refusal> {
    reconciler.settle()?;
    reconciler.known.read(|known| {
        let round = round(known, &scheduling)?;
        let mut answer = round_json(known, round);
        answer["configVersion"] = json!(round.config);
        answer["operations"] =
            correlations(round).map(|(part, id)| operation(round, part, &id)).collect();
        Ok(Json(answer))
    })
}

/// Why a component of a round fails, if it does.
fn failing<'a>(round: &'a Round, part: &str) -> Option<&'a str> {
    let failing = round.failures.iter().find(|failing| failing.component == part);
    failing.map(|failing| failing.reason.as_str())
}

/// How far a component of a round is.
fn progress(round: &Round, part: &str) -> &'static str {
    match (&round.ended, failing(round, part)) {
        (None, _) => "in_progress",
        (Some(_), None) => "done",
        (Some(_), Some(_)) => "error",
    }
}

/// One component of a round.
fn operation(round: &Round, part: &str, id: &str) -> Value {
    json!({
        "schedulingID": round.id, "correlationID": id, "component": part,
        "state": progress(round, part), "priority": 1, "type": "reconcile",
        "reason": failing(round, part).unwrap_or_default(),
        "created": round.began_at,
        "updated": round.ended.map_or(round.began_at, |(at, _)| at),
    })
}

/// Makes one operation talk; it does not.
pub(super) async fn debug_operation(
    State(reconciler): State<Arc<Reconciler>>,
    Path((scheduling, correlation)): Path<(String, String)>,
) -> Result<(), Refusal> {
    reconciler.known.read(|known| {
        let mut all = correlations(round(known, &scheduling)?);
        all.find(|(_, id)| *id == correlation).map(drop).ok_or_else(|| missing(&correlation))
    })
}

/// Makes a round talk; it does not.
pub(super) async fn debug(
    State(reconciler): State<Arc<Reconciler>>,
    Path(scheduling): Path<String>,
) -> Result<(), Refusal> {
    reconciler.known.read(|known| round(known, &scheduling).map(|_| ()))
}

/// Forgets the rounds of a cluster.
pub(super) async fn forget(
    State(reconciler): State<Arc<Reconciler>>,
    Path(id): Path<String>,
) -> Result<(), Refusal> {
    reconciler.known.change(|_| Ok::<_, Refusal>((Some(Event::Forgotten { id }), ())))
}

/// Stops an operation that has not begun. Here all begin at once, so it is always too late.
pub(super) async fn stop(
    State(reconciler): State<Arc<Reconciler>>,
    Path((scheduling, correlation)): Path<(String, String)>,
    body: Bytes,
) -> Result<(), Refusal> {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if !body["reason"].is_string() {
        return Err(Refusal::BadRequest("reason is missing".into()));
    }
    reconciler.settle()?;
    reconciler.known.read(|known| {
        let round = round(known, &scheduling)?;
        let operation = correlations(round).find(|(_, id)| *id == correlation);
        let (part, _) = operation.ok_or_else(|| missing(&correlation))?;
        let state = progress(round, part);
        Err(Refusal::Forbidden(format!("Operation is in status: {state}, {correlation}")))
    })
}

fn round<'a>(known: &'a Records, id: &str) -> Result<&'a Round, Refusal> {
    known.rounds.iter().find(|round| round.id == id).ok_or_else(|| missing(id))
}

fn missing(id: &str) -> Refusal {
    Refusal::NotFound(format!("{id} not found"))
}

fn correlations(round: &Round) -> impl Iterator<Item = (&str, String)> {
    let id = |number: usize| format!("{}--{number}", round.id);
    round.parts.iter().enumerate().map(move |(number, part)| (part.as_str(), id(number)))
}

fn ending(round: &Round) -> Status {
    round.ended.map_or(Status::Reconciling, |(_, status)| status)
}

fn round_json(known: &Records, round: &Round) -> Value {
    let shoot = known.clusters.get(&round.runtime).map(|cluster| &cluster.metadata["shootName"]);
    json!({
        "schedulingID": round.id, "runtimeID": round.runtime, "shootName": shoot,
        "lock": if round.ended.is_none() { round.runtime.as_str() } else { "" },
        "created": round.began_at,
        "updated": round.ended.map_or(round.began_at, |(at, _)| at),
        "status": ending(round), "finished": round.ended.is_some(),
    })
}

/// A duration as Go writes it: `168h`, `1h30m`.
fn duration(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        let seconds = match unit {
            "h" => 3_600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * seconds;
        rest = tail;
    }
    Duration::try_from_secs_f64(total).ok().filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        assert_eq!(duration("24h"), Some(Duration::from_hours(24)));
        assert_eq!(duration("1h30m"), Some(Duration::from_mins(90)));
        assert_eq!(
            (duration("24"), duration("h"), duration(""), duration("1d")),
            (None, None, None, None)
        );
    }
}
