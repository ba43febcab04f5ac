//! The service's calls.

use std::sync::Arc;

use axum::{body::Bytes, extract::State, http::StatusCode};
use jiff::{civil::DateTime, fmt::strtime};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    Spc,
    error::Refusal,
    events::{Event, Progress, RuntimeUpdate, Status},
};

type Shared = State<Arc<Spc>>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnnounceRequest {
    orchestration_id: String,
    event_type: String,
    tenants: Vec<Tenant>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateRequest {
    orchestration_id: String,
    tenants: Vec<Tenant>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelRequest {
    orchestration_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tenant {
    instance_id: String,
    start_date_time: Option<String>,
    end_date_time: Option<String>,
    event_state: Option<String>,
}

pub(super) async fn create(State(spc): Shared, body: Bytes) -> Result<StatusCode, Refusal> {
    let AnnounceRequest { orchestration_id: id, event_type: kind, tenants } = parsed(&body)?;
    let id = named(id)?;
    if !matches!(kind.as_str(), "0" | "1") {
        return Err(Refusal::Invalid("eventType must be \"0\" or \"1\"".into()));
    }
    let tenants = runtime_updates(tenants)?;
    spc.events.change(|known| {
        if !known.kept.contains_key(&id) {
            return Ok((Some(Event::Created { id, kind, tenants }), StatusCode::CREATED));
        }
        if known.refuses_twice {
            return Err(Refusal::Exists(id));
        }
        let kept = &known.kept[&id].tenants;
        let news = |said: RuntimeUpdate| match kept.get(&said.instance) {
            None => Some(said),
            // One that was to be left alone is planned again.
            Some(known) if known.progress == Progress::Cancelled => {
                Some(RuntimeUpdate { progress: said.progress.or(Some(Progress::Planned)), ..said })
            }
            Some(_) => None,
        };
        let tenants: Vec<RuntimeUpdate> = tenants.into_iter().filter_map(news).collect();
        let change = (!tenants.is_empty()).then_some(Event::Created { id, kind, tenants });
        Ok((change, StatusCode::OK))
    })
}

pub(super) async fn update(State(spc): Shared, body: Bytes) -> Result<StatusCode, Refusal> {
    let UpdateRequest { orchestration_id, tenants } = parsed(&body)?;
    let (id, tenants) = (named(orchestration_id)?, runtime_updates(tenants)?);
    spc.events.change(|known| {
        let Some(kept) = known.kept.get(&id) else { return Err(Refusal::NotFound(id)) };
        // A repetition is answered like the first time, and changes nothing.
        let change = kept.is_news(&tenants).then_some(Event::Updated { id, tenants });
        Ok((change, StatusCode::OK))
    })
}

pub(super) async fn cancel(State(spc): Shared, body: Bytes) -> Result<StatusCode, Refusal> {
    let CancelRequest { orchestration_id } = parsed(&body)?;
    let id = named(orchestration_id)?;
    spc.events.change(|known| {
        let Some(kept) = known.kept.get(&id) else { return Err(Refusal::NotFound(id)) };
        let change = (kept.status != Status::Cancelled).then_some(Event::Cancelled { id });
        Ok((change, StatusCode::OK))
    })
}

fn runtime_updates(tenants: Vec<Tenant>) -> Result<Vec<RuntimeUpdate>, Refusal> {
    tenants
        .into_iter()
        .map(|tenant| {
            let progress = tenant.event_state.as_deref().filter(|state| !state.is_empty());
            let progress = match progress {
                None => None,
                Some("1") => Some(Progress::UnderMaintenance),
                Some("2") => Some(Progress::Finished),
                Some("3") => Some(Progress::Cancelled),
                Some(_) => return Err(Refusal::Invalid("eventState is not known".into())),
            };
            let (start, end) = (time(tenant.start_date_time)?, time(tenant.end_date_time)?);
            Ok(RuntimeUpdate { instance: named(tenant.instance_id)?, progress, start, end })
        })
        .collect()
}

/// A time without a zone, or as some programs print theirs: `2023-04-01 22:00:00 +0000 UTC`.
fn time(text: Option<String>) -> Result<Option<String>, Refusal> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let plain = |text: &str| {
        let read = strtime::parse("%Y-%m-%d %H:%M:%S", text).and_then(|read| read.to_datetime());
        read.ok()
    };
    let printed = |text: &str| -> Option<DateTime> {
        let mut words = text.splitn(3, ' ');
        let (date, clock, zone) = (words.next()?, words.next()?, words.next()?);
        let whole = clock.split('.').next()?;
        let offset = zone.split(' ').next()?;
        let good = offset.len() == 5 && offset.starts_with(['+', '-']);
        plain(&format!("{date} {whole}")).filter(|_| good)
    };
    if plain(&text).or_else(|| printed(&text)).is_none() {
        return Err(Refusal::Invalid("a time must look like 2023-04-01 22:00:00".into()));
    }
    Ok(Some(text))
}

fn named(id: String) -> Result<String, Refusal> {
    if id.is_empty() { Err(Refusal::Invalid("an id is empty".into())) } else { Ok(id) }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::Invalid(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_taken_in_both_spellings() {
        let good = ["2023-04-01 22:00:00", "2023-04-01 22:00:00 +0000 UTC", ""];
        let bad =
            ["2023-04-01T22:00:00Z", "soon", "2023-04-31 22:00:00", "2023-04-01 22:00:00 UTC"];

        assert!(good.iter().all(|text| time(Some((*text).into())).is_ok()));
        assert!(bad.iter().all(|text| time(Some((*text).into())).is_err()));
    }
}
