//! The operator's calls to the broker.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use base::Clock;
use clients::{Component, Grant, Http, Kind, TokenSource, http::Limits};
use domain::OperationId;
use reqwest::RequestBuilder;
use serde_json::Value;

use crate::connection;

/// The public client under which people log in.
const PEOPLE: &str = "kcp";

/// Speaks to one control plane.
pub(crate) struct Client {
    http: Http,
    broker: String,
}

impl Client {
    /// Finds the control plane; nothing is sent yet.
    pub(crate) fn connect(data: Option<&Path>) -> anyhow::Result<Self> {
        let found = connection::find(data)?;
        let endpoint =
            found.landscape.join("/oauth2/token").context("the landscape has no address")?;
        let until = found.token_until();
        let grant =
            Grant::Password { client: PEOPLE.into(), user: found.user, password: found.password };
        let mut source = TokenSource::new(endpoint, grant, Clock::running())?;
        if let Some(until) = until {
            source = source.starting_with(found.token, until);
        }
        let broker = found.broker.to_string();
        let http = Http::new(Component::BROKER, found.broker, Limits::DEFAULT)?;
        Ok(Self { http: http.with_token(Arc::clone(&source)), broker })
    }

    pub(crate) async fn list(&self, query: &[(&str, String)]) -> anyhow::Result<Value> {
        self.send("listing operations", self.http.get("/operations").query(query)).await
    }

    pub(crate) async fn find(&self, id: &OperationId) -> anyhow::Result<Value> {
        let request = self.http.get(&format!("/operations/{id}"));
        self.send(&format!("looking at operation {id}"), request).await
    }

    pub(crate) async fn journal(&self, id: &OperationId) -> anyhow::Result<Value> {
        let request = self.http.get(&format!("/operations/{id}/journal"));
        self.send(&format!("reading the journal of operation {id}"), request).await
    }

    pub(crate) async fn waiting(&self, id: &OperationId) -> anyhow::Result<Value> {
        let request = self.http.get(&format!("/operations/{id}/waiting"));
        self.send(&format!("asking why operation {id} waits"), request).await
    }

    pub(crate) async fn cancel(&self, id: &OperationId) -> anyhow::Result<Value> {
        let request = self.http.post(&format!("/operations/{id}/cancel"));
        self.send(&format!("calling off operation {id}"), request).await
    }

    pub(crate) async fn demonstrate(&self) -> anyhow::Result<OperationId> {
        let request = self.http.post("/demonstrations");
        let accepted = self.send("ordering a demonstration", request).await?;
        let id = accepted.get("operation").and_then(|id| id.as_str()?.parse().ok());
        id.context("the broker did not say which operation it accepted")
    }

    async fn send(&self, doing: &str, request: RequestBuilder) -> anyhow::Result<Value> {
        let answer = self.http.send(doing, request).await;
        match answer.and_then(|answer| answer.json()) {
            Err(error) if error.kind == Kind::Unavailable && error.source.is_some() => {
                anyhow::bail!(
                    "no control plane found: nothing answers at {}, start one with `kcp up`",
                    self.broker
                )
            }
            answer => Ok(answer?),
        }
    }
}
