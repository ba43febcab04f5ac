//! The event data platform: one data tenant per subaccount, with what it is billed by.
//!
//! What a reader would get wrong: the platform tells upper case from lower case, accounts do not. All
//! calls go by a [`Tenant`], which is normalised when it is made and nowhere else.

mod register;
mod tenant;

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::{Method, RequestBuilder};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

pub use self::tenant::{KEYS, Metadata, Tenant};
use crate::{
    CallLimits, Grant, Http, TokenSource,
    error::{Component, Error, Kind},
    gate::Gate,
    http::{Answer, segment},
};

/// Its name in errors and metrics.
pub const COMPONENT: Component = Component("edp");
/// How it is treated.
pub const LIMITS: CallLimits = CallLimits::DEFAULT;
/// The scopes of its tokens.
pub const SCOPE: &str = "edp-namespace.read edp-namespace.update";

/// Where it is and who we are there.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where tokens come from, without `/oauth2/token`.
    pub auth_url: Url,
    /// Where data tenants are made.
    pub admin_url: Url,
    /// The namespace of our data tenants.
    pub namespace: String,
    /// The secret of our client, whose id is made of the namespace.
    pub secret: SecretString,
    /// The environment of our data tenants.
    pub environment: String,
}

/// A client of the event data platform.
#[derive(Debug, Clone)]
pub struct Edp {
    http: Http,
    namespace: String,
    environment: String,
}

/// One entry of the list.
#[derive(Deserialize)]
struct MetadataEntry {
    key: String,
    value: String,
}

impl Edp {
    /// The platform behind `gate`, with tokens from behind `issuer`.
    pub fn new(settings: Settings, gate: Arc<Gate>, issuer: Arc<Gate>) -> Result<Self, Error> {
        let grant = Grant::ClientCredentials {
            id: format!("edp-namespace;{}", settings.namespace),
            secret: settings.secret,
            scope: SCOPE.into(),
        };
        let tokens = TokenSource::through(issuer, token_endpoint(settings.auth_url), grant)?;
        let http = Http::through(gate, settings.admin_url)?.with_token(tokens);
        let http = http.renewing_refused_tokens();
        Ok(Self { http, namespace: settings.namespace, environment: settings.environment })
    }

    /// Finds out whether it can be reached and knows us, and changes nothing. Whether our namespace is
    /// there it does not tell.
    pub async fn check(&self) -> Result<(), Error> {
        match self.metadata(&Tenant::of_subaccount("kcp-check")).await {
            Err(error) if error.kind != Kind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes a data tenant; one that is there is [`Kind::AlreadyExists`].
    pub async fn create_tenant(&self, tenant: &Tenant) -> Result<(), Error> {
        let (doing, name) = (format!("creating data tenant {tenant}"), tenant.as_str());
        let environment = &self.environment;
        let secret = BASE64_STANDARD.encode(format!("{name}{environment}"));
        let body = json!({ "name": name, "environment": environment, "secret": secret });
        let request = self.request(Method::POST, &[], &doing)?;
        self.create("create data tenant", &doing, request, &body).await
    }

    /// Deletes a data tenant; one that is not there is deleted.
    pub async fn delete_tenant(&self, tenant: &Tenant) -> Result<(), Error> {
        let doing = format!("deleting data tenant {tenant}");
        let request = self.request(Method::DELETE, &self.place(tenant), &doing)?;
        self.delete("delete data tenant", &doing, request).await
    }

    /// Adds metadata to a data tenant; a key that is there is [`Kind::AlreadyExists`].
    pub async fn create_metadata(&self, tenant: &Tenant, entry: &Metadata) -> Result<(), Error> {
        let doing = format!("adding {} to data tenant {tenant}", entry.key);
        let path = [&self.place(tenant)[..], &["metadata"]].concat();
        let request = self.request(Method::POST, &path, &doing)?;
        self.create("create metadata", &doing, request, entry).await
    }

    /// The metadata of a data tenant.
    pub async fn metadata(&self, tenant: &Tenant) -> Result<Vec<Metadata>, Error> {
        let doing = format!("reading the metadata of data tenant {tenant}");
        let path = [&self.place(tenant)[..], &["metadata"]].concat();
        let request = self.request(Method::GET, &path, &doing)?;
        let answer = self.http.send_to("list metadata", &doing, request).await?;
        let listed: Vec<MetadataEntry> = answer.json()?;
        Ok(listed.into_iter().map(|MetadataEntry { key, value }| Metadata { key, value }).collect())
    }

    /// Takes metadata from a data tenant; a key that is not there is taken.
    pub async fn delete_metadata(&self, tenant: &Tenant, key: &str) -> Result<(), Error> {
        let doing = format!("deleting {key} of data tenant {tenant}");
        let path = [&self.place(tenant)[..], &["metadata", key]].concat();
        let request = self.request(Method::DELETE, &path, &doing)?;
        self.delete("delete metadata", &doing, request).await
    }

    fn place<'a>(&'a self, tenant: &'a Tenant) -> [&'a str; 2] {
        [tenant.as_str(), &self.environment]
    }

    fn request(
        &self,
        method: Method,
        below: &[&str],
        doing: &str,
    ) -> Result<RequestBuilder, Error> {
        let path = ["namespaces", &self.namespace, "dataTenants"];
        let segments: Option<Vec<String>> =
            path.into_iter().chain(below.iter().copied()).map(segment).collect();
        // An account without a name has no tenant anywhere.
        let unnamed = || Error::new(COMPONENT, Kind::Refused { status: 400 }, doing);
        let path = segments.ok_or_else(unnamed)?.join("/");
        Ok(self.http.request(method, &path))
    }

    /// Only 201 says that something was made.
    async fn create(
        &self,
        route: &str,
        doing: &str,
        request: RequestBuilder,
        body: &impl Serialize,
    ) -> Result<(), Error> {
        match self.http.send_to(route, doing, request.json(body)).await {
            Ok(answer) => expect(&answer, &[201], doing),
            Err(error) if error.kind == Kind::Conflict => {
                Err(Error { kind: Kind::AlreadyExists, ..error })
            }
            Err(error) => Err(error),
        }
    }

    async fn delete(&self, route: &str, doing: &str, request: RequestBuilder) -> Result<(), Error> {
        match self.http.send_to(route, doing, request).await {
            Ok(answer) => expect(&answer, &[201, 204], doing),
            Err(error) if error.kind == Kind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn expect(answer: &Answer, good: &[u16], doing: &str) -> Result<(), Error> {
    let status = answer.status.as_u16();
    if good.contains(&status) {
        return Ok(());
    }
    Err(Error::new(COMPONENT, Kind::Refused { status }, doing))
}

fn token_endpoint(mut auth_url: Url) -> Url {
    let path = format!("{}/oauth2/token", auth_url.path().trim_end_matches('/'));
    auth_url.set_path(&path);
    auth_url
}
