//! The events service in its three editions.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Query, State},
    http::HeaderMap,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Cis,
    access::Refusal,
    cursor::Cursor,
    records::{Happening, Records},
};

type Fields = Query<Vec<(String, String)>>;

const DELETION: &str = "Subaccount_Deletion";
const OLD_DELETION: &str = "MASTER_SUBACCOUNT_DELETION";

/// The request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Question {
    kinds: Vec<String>,
    /// Older ones are not asked for, in milliseconds.
    since: i64,
    by_action: bool,
    descending: bool,
    size: usize,
}

/// An event, its number, and the time it is sorted by.
type NumberedEvent<'a> = (i64, usize, &'a Happening);

impl Question {
    fn answers<'a>(&self, cis: &Cis, known: &'a Records) -> Vec<NumberedEvent<'a>> {
        let now = cis.clock.now();
        let kept = |event: &Happening| {
            event.created_at <= now && event.created_at + cis.settings.retention > now
        };
        let asked = |event: &Happening| {
            let fits = self.kinds.is_empty() || self.kinds.contains(&event.kind);
            fits && event.action_at.as_millisecond() >= self.since
        };
        let events = known.events.iter().enumerate();
        let mut found: Vec<NumberedEvent<'a>> = events
            .filter(|(_, event)| kept(event) && asked(event))
            .map(|(at, event)| {
                let time = if self.by_action { event.action_at } else { event.created_at };
                (time.as_millisecond(), at + 1, event)
            })
            .collect();
        found.sort_by_key(|(time, id, _)| (*time, *id));
        if self.descending {
            found.reverse();
        }
        found
    }
}

/// The public edition: pages count from one.
pub(super) async fn public(
    State(cis): State<Arc<Cis>>,
    headers: HeaderMap,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    cis.admit(&headers)?;
    let since: i64 = number(&fields, "ts")?.ok_or(Refusal::BadRequest("ts is required"))?;
    let kind = one(&fields, "type").ok_or(Refusal::BadRequest("type is required"))?;
    let kinds = vec![if kind == OLD_DELETION { DELETION } else { kind }.to_owned()];
    let size = size(&fields, "resultsPerPage", 1_000)?;
    let page: usize = number(&fields, "page")?.unwrap_or(1);
    let page = page.checked_sub(1).ok_or(Refusal::BadRequest("pages count from one"))?;
    let question = Question { kinds, since, by_action: false, descending: false, size };
    Ok(Json(cis.known.read(|known| {
        let found = question.answers(&cis, known);
        let shown = found.iter().skip(page.saturating_mul(size)).take(size);
        let shown: Vec<Value> = shown
            .map(|(time, id, event)| json!({
                "id": id, "timestamp": time, "type": OLD_DELETION,
                "eventData": { "subaccountGuid": event.subaccount, "globalAccountGuid": event.global_account },
            }))
            .collect();
        let pages = announced(known, found.len(), size, page);
        json!({ "totalResults": found.len(), "totalPages": pages, "events": shown })
    })))
}

/// The first central edition: pages count from zero.
pub(super) async fn numbered(
    State(cis): State<Arc<Cis>>,
    headers: HeaderMap,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    cis.admit(&headers)?;
    let question = asked(&cis, &fields)?;
    let page: usize = number(&fields, "pageNum")?.unwrap_or(0);
    Ok(Json(cis.known.read(|known| {
        let found = question.answers(&cis, known);
        let shown = found.iter().skip(page.saturating_mul(question.size)).take(question.size);
        let shown: Vec<Value> = shown.map(|(_, id, event)| event.central(*id)).collect();
        let pages = announced(known, found.len(), question.size, page);
        json!({
            "total": found.len(), "totalPages": pages, "pageNum": page,
            "morePages": (page as u64) + 1 < pages, "events": shown,
        })
    })))
}

