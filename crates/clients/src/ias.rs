//! Identity authentication: the service providers through which people log in to a runtime's tools.
//!
//! What a reader would get wrong: there is no lookup by name. The whole company is read instead, so read
//! it once per step and search in what was read.

mod company;
mod provider;
mod register;

use std::sync::Arc;

use reqwest::RequestBuilder;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

pub use self::{
    company::{Attribute, Company, IdentityProvider, KeptSecret, ServiceProvider},
    provider::ProviderKind,
};
use crate::{
    CallLimits, Http,
    error::{Component, Error, Kind},
    gate::Gate,
    http::{Answer, segment},
    scrub::Scrub,
};

/// Its name in errors and metrics.
pub const COMPONENT: Component = Component("ias");
/// How it is treated: companies are large.
pub const LIMITS: CallLimits = CallLimits { body: 32 * 1024 * 1024, ..CallLimits::DEFAULT };
/// The one company there is.
const ORGANIZATION: &str = "global";

/// Where it is and who we are there.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it is.
    pub url: Url,
    /// The technical user.
    pub user: String,
    /// The technical user's secret.
    pub secret: SecretString,
    /// The identity provider that people come from, by name.
    pub identity_provider: String,
}

/// Credentials with which a tool of a runtime logs people in.
#[derive(Debug, Clone, Deserialize)]
pub struct Credentials {
    /// The client's id.
    #[serde(rename = "clientId")]
    pub client_id: String,
    /// The client's secret. It is never shown again.
    #[serde(rename = "clientSecret")]
    pub client_secret: SecretString,
}

/// A client of identity authentication.
#[derive(Debug, Clone)]
pub struct Ias {
    http: Http,
    settings: Arc<Settings>,
    scrub: Scrub,
}

impl Ias {
    /// The service behind `gate`. Its certificate is checked.
    pub fn new(settings: Settings, gate: Arc<Gate>) -> Result<Self, Error> {
        let http = Http::through(gate, settings.url.clone())?;
        let scrub = Scrub::basic(&settings.user, &settings.secret);
        Ok(Self { http, settings: Arc::new(settings), scrub })
    }

    /// Finds out whether it can be reached, knows us, and has the identity provider; changes nothing.
    pub async fn check(&self) -> Result<(), Error> {
        let company = self.company().await?;
        self.identity_provider_in(&company, "everybody").map(drop)
    }

    /// Everything there is. It may be megabytes: once per step is enough.
    pub async fn company(&self) -> Result<Company, Error> {
        let request = self.http.get("service/company/global");
        self.send("read company", "reading the company", request).await?.json()
    }

    /// Makes a service provider; a name that is taken is [`Kind::AlreadyExists`]. Its id is in the company.
    pub async fn create_provider(&self, name: &str) -> Result<(), Error> {
        let doing = format!("creating service provider {name}");
        let form = [("sp_name", name), ("company_id", ORGANIZATION)];
        let request = self.http.post("service/sps").form(&form);
        match self.send("create provider", &doing, request).await {
            Err(error) if error.kind == Kind::Conflict => {
                Err(Error { kind: Kind::AlreadyExists, ..error })
            }
            made => made.map(drop),
        }
    }

    /// People are sent back to these addresses after they have logged in by OIDC.
    pub async fn set_oidc(&self, id: &str, name: &str, redirects: &[String]) -> Result<(), Error> {
        let body = json!({
            "ssoType": "openIdConnect",
            "sp_name": name,
            "openId_connect_configuration": { "redirect_uris": redirects },
        });
        self.configure(id, "setting OIDC", &body).await
    }

    /// People are sent back to this address after they have logged in by SAML.
    pub async fn set_saml(&self, id: &str, name: &str, location: &str) -> Result<(), Error> {
        let endpoint = json!({ "location": location, "isDefault": true, "index": 0 });
        let body = json!({ "sp_name": name, "acs_endpoints": [endpoint] });
        self.configure(id, "setting SAML", &body).await
    }

    /// Attributes of people for tools.
    pub async fn set_attributes(&self, id: &str, attributes: &[Attribute]) -> Result<(), Error> {
        let body = json!({ "assertion_attributes": attributes });
        self.configure(id, "setting the attributes", &body).await
    }

