//! The central services of the platform: what happened to subaccounts, what they are, what they may have.
//!
//! What a reader would get wrong: reading many pages goes on by itself within a [`Patience`], because
//! a page must not be skipped and a run is not an engine's step. Single calls are never repeated here.

mod accounts;
mod entitlements;
mod events;
mod paging;
mod patience;

use std::sync::Arc;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer};
use url::Url;

pub use self::{
    accounts::{Accounts, Subaccount},
    entitlements::Entitlements,
    events::{Change, Changes, DeletedPage, Edition, Events, SubaccountEvent},
    patience::Patience,
};
use crate::{
    error::{Component, Error, Kind},
    gate::Gate,
    http::{Http, segment},
    oauth::{Grant, TokenSource},
};

/// The central services in errors and numbers.
pub const COMPONENT: Component = Component("cis");

/// One of the services, and how to get in.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The service's address.
    pub url: Url,
    /// The whole address of the token endpoint.
    pub token_url: Url,
    /// The client's id.
    pub client_id: String,
    /// The client's secret.
    pub client_secret: SecretString,
    /// How many events a page has; up to 1000 in the first edition, 150 later.
    pub page_size: u16,
}

impl Settings {
    /// A client of this service behind `gate`; `tokens` is the gate of the issuer.
    fn http(&self, gate: Arc<Gate>, tokens: Arc<Gate>) -> Result<Http, Error> {
        let grant = Grant::ClientCredentials {
            id: self.client_id.clone(),
            secret: self.client_secret.clone(),
            scope: String::new(),
        };
        let tokens = TokenSource::through(tokens, self.token_url.clone(), grant)?;
        let http = Http::through(gate, self.url.clone())?;
        Ok(http.with_token(tokens).renewing_refused_tokens())
    }
}

/// A name as one segment of a path, or the refusal of one that is none.
fn named(http: &Http, doing: &str, name: &str) -> Result<String, Error> {
    segment(name).ok_or_else(|| {
        let refused = Kind::Refused { status: 400 };
        Error::new(http.component(), refused, doing).saying("a name is empty or made of dots")
    })
}

fn null_is_none<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
