//! Resource groups.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Azure,
    access::QueryParams,
    error::Refusal,
    records::{Event, Group, key},
};

type Fields = Query<Vec<(String, String)>>;
const VERSIONS: [&str; 3] = ["2019-05-01", "2020-06-01", "2021-04-01"];

/// The body of a creation.
#[derive(Deserialize)]
pub(super) struct Body {
    #[serde(default)]
    pub(super) location: String,
    #[serde(default)]
    pub(super) tags: BTreeMap<String, String>,
}

impl Body {
    pub(super) fn read(body: &[u8]) -> Result<Self, Refusal> {
        let read: Self = serde_json::from_slice(body).map_err(|error| {
            Refusal::new(
                400,
                "InvalidRequestContent",
                format!("The request content was invalid: {error}"),
            )
        })?;
        if read.location.is_empty() {
            return Err(Refusal::new(
                400,
                "LocationRequired",
                "The location property is required for this definition.",
            ));
        }
        Ok(read)
    }
}

/// Makes a group, or changes the one that is there.
pub(super) async fn put(
    State(azure): State<Arc<Azure>>,
    headers: HeaderMap,
    Path((subscription, name)): Path<(String, String)>,
    Query(fields): Fields,
    body: Bytes,
) -> Result<Response, Refusal> {
    azure.enter(&headers, &subscription, &QueryParams(fields), &VERSIONS)?;
    let Body { location, tags } = Body::read(&body)?;
    let good = |c: char| c.is_alphanumeric() || "-_().".contains(c);
    if name.chars().count() > 90 || name.ends_with('.') || !name.chars().all(good) {
        let said = format!(
            "The provided resource group name '{name}' has these invalid characters or is too long."
        );
        return Err(Refusal::new(400, "InvalidResourceGroupName", said));
    }
    azure.known.change(|known| {
        let key = key(&subscription, &name);
        let before = known.groups.get(&key);
        if before.is_some_and(|group| group.deleting_since.is_some()) {
            let said = format!("The resource group '{name}' is in deprovisioning state and cannot perform this operation.");
            return Err(Refusal::new(409, "ResourceGroupBeingDeleted", said));
        }
        if let Some(group) = before
            && group.location != location
        {
            let said = format!("Invalid resource group location '{location}'. The Resource group already exists in location '{}'.", group.location);
            return Err(Refusal::new(409, "InvalidResourceGroupLocation", said));
        }
        let status = if before.is_some() { StatusCode::OK } else { StatusCode::CREATED };
        let (stuck, locked) = before.map_or((false, false), |group| (group.stuck, group.locked));
        let subscription = subscription.clone();
        let group =
            Group { subscription, name, location, tags, deleting_since: None, stuck, locked };
        let answer = (status, Json(shown(&group))).into_response();
        Ok((Some(Event::GroupPut { key, group }), answer))
    })
}

/// Lists groups, all or those with a tag.
pub(super) async fn list(
    State(azure): State<Arc<Azure>>,
    headers: HeaderMap,
    Path(subscription): Path<String>,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    let asked = QueryParams(fields);
    azure.enter(&headers, &subscription, &asked, &VERSIONS)?;
    let tag = asked.one("$filter").map(|filter| {
        by_tag(filter).ok_or_else(|| {
            Refusal::new(
                400,
                "InvalidFilterInQueryString",
                format!("Invalid $filter '{filter}' specified in the query string."),
            )
        })
    });
    let tag = tag.transpose()?;
    let found: Vec<Value> = azure.known.read(|known| {
        let groups = known.groups.values().filter(|group| group.subscription == subscription);
        let fitting = groups.filter(|group| {
            tag.as_ref().is_none_or(|(name, value)| group.tags.get(name) == Some(value))
        });
        fitting.map(shown).collect()
    });
    let path = format!("{}/subscriptions/{subscription}/resourcegroups", azure.url());
    Ok(Json(paged(&azure, found, &asked, &path)))
}