/// The second central edition: each page names the next.
pub(super) async fn central(
    State(cis): State<Arc<Cis>>,
    headers: HeaderMap,
    Query(fields): Fields,
) -> Result<Json<Value>, Refusal> {
    cis.admit(&headers)?;
    let now = cis.clock.now();
    let cursor = match one(&fields, "cursor") {
        None => None,
        Some(_) if fields.len() > 1 => {
            return Err(Refusal::BadRequest("a cursor stands for the whole question"));
        }
        Some(text) => Some(Cursor::read(text).ok_or(Refusal::BadRequest("invalid cursor"))?),
    };
    if let Some(cursor) = &cursor
        && !is_good(&cis, cursor, now)
    {
        return Err(Refusal::Gone);
    }
    let question = match &cursor {
        Some(cursor) => cursor.question.clone(),
        None => asked(&cis, &fields)?,
    };
    Ok(Json(cis.known.read(|known| {
        let found = question.answers(&cis, known);
        let after = cursor.as_ref().map(|cursor| cursor.after);
        let behind = |(time, id, _): &&NumberedEvent<'_>| {
            after.is_none_or(|after| {
                if question.descending { (*time, *id) < after } else { (*time, *id) > after }
            })
        };
        let rest: Vec<&NumberedEvent<'_>> = found.iter().filter(behind).collect();
        let shown: Vec<Value> =
            rest.iter().take(question.size).map(|(_, id, event)| event.central(*id)).collect();
        let last = rest.get(question.size.wrapping_sub(1)).filter(|_| rest.len() > question.size);
        let given = now.as_millisecond();
        let next = last.map(|(time, id, _)| Cursor {
            question: question.clone(),
            after: (*time, *id),
            given,
        });
        let next = match (known.cursors_circle, cursor) {
            (true, Some(cursor)) => Some(cursor),
            _ => next,
        };
        json!({ "events": shown, "nextCursor": next.map(|next| next.write()) })
    })))
}

fn is_good(cis: &Cis, cursor: &Cursor, now: Timestamp) -> bool {
    let Ok(given) = Timestamp::from_millisecond(cursor.given) else { return false };
    let after = cis.known.read(|known| known.cursors_good_after);
    given + cis.settings.cursor > now && after.is_none_or(|after| given > after)
}

fn asked(cis: &Cis, fields: &[(String, String)]) -> Result<Question, Refusal> {
    let kinds = fields.iter().filter(|(name, _)| name == "eventType").map(|(_, kind)| kind.clone());
    if one(fields, "entityType").is_some_and(|kind| kind != "Subaccount") {
        return Err(Refusal::BadRequest("only events of subaccounts are known here"));
    }
    let now = cis.clock.now().as_millisecond();
    let since = match one(fields, "since") {
        None => 0,
        Some(text) => now - window(text).ok_or(Refusal::BadRequest("since is like 24H or 30D"))?,
    };
    let by_action = match one(fields, "sortField") {
        None | Some("creationTime") => false,
        Some("actionTime") => true,
        Some(_) => return Err(Refusal::BadRequest("unknown sortField")),
    };
    let descending = match one(fields, "sortOrder") {
        None | Some("ASC") => false,
        Some("DESC") => true,
        Some(_) => return Err(Refusal::BadRequest("unknown sortOrder")),
    };
    let size = size(fields, "pageSize", 150)?;
    Ok(Question { kinds: kinds.collect(), since, by_action, descending, size })
}

/// Hours or days, in milliseconds.
fn window(text: &str) -> Option<i64> {
    const HOUR: i64 = 3_600_000;
    let hours = match (text.strip_suffix('H'), text.strip_suffix('D')) {
        (Some(hours), _) => hours.parse::<i64>().ok()?,
        (_, Some(days)) => days.parse::<i64>().ok()?.checked_mul(24)?,
        _ => return None,
    };
    hours.checked_mul(HOUR).filter(|_| (1..=720).contains(&hours))
}

/// The pages there are. Asked for the first one, more may be announced than there will be.
fn announced(known: &Records, events: usize, size: usize, page: usize) -> u64 {
    let pages = events.div_ceil(size) as u64;
    pages + if page == 0 { known.pages_more } else { 0 }
}

fn one<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
}

fn number<T: std::str::FromStr>(
    fields: &[(String, String)],
    name: &str,
) -> Result<Option<T>, Refusal> {
    let parsed = one(fields, name).map(str::parse).transpose();
    parsed.map_err(|_| Refusal::BadRequest("a number is none"))
}

fn size(fields: &[(String, String)], name: &str, usual: usize) -> Result<usize, Refusal> {
    let size = number(fields, name)?.unwrap_or(usual);
    if size == 0 { Err(Refusal::BadRequest("a page has at least one event")) } else { Ok(size) }
}
