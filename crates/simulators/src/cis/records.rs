//! Subaccounts, the log of what happened to them, and how the services misbehave.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::store::State;

/// One subaccount.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Subaccount {
    pub(super) guid: String,
    pub(super) global_account: String,
    pub(super) name: String,
    pub(super) region: String,
    pub(super) beta: bool,
    pub(super) production: String,
    pub(super) created_at: Timestamp,
    pub(super) modified_at: Timestamp,
}

impl Subaccount {
    /// As its service shows it.
    pub(super) fn record(&self) -> Value {
        json!({
            "guid": self.guid, "technicalName": self.guid, "displayName": self.name,
            "globalAccountGUID": self.global_account, "parentGUID": self.global_account,
            "parentType": "ROOT", "closestEntitlementManagedParentGUID": self.global_account,
            "region": self.region, "subdomain": self.guid, "betaEnabled": self.beta,
            "usedForProduction": self.production, "description": null, "state": "OK",
            "stateMessage": "Subaccount created.", "contentAutomationState": null,
            "contentAutomationStateDetails": null, "createdBy": "simulator",
            "createdDate": self.created_at.as_millisecond(),
            "modifiedDate": self.modified_at.as_millisecond(),
        })
    }

    /// As an event about it has it.
    pub(super) fn details(&self) -> Value {
        json!({
            "description": "Subaccount event", "guid": self.guid, "technicalName": self.guid,
            "parentGuid": self.global_account, "displayName": self.name,
            "subaccountDescription": null, "region": self.region, "jobLocation": null,
            "subdomain": self.guid, "betaEnabled": self.beta, "labels": {},
            "usedForProduction": self.production,
        })
    }
}

/// Something that happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Happening {
    pub(super) kind: String,
    pub(super) subaccount: String,
    pub(super) global_account: String,
    pub(super) action_at: Timestamp,
    /// When it can be read.
    pub(super) created_at: Timestamp,
    pub(super) details: Value,
}

impl Happening {
    /// As the central editions show it; `id` counts from one.
    pub(super) fn central(&self, id: usize) -> Value {
        json!({
            "id": id, "actionTime": self.action_at.as_millisecond(),
            "creationTime": self.created_at.as_millisecond(), "details": self.details,
            "globalAccountGUID": self.global_account, "entityId": self.subaccount,
            "entityType": "Subaccount", "eventOrigin": "accounts-service", "eventType": self.kind,
        })
    }
}

/// Everything the services keep.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Records {
    pub(super) subaccounts: BTreeMap<String, Subaccount>,
    pub(super) deleted: BTreeSet<String>,
    pub(super) events: Vec<Happening>,
    /// By subaccount and plan; whatever an operator wants to be answered.
    pub(super) entitlements: BTreeMap<String, Value>,
    /// Whether subaccounts that were never created are unknown to the entitlements service.
    pub(super) strict: bool,
    pub(super) per_second: Option<usize>,
    pub(super) cursors_circle: bool,
    pub(super) cursors_good_after: Option<Timestamp>,
    /// How many pages more than there are the numbered editions announce at first.
    pub(super) pages_more: u64,
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    /// Made or changed, with its fields.
    Set(Subaccount, Happening),
    Deleted {
        guid: String,
        happening: Happening,
    },
    Happened(Happening),
    Entitled {
        subaccount: String,
        plan: String,
        amount: Value,
    },
    Strict {
        on: bool,
    },
    Limited {
        per_second: Option<usize>,
    },
    CursorsCircle {
        on: bool,
    },
    CursorsExpired {
        at: Timestamp,
    },
    PagesMore {
        by: u64,
    },
    Removed {
        guid: String,
    },
}

/// Under which an entitlement is kept.
pub(super) fn entitled(subaccount: &str, plan: &str) -> String {
    format!("{subaccount} {plan}")
}

impl State for Records {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::Set(subaccount, happening) => {
                self.deleted.remove(&subaccount.guid);
                self.subaccounts.insert(subaccount.guid.clone(), subaccount);
                self.events.push(happening);
            }
            Event::Deleted { guid, happening } => {
                self.subaccounts.remove(&guid);
                self.deleted.insert(guid);
                self.events.push(happening);
            }
            Event::Happened(happening) => self.events.push(happening),
            Event::Entitled { subaccount, plan, amount } => {
                self.entitlements.insert(entitled(&subaccount, &plan), amount);
            }
            Event::Strict { on } => self.strict = on,
            Event::Limited { per_second } => self.per_second = per_second,
            Event::CursorsCircle { on } => self.cursors_circle = on,
            Event::CursorsExpired { at } => self.cursors_good_after = Some(at),
            Event::PagesMore { by } => self.pages_more = by,
            Event::Removed { guid } => drop(self.subaccounts.remove(&guid)),
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::Set(subaccount, _) => format!("set subaccount/{}", subaccount.guid),
            Event::Deleted { guid, .. } => format!("delete subaccount/{guid}"),
            Event::Happened(happening) => format!("tell subaccount/{}", happening.subaccount),
            Event::Entitled { subaccount, .. } => format!("entitle subaccount/{subaccount}"),
            Event::Removed { guid } => format!("remove subaccount/{guid}"),
            Event::Strict { .. }
            | Event::Limited { .. }
            | Event::CursorsCircle { .. }
            | Event::CursorsExpired { .. }
            | Event::PagesMore { .. } => "switch cis".into(),
        }
    }
}
