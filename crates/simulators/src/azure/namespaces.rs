//! Event hubs namespaces and their keys.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    Azure,
    access::QueryParams,
    error::Refusal,
    groups::{Body, paged},
    records::{Event, Namespace, Polling, Records, digest_of, key},
};

type Fields = Query<Vec<(String, String)>>;
const VERSIONS: [&str; 1] = ["2017-04-01"];

/// Makes a namespace, or changes the one that is there.
pub(super) async fn put(
    State(azure): State<Arc<Azure>>,
    headers: HeaderMap,
    Path((subscription, group, name)): Path<(String, String, String)>,
    Query(fields): Fields,
    body: Bytes,
) -> Result<Response, Refusal> {
    azure.enter(&headers, &subscription, &QueryParams(fields), &VERSIONS)?;
    let Body { location, tags } = Body::read(&body)?;
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !(6..=50).contains(&name.len())
        || !name.chars().all(good)
        || !name.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        return Err(Refusal::new(
            400,
            "BadRequest",
            format!("The specified name '{name}' is not valid."),
        ));
    }
    let (key, now) = (key(&subscription, &group), azure.clock.now());
    let (status, namespace) = azure.known.change(|known| {
        let found = known.groups.get(&key).ok_or_else(|| Refusal::no_group(&group))?;
        if found.deleting_since.is_some() {
            let said = format!("The resource group '{group}' is in deprovisioning state and cannot perform this operation.");
            return Err(Refusal::new(409, "ResourceGroupBeingDeleted", said));
        }
        let before = find(known, &key, &name);
        if before.is_none() && known.quota_used_up {
            let said = "The maximum number of namespaces of the subscription has been reached.";
            return Err(Refusal::new(403, "NamespaceQuotaExceeded", said));
        }
        let status = if before.is_some() { StatusCode::OK } else { StatusCode::CREATED };
        let fails = known.failing.contains(&name);
        let made_at = before.filter(|before| before.fails == fails).map_or(now, |it| it.made_at);
        let namespace = Namespace { name, location, tags, made_at, fails };
        let event = Event::NamespacePut { group: key.clone(), namespace: namespace.clone() };
        Ok((Some(event), (status, namespace)))
    })?;
    Ok(azure.answer(&subscription, &key, &namespace, status))
}

/// Shows a namespace.
pub(super) async fn show(
    State(azure): State<Arc<Azure>>,
    headers: HeaderMap,
    Path((subscription, group, name)): Path<(String, String, String)>,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    azure.enter(&headers, &subscription, &QueryParams(fields), &VERSIONS)?;
    let key = key(&subscription, &group);
    azure.known.read(|known| {
        known.groups.get(&key).ok_or_else(|| Refusal::no_group(&group))?;
        let found = find(known, &key, &name).ok_or_else(|| missing(&name))?;
        Ok(Json(azure.shown(&key, found)))
    })
}

/// Lists the namespaces of a group.
pub(super) async fn list(
    State(azure): State<Arc<Azure>>,
    headers: HeaderMap,
    Path((subscription, group)): Path<(String, String)>,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    let asked = QueryParams(fields);
    azure.enter(&headers, &subscription, &asked, &VERSIONS)?;
    let key = key(&subscription, &group);
    let all = azure.known.read(|known| {
        known.groups.get(&key).ok_or_else(|| Refusal::no_group(&group))?;
        let all = known.namespaces.get(&key).into_iter().flatten();
        Ok::<Vec<Value>, Refusal>(all.map(|(_, namespace)| azure.shown(&key, namespace)).collect())
    })?;
    let path = format!(
        "{}/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.EventHub/namespaces",
        azure.url()
    );
    Ok(Json(paged(&azure, all, &asked, &path)))
}

