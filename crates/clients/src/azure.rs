//! Azure: resource groups and what is in them, reached with the credentials of one subscription.
//!
//! What a reader would get wrong: making and deleting go on after the answer. A [`Progress`] says where
//! to ask again; nothing here waits.

mod calls;
mod cleanup;
mod event_hubs;
mod groups;
mod progress;
mod zones;

use std::sync::Arc;

use secrecy::SecretString;
use url::Url;

pub use self::{
    event_hubs::{KAFKA_PORT, KAFKA_USER, Keys, Namespace},
    groups::{Group, name_for},
    progress::{Poll, Progress},
};
use crate::{
    error::{Component, Error, Kind},
    gate::Gate,
    http::{Http, segment},
    oauth::{Grant, TokenSource},
};

/// Azure in errors and numbers.
pub const COMPONENT: Component = Component("azure");

/// One of Azure's clouds.
#[derive(Debug, Clone)]
pub struct Cloud {
    /// Where tokens are issued.
    pub authority: Url,
    /// The resource manager.
    pub management: Url,
}

/// Azure credentials: the keys of a pool's Secret.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// The subscription.
    pub subscription_id: String,
    /// The directory that knows the client.
    pub tenant_id: String,
    /// The client's id.
    pub client_id: String,
    /// The client's secret.
    pub client_secret: SecretString,
}

/// A cloud, and who we are there.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The cloud.
    pub cloud: Cloud,
    /// The credentials.
    pub credentials: Credentials,
}

/// A client of one subscription.
#[derive(Debug, Clone)]
pub struct Azure {
    http: Http,
    management: Url,
    subscription: String,
}

impl Cloud {
    /// The one for everybody.
    pub fn public() -> Self {
        Self::at("https://login.microsoftonline.com", "https://management.azure.com")
    }

    /// The one in China.
    pub fn china() -> Self {
        Self::at("https://login.chinacloudapi.cn", "https://management.chinacloudapi.cn")
    }

    /// The one of the government of the United States.
    pub fn us_government() -> Self {
        Self::at("https://login.microsoftonline.us", "https://management.usgovcloudapi.net")
    }

    fn at(authority: &str, management: &str) -> Self {
        let url = |text: &str| Url::parse(text).expect("it is written here and is an address");
        Self { authority: url(authority), management: url(management) }
    }
}

impl Azure {
    /// The subscription of `settings` behind `gate`; `tokens` is the gate of the issuer.
    pub fn through(gate: Arc<Gate>, tokens: Arc<Gate>, settings: &Settings) -> Result<Self, Error> {
        let Settings { cloud, credentials } = settings;
        let component = gate.component();
        let named = |name: &str| {
            let refused =
                Error::new(component, Kind::Refused { status: 400 }, "preparing the client");
            segment(name)
                .ok_or_else(|| refused.saying("the subscription or its tenant has no name"))
        };
        let (tenant, subscription) =
            (named(&credentials.tenant_id)?, named(&credentials.subscription_id)?);
        let mut endpoint = cloud.authority.clone();
        let path = format!("{}/{tenant}/oauth2/v2.0/token", endpoint.path().trim_end_matches('/'));
        endpoint.set_path(&path);
        let grant = Grant::ClientCredentials {
            id: credentials.client_id.clone(),
            secret: credentials.client_secret.clone(),
            scope: format!("{}/.default", cloud.management.as_str().trim_end_matches('/')),
        };
        let tokens = TokenSource::through(tokens, endpoint, grant)?;
        let http = Http::through(gate, cloud.management.clone())?;
        let http = http.with_token(tokens).renewing_refused_tokens();
        Ok(Self { http, management: cloud.management.clone(), subscription })
    }

    /// Lists a page of groups.
    pub async fn check(&self) -> Result<(), Error> {
        let path = format!("/subscriptions/{}/resourcegroups", self.subscription);
        let query = [("$top", "1"), ("api-version", groups::VERSION)];
        let request = self.http.get(&path).query(&query);
        self.call("list groups", "asking for a resource group", request).await.map(|_| ())
    }
}
