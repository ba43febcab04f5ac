//! Events of subaccounts: deleted, created, changed.

use std::{collections::HashSet, sync::Arc, time::Duration};

use base::Clock;
use jiff::Timestamp;
use serde::Deserialize;

use super::{
    Patience, Settings, null_is_none,
    paging::{EventsRead, Question},
};
use crate::{error::Error, gate::Gate, http::Http};

const DELETION: &str = "Subaccount_Deletion";
const OLD_DELETION: &str = "MASTER_SUBACCOUNT_DELETION";
/// How far back deletions are read: as long as they are kept.
const MONTH: &str = "30D";

/// A client of the events service.
#[derive(Debug, Clone)]
pub struct Events {
    pub(super) http: Http,
    pub(super) clock: Clock,
    page_size: u16,
}

/// Which of the service's three interfaces is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// The public one: pages count from one.
    Public,
    /// The first central one: pages count from zero.
    Central,
    /// The second central one: each page names the next.
    CentralCursor,
}

impl Edition {
    /// Its path, and what it calls the number of a page.
    pub(super) fn path(self) -> (&'static str, &'static str) {
        match self {
            Self::Public => ("/public/rest/v2/events", "page"),
            Self::Central => ("/events/v1/events/central", "pageNum"),
            Self::CentralCursor => ("/events/v2/events/central", "cursor"),
        }
    }

    /// The number of its first page, if pages have numbers.
    pub(super) fn first(self) -> Option<u64> {
        match self {
            Self::Public => Some(1),
            Self::Central => Some(0),
            Self::CentralCursor => None,
        }
    }
}

/// An event of a subaccount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubaccountEvent {
    /// It was made.
    Creation,
    /// It was changed.
    Update,
}

/// A subaccount that was made or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The subaccount.
    pub subaccount: String,
    /// What happened.
    pub happened: SubaccountEvent,
    /// When.
    pub at: Timestamp,
    /// Whether it takes part in betas; `None`: the event does not say.
    pub beta_enabled: Option<bool>,
    /// Its usage; `None`: the event does not say, so the old value stays.
    pub used_for_production: Option<String>,
}

/// Changes in the order in which they happened, as far as they could be read.
#[derive(Debug)]
pub struct Changes {
    /// The changes that were read.
    pub read: Vec<Change>,
    /// The failure that ended the reading before its end.
    pub stopped: Option<Error>,
}

/// Some of the subaccounts that were deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedPage {
    /// The subaccounts; one may be there twice.
    pub subaccounts: Vec<String>,
    /// Where the next page begins; none on the last one.
    pub next: Option<String>,
}

