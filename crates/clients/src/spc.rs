//! Notifications for customers about maintenance.
//!
//! What a reader would get wrong: only a caller that has stored that an event was created can cancel it
//! later. Store what [`Spc::create`] gives right after the call.

mod event;

use std::sync::Arc;

use reqwest::Method;
use serde::Serialize;
use serde_json::json;
use url::Url;

pub use self::event::{Event, EventType, Tenant, TenantState};
use crate::{
    CallLimits, Http,
    error::{Component, Error, Kind},
    gate::Gate,
};

/// Its name in errors and metrics.
pub const COMPONENT: Component = Component("spc");
/// How it is treated.
pub const LIMITS: CallLimits = CallLimits::DEFAULT;

/// Where it is. Its certificate is checked; it asks for no credentials.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it is.
    pub url: Url,
}

/// Proof that an event exists: to be stored, so that it can be cancelled and is not made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "store it: an event whose creation is forgotten is never cancelled"]
pub enum EventReceipt {
    /// By this call, or by one before it that the service does not tell apart.
    Now,
    /// By an earlier call.
    Before,
}

/// A client of the notification service.
#[derive(Debug, Clone)]
pub struct Spc {
    http: Http,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    orchestration_id: &'a str,
    tenants: &'a [Tenant],
}

impl Spc {
    /// The service behind `gate`.
    pub fn new(settings: Settings, gate: Arc<Gate>) -> Result<Self, Error> {
        Ok(Self { http: Http::through(gate, settings.url)? })
    }

    /// Finds out whether it can be reached: takes back an announcement that nobody made.
    pub async fn check(&self) -> Result<(), Error> {
        self.cancel("kcp-check").await
    }

    /// Announces maintenance. An event that is there already counts as created.
    pub async fn create(&self, event: &Event) -> Result<EventReceipt, Error> {
        let doing = format!("announcing orchestration {}", event.orchestration_id);
        let request = self.http.post("createMaintenanceEvent").json(event);
        match self.http.send_to("create event", &doing, request).await {
            Ok(_) => Ok(EventReceipt::Now),
            Err(error) if error.kind == Kind::Conflict => Ok(EventReceipt::Before),
            Err(error) => Err(error),
        }
    }

    /// Tells how far the runtimes of `event` are. An event that the service does not know any more is
    /// announced again, once.
    pub async fn update(&self, event: &Event) -> Result<(), Error> {
        match self.try_update(event).await {
            Err(error) if error.kind == Kind::NotFound => {
                let _exists_now = self.create(event).await?;
                self.try_update(event).await
            }
            result => result,
        }
    }

    /// Takes the announcement back; one that is not there is taken back.
    pub async fn cancel(&self, orchestration_id: &str) -> Result<(), Error> {
        let doing = format!("cancelling the announcement of orchestration {orchestration_id}");
        let request = self.http.request(Method::PATCH, "cancelMaintenanceEvent");
        let request = request.json(&json!({ "orchestrationId": orchestration_id }));
        match self.http.send_to("cancel event", &doing, request).await {
            Err(error) if error.kind != Kind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    async fn try_update(&self, event: &Event) -> Result<(), Error> {
        let orchestration_id = event.orchestration_id.as_str();
        let doing = format!("telling how far orchestration {orchestration_id} is");
        let body = Update { orchestration_id, tenants: &event.tenants };
        let request = self.http.request(Method::PATCH, "updateMaintenanceEvent").json(&body);
        self.http.send_to("update event", &doing, request).await.map(drop)
    }
}
