//! The Runtime Provisioner: makes, changes and removes runtimes, and tells how that is going.
//!
//! What a reader would get wrong: a mutation only begins an operation, whose id is the answer; how it ends is asked
//! for. Repeating `provision` is safe where the provisioner knows idempotency keys, of which each mutation takes one with a
//! name; elsewhere it makes a second runtime.

mod codes;
mod follow;
mod input;
mod operations;
mod status;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use secrecy::SecretString;
use url::Url;

pub use self::{
    follow::OperationProgress,
    input::{
        AwsProvider, AwsZone, AzureProvider, AzureZone, Cluster, Component as KymaComponent,
        ConflictStrategy, Dns, DnsProvider, Entry, GcpProvider, Kyma, Oidc, OpenStackProvider,
        Profile, Provider, Provision, RuntimeInput, ShootChange, Upgrade, UpgradeShoot,
    },
    status::{
        Agent, ClusterStatus, LastError, OidcStatus, OperationLimits, OperationState,
        OperationStatus, OperationType, RuntimeStatus,
    },
};
use crate::{
    CallLimits, Grant, GraphQl, Http, TokenSource,
    error::{Component, Error, Kind},
    gate::Gate,
};

/// Its name in errors and metrics.
pub const COMPONENT: Component = Component::PROVISIONER;
/// How it is treated: it asks the Director and Gardener before it answers.
pub const LIMITS: CallLimits = CallLimits { call: Duration::from_secs(120), ..CallLimits::DEFAULT };
/// The scopes of its tokens. The last one is for every tenant.
pub const SCOPE: &str = "provisioner:read provisioner:write provisioner:kubeconfig tenants:any";

/// Where it is and who we are there.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its GraphQL endpoint.
    pub url: Url,
    /// How tokens are got; without, none are sent.
    pub access: Option<Access>,
}

/// How tokens are got.
#[derive(Debug, Clone)]
pub struct Access {
    /// The token endpoint.
    pub token_url: Url,
    /// The client's id.
    pub client_id: String,
    /// The client's secret.
    pub client_secret: SecretString,
}

/// For whom a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tenant<'a> {
    /// The global account.
    pub id: &'a str,
    /// The subaccount; only `provision` asks for it.
    pub subaccount: Option<&'a str>,
}

impl<'a> Tenant<'a> {
    /// A global account, without a subaccount.
    pub fn new(id: &'a str) -> Self {
        Self { id, subaccount: None }
    }
}

/// A client of the provisioner.
#[derive(Debug, Clone)]
pub struct Provisioner {
    graphql: GraphQl,
    /// Until when it is not asked to wait for changes, because it does not know how.
    polled_until: Arc<Mutex<Option<Duration>>>,
}

impl Provisioner {
    /// The provisioner at the base of `http`, which brings the token.
    pub fn new(http: Http) -> Self {
        Self { graphql: GraphQl::new(http, codes::meaning), polled_until: Arc::default() }
    }

    /// The provisioner of `settings`, behind `gate`; `tokens` is the gate of the issuer.
    pub fn through(gate: Arc<Gate>, tokens: Arc<Gate>, settings: &Settings) -> Result<Self, Error> {
        let http = Http::through(gate, settings.url.clone())?;
        let Some(access) = &settings.access else { return Ok(Self::new(http)) };
        let grant = Grant::ClientCredentials {
            id: access.client_id.clone(),
            secret: access.client_secret.clone(),
            scope: SCOPE.into(),
        };
        let tokens = TokenSource::through(tokens, access.token_url.clone(), grant)?;
        Ok(Self::new(http.with_token(tokens).renewing_refused_tokens()))
    }

    /// Finds out whether it can be reached and knows us: asks for an operation that nobody began.
    pub async fn check(&self) -> Result<(), Error> {
        let asked = self
            .operation_status(Tenant::new("kcp-check"), "00000000-0000-4000-8000-000000000000")
            .await;
        match asked {
            Err(error) if error.kind == Kind::NotFound => Ok(()),
            asked => asked.map(drop),
        }
    }
}