/// Shows a group.
pub(super) async fn show(
    State(azure): State<Arc<Azure>>,
    headers: HeaderMap,
    Path((subscription, name)): Path<(String, String)>,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    azure.enter(&headers, &subscription, &QueryParams(fields), &VERSIONS)?;
    azure.known.read(|known| {
        let found = known.groups.get(&key(&subscription, &name));
        found.map(|group| Json(shown(group))).ok_or_else(|| Refusal::no_group(&name))
    })
}

/// Deletes a group, later.
pub(super) async fn delete(
    State(azure): State<Arc<Azure>>,
    headers: HeaderMap,
    Path((subscription, name)): Path<(String, String)>,
    Query(fields): Fields,
) -> Result<Response, Refusal> {
    azure.enter(&headers, &subscription, &QueryParams(fields), &VERSIONS)?;
    let at = azure.clock.now();
    let key = key(&subscription, &name);
    azure.known.change(|known| {
        let group = known.groups.get(&key).ok_or_else(|| Refusal::no_group(&name))?;
        if group.locked {
            let said = format!("The scope '{name}' cannot perform delete operation because the following scope(s) are locked.");
            return Err(Refusal::new(409, "ScopeLocked", said));
        }
        Ok((Some(Event::GroupDeleting { key: key.clone(), at }), ()))
    })?;
    Ok(going_on(&azure, &subscription, &key))
}

/// Tells how far a deletion is.
pub(super) async fn deletion(
    State(azure): State<Arc<Azure>>,
    headers: HeaderMap,
    Path((subscription, id)): Path<(String, String)>,
    Query(fields): Fields,
) -> Result<Response, Refusal> {
    azure.enter(&headers, &subscription, &QueryParams(fields), &VERSIONS)?;
    let key = BASE64_URL_SAFE_NO_PAD.decode(&id).ok().and_then(|key| String::from_utf8(key).ok());
    let key = key.filter(|key| key.starts_with(&format!("{subscription}/")));
    let key = key.ok_or_else(|| Refusal::new(404, "NotFound", "There is no such operation."))?;
    let there = azure
        .known
        .read(|known| known.groups.get(&key).is_some_and(|group| group.deleting_since.is_some()));
    Ok(if there { going_on(&azure, &subscription, &key) } else { StatusCode::OK.into_response() })
}

fn going_on(azure: &Azure, subscription: &str, key: &str) -> Response {
    let id = BASE64_URL_SAFE_NO_PAD.encode(key);
    let link = format!(
        "{}/subscriptions/{subscription}/operationresults/{id}?api-version=2019-05-01",
        azure.url()
    );
    let wait = azure.pace.scaled(azure.settings.deleting).as_secs().max(1).to_string();
    (StatusCode::ACCEPTED, [(header::LOCATION, link), (header::RETRY_AFTER, wait)]).into_response()
}

fn shown(group: &Group) -> Value {
    let state = if group.deleting_since.is_some() { "Deleting" } else { "Succeeded" };
    json!({
        "id": format!("/subscriptions/{}/resourceGroups/{}", group.subscription, group.name),
        "name": group.name, "type": "Microsoft.Resources/resourceGroups",
        "location": group.location, "tags": group.tags,
        "properties": { "provisioningState": state },
    })
}

/// One page of things, and where the next is.
pub(super) fn paged(azure: &Azure, all: Vec<Value>, asked: &QueryParams, path: &str) -> Value {
    let size = azure.page();
    let skip: usize = asked.one("$skiptoken").and_then(|skip| skip.parse().ok()).unwrap_or(0);
    let more = all.len() > skip.saturating_add(size);
    let mut answer = json!({ "value": all.into_iter().skip(skip).take(size).collect::<Vec<_>>() });
    if more {
        let kept = asked.0.iter().filter(|(name, _)| name != "$skiptoken");
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(kept)
            .append_pair("$skiptoken", &(skip + size).to_string())
            .finish();
        answer["nextLink"] = format!("{path}?{query}").into();
    }
    answer
}

/// Reads `tagName eq 'a' and tagValue eq 'b'`.
fn by_tag(filter: &str) -> Option<(String, String)> {
    let rest = filter.trim().strip_prefix("tagName eq '")?;
    let (name, rest) = rest.split_once("' and tagValue eq '")?;
    let value = rest.strip_suffix('\'')?;
    Some((name.replace("''", "'"), value.replace("''", "'")))
}