/// Tells how far a namespace is.
pub(super) async fn operation(
    State(azure): State<Arc<Azure>>,
    headers: HeaderMap,
    Path((subscription, id)): Path<(String, String)>,
    Query(fields): Fields,
) -> Result<Response, Refusal> {
    azure.enter(&headers, &subscription, &QueryParams(fields), &VERSIONS)?;
    let text =
        BASE64_URL_SAFE_NO_PAD.decode(&id).ok().and_then(|text| String::from_utf8(text).ok());
    let unknown = || Refusal::new(404, "NotFound", "There is no such operation.");
    let text =
        text.filter(|text| text.starts_with(&format!("{subscription}/"))).ok_or_else(unknown)?;
    let (key, name) = text.rsplit_once('/').ok_or_else(unknown)?;
    azure.known.read(|known| {
        let namespace = find(known, key, name).ok_or_else(unknown)?;
        let state = azure.state(namespace);
        if known.polling == Polling::Location {
            let done = state == "Succeeded" || state == "Failed";
            let status = if done { StatusCode::OK } else { StatusCode::ACCEPTED };
            return Ok((status, Json(azure.shown(key, namespace))).into_response());
        }
        let status = if state == "Creating" { "InProgress" } else { state };
        let mut answer = json!({ "id": id, "name": id, "status": status });
        if state == "Failed" {
            answer["error"] = json!({ "code": "InternalServerError", "message": "The namespace could not be made." });
        }
        Ok(Json(answer).into_response())
    })
}

/// Gives the keys of a namespace.
pub(super) async fn keys(
    State(azure): State<Arc<Azure>>,
    headers: HeaderMap,
    Path((subscription, group, name, rule)): Path<(String, String, String, String)>,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    azure.enter(&headers, &subscription, &QueryParams(fields), &VERSIONS)?;
    let key = key(&subscription, &group);
    azure.known.read(|known| {
        let namespace = find(known, &key, &name).ok_or_else(|| missing(&name))?;
        if rule != "RootManageSharedAccessKey" {
            return Err(missing(&rule));
        }
        if azure.state(namespace) == "Creating" {
            return Err(Refusal::new(409, "Conflict", format!("The namespace {name} is being made.")));
        }
        let secret = |which: &str| digest_of(&format!("{which} {key} {name} {}", namespace.made_at));
        let connection = |secret: &str| {
            if known.keys_blank {
                return String::new();
            }
            format!("Endpoint=sb://{name}.servicebus.windows.net/;SharedAccessKeyName={rule};SharedAccessKey={secret}")
        };
        let (primary, secondary) = (secret("primary"), secret("secondary"));
        Ok(Json(json!({
            "keyName": rule, "primaryKey": primary, "secondaryKey": secondary,
            "primaryConnectionString": connection(&primary),
            "secondaryConnectionString": connection(&secondary),
        })))
    })
}

impl Azure {
    fn is_over(&self, since: Timestamp) -> bool {
        since + self.pace.scaled(self.settings.making) <= self.clock.now()
    }

    fn state(&self, namespace: &Namespace) -> &'static str {
        match (self.is_over(namespace.made_at), namespace.fails) {
            (false, _) => "Creating",
            (true, true) => "Failed",
            (true, false) => "Succeeded",
        }
    }

    fn shown(&self, key: &str, namespace: &Namespace) -> Value {
        let (subscription, group) = key.split_once('/').unwrap_or_default();
        json!({
            "id": format!("/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.EventHub/namespaces/{}", namespace.name),
            "name": namespace.name, "type": "Microsoft.EventHub/Namespaces",
            "location": namespace.location, "tags": namespace.tags,
            "properties": { "provisioningState": self.state(namespace) },
        })
    }

    /// The namespace, and where to ask how far it is.
    fn answer(
        &self,
        subscription: &str,
        key: &str,
        namespace: &Namespace,
        status: StatusCode,
    ) -> Response {
        let polling = self.known.read(|known| known.polling);
        let making = self.state(namespace) == "Creating";
        let status =
            if making && polling == Polling::Location { StatusCode::ACCEPTED } else { status };
        let mut answer = (status, Json(self.shown(key, namespace))).into_response();
        let id = BASE64_URL_SAFE_NO_PAD.encode(format!("{key}/{}", namespace.name.to_lowercase()));
        let link = format!(
            "{}/subscriptions/{subscription}/providers/Microsoft.EventHub/operations/{id}?api-version=2017-04-01",
            self.url()
        );
        let name = match polling {
            Polling::Operation => HeaderName::from_static("azure-asyncoperation"),
            Polling::Location => HeaderName::from_static("location"),
            Polling::Resource => return answer,
        };
        if let (true, Ok(link)) = (making, HeaderValue::from_str(&link)) {
            answer.headers_mut().insert(name, link);
        }
        answer
    }
}

fn find<'a>(known: &'a Records, key: &str, name: &str) -> Option<&'a Namespace> {
    known.namespaces.get(key)?.get(&name.to_lowercase())
}

fn missing(name: &str) -> Refusal {
    Refusal::new(404, "ResourceNotFound", format!("The Resource '{name}' was not found."))
}
