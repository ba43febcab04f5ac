//! The service's calls.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    Avs,
    error::Refusal,
    evaluations::{Evaluation, Evaluations, Event, NewEvaluation, STATUSES, Tag},
};

type Shared = State<Arc<Avs>>;

pub(super) async fn create(
    State(avs): Shared,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let asked: NewEvaluation = parsed(&body)?;
    let asked = NewEvaluation { url: asked.url.trim().to_owned(), ..asked };
    check(&asked)?;
    let now = avs.clock.now().as_second();
    avs.evaluations.change(|known| {
        let evaluation = Evaluation {
            id: avs.settings.first_id + known.created,
            tags: asked.tags.clone().unwrap_or_default(),
            asked,
            status: "ACTIVE".into(),
            created_at: now,
            changed_at: now,
        };
        let shown = shown(&evaluation, known);
        Ok((Some(Event::Created(Box::new(evaluation))), (StatusCode::CREATED, shown)))
    })
}

pub(super) async fn show(
    State(avs): Shared,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    avs.evaluations.read(|known| Ok(shown(find(known, &id)?, known)))
}

pub(super) async fn tag(
    State(avs): Shared,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<Value>, Refusal> {
    let tag: Tag = parsed(&body)?;
    let at = avs.clock.now().as_second();
    avs.evaluations.change(|known| {
        let mut evaluation = find(known, &id)?.clone();
        evaluation.tags.push(tag.clone());
        evaluation.changed_at = at;
        let id = evaluation.id;
        Ok((Some(Event::Tagged { id, tag, at }), shown(&evaluation, known)))
    })
}

pub(super) async fn set_status(
    State(avs): Shared,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<Value>, Refusal> {
    let status: String = parsed(&body)?;
    let at = avs.clock.now().as_second();
    avs.evaluations.change(|known| {
        let mut evaluation = find(known, &id)?.clone();
        if !STATUSES.contains(&status.as_str()) {
            return Err(Refusal::Status);
        }
        (evaluation.status, evaluation.changed_at) = (status.clone(), at);
        let id = evaluation.id;
        Ok((Some(Event::StatusSet { id, status, at }), shown(&evaluation, known)))
    })
}

pub(super) async fn unlink(
    State(avs): Shared,
    Path((parent, child)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    let (parent, child) = (number(&parent)?, number(&child)?);
    avs.evaluations.change(|known| {
        let children = known.children.get(&parent);
        if children.is_some_and(|children| children.contains(&child)) {
            Ok((Some(Event::Unlinked { parent, child }), Json(json!({ "id": parent }))))
        } else {
            Err(Refusal::NoChild { parent, child })
        }
    })
}

pub(super) async fn remove(
    State(avs): Shared,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    avs.evaluations.change(|known| {
        let id = find(known, &id)?.id;
        Ok((Some(Event::Deleted { id }), Json(json!({ "id": id, "status": "DELETED" }))))
    })
}

fn check(asked: &NewEvaluation) -> Result<(), Refusal> {
    let wrong = |text: &str| Err(Refusal::Invalid(text.to_owned()));
    if asked.definition_type != "BASIC" {
        return wrong("definition_type is not supported");
    }
    if asked.name.is_empty() || asked.name.chars().count() > 80 {
        return wrong("name must have 1 to 80 characters");
    }
    if asked.description.chars().count() > 255 {
        return wrong("description must not have more than 255 characters");
    }
    if asked.threshold.parse::<i64>().is_err() {
        return wrong("threshold is not a number");
    }
    if asked.interval < 1 {
        return wrong("interval must be positive");
    }
    Ok(())
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::Invalid(error.to_string()))
}

fn number(id: &str) -> Result<i64, Refusal> {
    id.parse().map_err(|_| Refusal::NotFound(id.to_owned()))
}

fn find<'a>(known: &'a Evaluations, id: &str) -> Result<&'a Evaluation, Refusal> {
    known.by_id.get(&number(id)?).ok_or_else(|| Refusal::NotFound(id.to_owned()))
}

fn shown(evaluation: &Evaluation, known: &Evaluations) -> Json<Value> {
    let asked = &evaluation.asked;
    let threshold: Value = match asked.threshold.parse::<i64>() {
        Ok(number) if !known.threshold_as_text => number.into(),
        _ => asked.threshold.clone().into(),
    };
    Json(json!({
        "definition_type": asked.definition_type,
        "name": asked.name,
        "description": asked.description,
        "service": asked.service,
        "url": asked.url,
        "check_type": asked.check_type,
        "interval": asked.interval,
        "tester_access_id": asked.tester_access_id,
        "timeout": asked.timeout,
        "read_only": asked.read_only,
        "content_check": asked.content_check,
        "content_check_type": asked.content_check_type,
        "threshold": threshold,
        "group_id": asked.group_id,
        "visibility": asked.visibility,
        "tags": evaluation.tags,
        "id": evaluation.id,
        "legacy_check_id": evaluation.id,
        "id_on_tester": evaluation.id.to_string(),
        "dateCreated": evaluation.created_at,
        "dateChanged": evaluation.changed_at,
        "owner": "kcp",
        "status": evaluation.status,
        "alerts": [],
        "internal_interval": asked.interval,
        "auth_type": "AUTH_NONE",
        "individual_outage_events_only": false,
    }))
}
