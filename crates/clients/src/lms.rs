//! Logging as a service: one tenant per global account and region, and certificates to send logs with.
//!
//! What a reader would get wrong: a tenant is a cluster, costs money and cannot be searched for. Store that
//! one is about to be made *before* [`Lms::create_tenant`], and its id right after. When its answer is lost
//! ([`crate::Kind::AnswerLost`]) do not simply ask again: another cluster would come up.

mod certificate;
mod tenant;

use std::sync::Arc;

use reqwest::{RequestBuilder, header::HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;
use url::Url;

pub use self::{
    certificate::CertificateRequest,
    tenant::{
        ClusterType, EnabledFor, Info, Readiness, UnknownClusterType, region_of, tenant_name,
    },
};
use crate::{
    CallLimits, Http,
    error::{Component, Error, Kind},
    gate::Gate,
    http::{Answer, segment},
    scrub::Scrub,
};

/// Its name in errors and metrics.
pub const COMPONENT: Component = Component("lms");
/// How it is treated.
pub const LIMITS: CallLimits = CallLimits::DEFAULT;
const TOKEN: &str = "x-lms-token";

/// Where it is, who we are there, and what tenants are made with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it is.
    pub url: Url,
    /// The token it asks for.
    pub token: SecretString,
    /// How large tenants are.
    pub cluster_type: ClusterType,
    /// The environment of our tenants.
    pub environment: String,
    /// The tenant that people come from.
    pub saml_tenant: String,
    /// The region of all tenants, instead of the runtime's.
    pub region: Option<String>,
}

/// A client of logging as a service.
#[derive(Debug, Clone)]
pub struct Lms {
    http: Http,
    /// The same system from the root of its address: callbacks are absolute.
    root: Http,
    gate: Arc<Gate>,
    settings: Arc<Settings>,
    scrub: Scrub,
}

#[derive(Deserialize)]
struct CreatedTenant {
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CertificateRequestAnswer {
    callback_url: Url,
}

#[derive(Deserialize)]
struct SignedCertificate {
    cert: String,
}

impl Lms {
    /// The service behind `gate`.
    pub fn new(settings: Settings, gate: Arc<Gate>) -> Result<Self, Error> {
        let mut root = settings.url.clone();
        root.set_path("");
        root.set_query(None);
        let http = Http::through(gate.clone(), settings.url.clone())?;
        let root = Http::through(gate.clone(), root)?;
        let scrub = Scrub::secret(&settings.token);
        Ok(Self { http, root, gate, settings: Arc::new(settings), scrub })
    }

    /// Finds out whether it can be reached and knows us, and changes nothing.
    pub async fn check(&self) -> Result<(), Error> {
        match self.readiness("kcp-check").await {
            Err(error) if error.kind != Kind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The region in which the tenant of a runtime is made.
    pub fn region(&self, runtime_region: Option<&str>) -> String {
        let fixed = self.settings.region.clone().filter(|region| !region.is_empty());
        fixed.unwrap_or_else(|| region_of(runtime_region).to_owned())
    }

    /// Makes the tenant of a global account and gives its id. Repeating it makes another tenant.
    pub async fn create_tenant(&self, global_account: &str, region: &str) -> Result<String, Error> {
        let name = tenant_name(global_account);
        let doing = format!("creating logging tenant {name} in {region}");
        let settings = &self.settings;
        let body = json!({
            "name": name,
            "region": region,
            "samlGroups": ["skr-logging-viewer"],
            "clusterType": settings.cluster_type.as_str(),
            "datacenter": "all",
            "environment": settings.environment,
            "project": "kyma",
            "samlTenant": settings.saml_tenant,
            "costcenter": 0,
            "globalAccountID": global_account,
        });
        let request = self.http.post("tenants").json(&body);
        let made: CreatedTenant = self.send("create tenant", &doing, request).await?.json()?;
        if made.id.is_empty() {
            return Err(Error::new(COMPONENT, Kind::Malformed, &doing).saying("field id"));
        }
        Ok(made.id)
    }

    /// How far a tenant is.
    pub async fn readiness(&self, tenant: &str) -> Result<Readiness, Error> {
        let doing = format!("asking whether logging tenant {tenant} is ready");
        let request = self.http.get(&format!("tenants/{}/status", named(tenant, &doing)?));
        self.send("get tenant status", &doing, request).await?.json()
    }

    /// Where a tenant is.
    pub async fn tenant(&self, tenant: &str) -> Result<Info, Error> {
        let doing = format!("reading logging tenant {tenant}");
        let request = self.http.get(&format!("tenants/{}", named(tenant, &doing)?));
        self.send("get tenant", &doing, request).await?.json()
    }

    /// Requests a certificate and gives the address where it will be. Asking again makes another one.
    pub async fn request_certificate(&self, tenant: &str, csr: &str) -> Result<Url, Error> {
        let doing = format!("requesting a certificate of logging tenant {tenant}");
        let path = format!("tenants/{}/certs", named(tenant, &doing)?);
        let request = self.http.post(&path).json(&json!({ "certId": 0, "csr": csr }));
        let requested: CertificateRequestAnswer =
            self.send("request certificate", &doing, request).await?.json()?;
        Ok(requested.callback_url)
    }

    /// The certificate that was requested, once it is there. Our token goes to the service itself only,
    /// wherever the address points.
    pub async fn signed_certificate(&self, callback: &Url) -> Result<Option<String>, Error> {
        let doing = "getting a signed logging certificate";
        let answer = if callback.origin() == self.settings.url.origin() {
            let path = &callback[url::Position::BeforePath..url::Position::AfterQuery];
            self.send("get signed certificate", doing, self.root.get(path)).await
        } else {
            let elsewhere = Http::through(self.gate.clone(), callback.clone())?;
            elsewhere.send_to("get signed certificate", doing, elsewhere.get("")).await
        };
        certificate(answer, doing)
    }

    /// The certificate of the authority that the tenant's own certificate comes from, once it is there.
    pub async fn authority(&self, tenant: &str) -> Result<Option<String>, Error> {
        let doing = format!("getting the authority of logging tenant {tenant}");
        let path = format!("tenants/{}/certs/ca", named(tenant, &doing)?);
        certificate(self.send("get authority", &doing, self.http.get(&path)).await, &doing)
    }

    async fn send(
        &self,
        route: &str,
        doing: &str,
        request: RequestBuilder,
    ) -> Result<Answer, Error> {
        let unsendable = |_| Error::new(COMPONENT, Kind::Unauthorized, doing);
        let token = self.settings.token.expose_secret();
        let mut token = HeaderValue::from_str(token).map_err(unsendable)?;
        token.set_sensitive(true);
        let answer = self.http.send_to(route, doing, request.header(TOKEN, token)).await;
        answer.map_err(|error| self.scrub.clean(error))
    }
}

/// A certificate that is not there yet is `None`.
fn certificate(answer: Result<Answer, Error>, doing: &str) -> Result<Option<String>, Error> {
    let signed: SignedCertificate = match answer {
        Err(error) if error.kind == Kind::NotFound => return Ok(None),
        answer => answer?.json()?,
    };
    if certificate::is_certificate(&signed.cert) {
        Ok(Some(signed.cert))
    } else {
        Err(Error::new(COMPONENT, Kind::Malformed, doing).saying("field cert is no certificate"))
    }
}

fn named(id: &str, doing: &str) -> Result<String, Error> {
    let unnamed = || Error::new(COMPONENT, Kind::Refused { status: 400 }, doing);
    segment(id).ok_or_else(unnamed)
}