    /// The attribute that identifies people.
    pub async fn set_subject(&self, id: &str, attribute: &str) -> Result<(), Error> {
        let body = json!({ "name_id_attribute": attribute });
        self.configure(id, "setting the subject", &body).await
    }

    /// Where people come from.
    pub async fn set_identity_provider(&self, id: &str, from: &str) -> Result<(), Error> {
        let doing = format!("setting the identity provider of service provider {id}");
        let base = self.settings.url.as_str().trim_end_matches('/');
        let from = named(from, &doing)?;
        let body = json!({
            "organization": ORGANIZATION,
            "id": id,
            "default_auth_idp": format!("{base}/service/idp/{from}"),
        });
        let request = self.http.put("service/sps").json(&body);
        self.send("set identity provider", &doing, request).await.map(drop)
    }

    /// Lets these groups in, and nobody else.
    pub async fn set_access(&self, id: &str, groups: &[&str]) -> Result<(), Error> {
        let doing = format!("setting who may use service provider {id}");
        let allow =
            |group: &&str| json!({ "action": "Allow", "group": group, "group_type": "Cloud" });
        let rules: Vec<Value> = groups.iter().map(allow).collect();
        let config = json!({ "rba_rules": rules, "default_action": "Deny" });
        let body = json!({ "service_provider": { "rba_config": config } });
        let path = format!("service/sps/{}/rba", named(id, &doing)?);
        self.send("set access", &doing, self.http.put(&path).json(&body)).await.map(drop)
    }

    /// Gives a service provider another secret. Old ones stay good until they are deleted.
    pub async fn new_secret(&self, id: &str) -> Result<Credentials, Error> {
        let doing = format!("making a secret for service provider {id}");
        let secret = json!({
            "description": "SAP Kyma Runtime Secret",
            "scopes": ["ManageApp", "ManageUsers", "OAuth"],
        });
        let body =
            json!({ "organization": ORGANIZATION, "id": id, "rest_api_client_secret": secret });
        self.send("create secret", &doing, self.http.put("service/sps").json(&body)).await?.json()
    }

    /// Deletes the secrets of a service provider; those that are not there are deleted.
    pub async fn delete_secrets(&self, provider: &ServiceProvider) -> Result<(), Error> {
        let doing = format!("deleting the secrets of service provider {}", provider.id);
        let ids: Vec<&str> = provider.secrets.iter().map(|secret| secret.id.as_str()).collect();
        let body = json!({ "clientId": provider.user_for_rest, "clientSecretsIds": ids });
        let request = self.http.delete("service/sps/clientSecret").json(&body);
        gone_is_fine(self.send("delete secrets", &doing, request).await)
    }

    /// Deletes a service provider; one that is not there is deleted.
    pub async fn delete_provider(&self, id: &str) -> Result<(), Error> {
        let doing = format!("deleting service provider {id}");
        let request = self.http.put("service/sps/delete").query(&[("sp_id", id)]);
        gone_is_fine(self.send("delete provider", &doing, request).await)
    }

    async fn configure(&self, id: &str, what: &str, body: &impl Serialize) -> Result<(), Error> {
        let doing = format!("{what} of service provider {id}");
        let path = format!("service/sps/{}", named(id, &doing)?);
        self.send("configure provider", &doing, self.http.put(&path).json(body)).await.map(drop)
    }

    async fn send(
        &self,
        route: &str,
        doing: &str,
        request: RequestBuilder,
    ) -> Result<Answer, Error> {
        let Settings { user, secret, .. } = &*self.settings;
        let request = request.basic_auth(user, Some(secret.expose_secret()));
        let answer = self.http.send_to(route, doing, request).await;
        answer.map_err(|error| self.scrub.clean(error))
    }
}

fn named(id: &str, doing: &str) -> Result<String, Error> {
    let unnamed = || Error::new(COMPONENT, Kind::Refused { status: 400 }, doing);
    segment(id).ok_or_else(unnamed)
}

fn gone_is_fine(result: Result<Answer, Error>) -> Result<(), Error> {
    match result {
        Err(error) if error.kind != Kind::NotFound => Err(error),
        _ => Ok(()),
    }
}