/// The fields of an event that should be a deletion: its type, and the subaccount.
type DeletionFields = (String, String);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CentralDeletion {
    entity_id: String,
    event_type: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PublicDeletion {
    #[serde(rename = "type")]
    event_type: String,
    #[serde(default, deserialize_with = "null_is_none")]
    event_data: PublicData,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PublicData {
    #[serde(default)]
    subaccount_guid: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    entity_id: String,
    #[serde(rename = "eventType")]
    kind: String,
    action_time: i64,
    #[serde(default, deserialize_with = "null_is_none")]
    details: Details,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    beta_enabled: Option<bool>,
    used_for_production: Option<String>,
}

impl Events {
    /// The events service of `settings` behind `gate`; `tokens` is the gate of the issuer.
    pub fn through(gate: Arc<Gate>, tokens: Arc<Gate>, settings: &Settings) -> Result<Self, Error> {
        let clock = gate.clock().clone();
        Ok(Self { http: settings.http(gate, tokens)?, clock, page_size: settings.page_size })
    }

    /// Asks for one event.
    pub async fn check(&self) -> Result<(), Error> {
        let query = [("eventType", DELETION), ("entityType", "Subaccount"), ("pageSize", "1")];
        let request = self.http.get(Edition::CentralCursor.path().0).query(&query);
        self.http.send_to("events", "asking for an event", request).await.map(|_| ())
    }

    /// The subaccounts that were deleted, each once, first deleted first. All of them or a failure.
    pub async fn deleted_subaccounts(
        &self,
        edition: Edition,
        patience: Patience,
    ) -> Result<Vec<String>, Error> {
        let doing = "reading which subaccounts were deleted";
        let question = Question { edition, doing, filter: self.deletions(edition) };
        let said: Vec<DeletionFields> = if edition == Edition::Public {
            let events = self.pages::<PublicDeletion>(&question, patience).await.all()?;
            events.into_iter().map(|it| (it.event_type, it.event_data.subaccount_guid)).collect()
        } else {
            let events = self.pages::<CentralDeletion>(&question, patience).await.all()?;
            events.into_iter().map(|it| (it.event_type, it.entity_id)).collect()
        };
        let mut known = HashSet::new();
        let ids = said.into_iter().filter_map(deleted);
        Ok(ids.filter(|id| known.insert(id.clone())).collect())
    }

    /// One page of the subaccounts that were deleted, first deleted first; `after` is where the page before ended.
    pub async fn deleted_page(
        &self,
        edition: Edition,
        after: Option<&str>,
    ) -> Result<DeletedPage, Error> {
        let doing = "reading which subaccounts were deleted";
        let question = Question { edition, doing, filter: self.deletions(edition) };
        let (said, next): (Vec<DeletionFields>, _) = if edition == Edition::Public {
            let (events, next) = self.page_behind::<PublicDeletion>(&question, after).await?;
            let said = |it: PublicDeletion| (it.event_type, it.event_data.subaccount_guid);
            (events.into_iter().map(said).collect(), next)
        } else {
            let (events, next) = self.page_behind::<CentralDeletion>(&question, after).await?;
            (events.into_iter().map(|it| (it.event_type, it.entity_id)).collect(), next)
        };
        Ok(DeletedPage { subaccounts: said.into_iter().filter_map(deleted).collect(), next })
    }

    /// The subaccounts that were made or changed within `window`, which is rounded up to hours.
    pub async fn changes(&self, window: Duration, patience: Patience) -> Changes {
        let doing = "reading which subaccounts were changed";
        let hours = window.as_secs().div_ceil(3_600).max(1);
        let filter = vec![
            ("since", format!("{hours}H")),
            ("entityType", "Subaccount".to_owned()),
            ("eventType", "Subaccount_Creation".to_owned()),
            ("eventType", "Subaccount_Update".to_owned()),
            ("pageSize", self.page_size.to_string()),
            ("sortField", "actionTime".to_owned()),
            ("sortOrder", "ASC".to_owned()),
        ];
        let question = Question { edition: Edition::CentralCursor, doing, filter };
        let EventsRead { events, stopped } = self.pages::<Event>(&question, patience).await;
        let mut read: Vec<Change> = events.into_iter().filter_map(Event::change).collect();
        // The service sorts, but pages of a list that grows need not fit together.
        read.sort_by_key(|change| change.at);
        Changes { read, stopped }
    }

    fn deletions(&self, edition: Edition) -> Vec<(&'static str, String)> {
        let size = self.page_size.to_string();
        if edition == Edition::Public {
            let kind = ("type", OLD_DELETION.to_owned());
            return vec![("ts", "1".to_owned()), kind, ("resultsPerPage", size)];
        }
        let mut filter = vec![
            ("eventType", DELETION.to_owned()),
            ("pageSize", size),
            ("sortField", "creationTime".to_owned()),
            ("sortOrder", "ASC".to_owned()),
        ];
        if edition == Edition::CentralCursor {
            filter.push(("entityType", "Subaccount".to_owned()));
            filter.push(("since", MONTH.to_owned()));
        }
        filter
    }
}

fn deleted((kind, id): DeletionFields) -> Option<String> {
    let wanted = (kind == DELETION || kind == OLD_DELETION) && !id.is_empty();
    if !wanted {
        tracing::warn!(event = kind, "an event that was not asked for is left out");
    }
    wanted.then_some(id)
}

impl Event {
    fn change(self) -> Option<Change> {
        let happened = match self.kind.as_str() {
            "Subaccount_Creation" => SubaccountEvent::Creation,
            "Subaccount_Update" => SubaccountEvent::Update,
            kind => {
                tracing::warn!(event = kind, "an event that was not asked for is left out");
                return None;
            }
        };
        Some(Change {
            subaccount: self.entity_id,
            happened,
            at: Timestamp::from_millisecond(self.action_time).ok()?,
            beta_enabled: self.details.beta_enabled,
            used_for_production: self.details.used_for_production.filter(|it| !it.is_empty()),
        })
    }
}
