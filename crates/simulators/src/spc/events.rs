//! The maintenance that customers are notified of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::store::State;

/// How far an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Planned,
    Active,
    Cancelled,
}

/// How far a runtime is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Progress {
    Planned,
    UnderMaintenance,
    Finished,
    Cancelled,
}

/// One runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tenant {
    pub(super) progress: Progress,
    pub(super) start: Option<String>,
    pub(super) end: Option<String>,
}

/// An update of one runtime; other fields stay.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RuntimeUpdate {
    pub(super) instance: String,
    pub(super) progress: Option<Progress>,
    pub(super) start: Option<String>,
    pub(super) end: Option<String>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Maintenance {
    pub(super) kind: String,
    pub(super) status: Status,
    pub(super) tenants: BTreeMap<String, Tenant>,
}

/// Everything the service keeps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Events {
    /// By orchestration.
    pub(super) kept: BTreeMap<String, Maintenance>,
    /// Whether an event cannot be made twice.
    pub(super) refuses_twice: bool,
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    Created { id: String, kind: String, tenants: Vec<RuntimeUpdate> },
    Updated { id: String, tenants: Vec<RuntimeUpdate> },
    Cancelled { id: String },
    Deleted { id: String },
    RefusesTwice { on: bool },
}

impl Maintenance {
    /// Whether any of it is new.
    pub(super) fn is_news(&self, said: &[RuntimeUpdate]) -> bool {
        let mut heard = self.clone();
        for said in said {
            heard.hear(said.clone());
        }
        heard != *self
    }

    fn hear(&mut self, said: RuntimeUpdate) {
        let unheard = Tenant { progress: Progress::Planned, start: None, end: None };
        let tenant = self.tenants.entry(said.instance).or_insert(unheard);
        tenant.progress = said.progress.unwrap_or(tenant.progress);
        tenant.start = said.start.or(tenant.start.take());
        tenant.end = said.end.or(tenant.end.take());
        if tenant.progress == Progress::UnderMaintenance && self.status == Status::Planned {
            self.status = Status::Active;
        }
    }
}

impl State for Events {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::Created { id, kind, tenants } => {
                let fresh = Maintenance { kind, status: Status::Planned, tenants: BTreeMap::new() };
                let kept = self.kept.entry(id).or_insert(fresh);
                for said in tenants {
                    kept.hear(said);
                }
            }
            Event::Updated { id, tenants } => {
                if let Some(kept) = self.kept.get_mut(&id) {
                    for said in tenants {
                        kept.hear(said);
                    }
                }
            }
            Event::Cancelled { id } => {
                if let Some(kept) = self.kept.get_mut(&id) {
                    kept.status = Status::Cancelled;
                }
            }
            Event::Deleted { id } => drop(self.kept.remove(&id)),
            Event::RefusesTwice { on } => self.refuses_twice = on,
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::Created { id, .. } => format!("create event/{id}"),
            Event::Updated { id, .. } => format!("update event/{id}"),
            Event::Cancelled { id } => format!("cancel event/{id}"),
            Event::Deleted { id } => format!("delete event/{id}"),
            Event::RefusesTwice { .. } => "switch".into(),
        }
    }
}
