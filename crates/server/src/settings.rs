//! The broker's settings: defaults, then a TOML file, then the environment.
//!
//! The comments below are the documentation of the settings: the sample file is made of them.

pub mod access;
pub mod bindings;
pub mod console;
#[cfg(test)]
pub(crate) mod effects;
pub mod jobs;
pub mod links;
pub mod orders;
pub mod provisioner;
pub mod stage_limits;
pub(crate) mod values;

use std::{
    net::SocketAddr,
    num::{NonZeroU16, NonZeroU32},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use confique::Config;
use secrecy::SecretString;
use serde::Deserialize;

use crate::{
    access::Doors,
    service_context::{ServiceTimes, Tables},
    systems::SystemSettings,
};
use access::{IssuerSettings, PeerSettings};
use values::{friendly, lease, log_filter, pace};

/// Settings of the broker.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Settings {
    /// Where the API listens. `kcp up` decides by itself.
    #[config(env = "KCP_BROKER_LISTEN", default = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Where everything is kept.
    #[config(nested)]
    pub database: DatabaseSettings,
    /// Execution of operations.
    #[config(nested)]
    pub operations: OperationSettings,
    /// Issuers whose tokens are accepted.
    #[config(nested)]
    pub access: AccessSettings,
    /// The catalog.
    #[config(nested)]
    pub catalog: orders::CatalogSettings,
    /// Settings of runtimes.
    #[config(nested)]
    pub runtimes: orders::RuntimeSettings,
    /// Settings of responses to owners.
    #[config(nested)]
    pub answers: orders::AnswerSettings,
    /// Which instances can be bound, and how.
    #[config(nested)]
    pub bindings: bindings::BindingSettings,
    /// The console, and how people sign in to it.
    #[config(nested)]
    pub console: console::ConsoleSettings,
    /// The jobs that keep everything clean.
    #[config(nested)]
    pub jobs: jobs::AllJobSettings,
    /// The Service Manager; legacy.
    #[config(nested)]
    pub service_manager: orders::ServiceManagerSettings,
    /// Limits of one request.
    #[config(nested)]
    pub requests: RequestSettings,
    /// Connections to the API.
    #[config(nested)]
    pub connections: links::ConnectionSettings,
    /// TLS.
    #[config(nested)]
    pub transport: links::TransportSettings,
    /// Logs, traces and metrics.
    #[config(nested)]
    pub telemetry: TelemetrySettings,
    /// The outside systems. An empty section leaves the system out.
    #[config(nested)]
    pub systems: SystemSettings,
}

/// Where everything is kept.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct DatabaseSettings {
    /// `postgres://…` in production, `sqlite://…` on a single machine. `kcp up` decides by itself.
    #[config(env = "KCP_BROKER_DATABASE_URL", default = "sqlite://kcp.db")]
    pub url: SecretString,
    /// The schema to work in (PostgreSQL only).
    #[config(env = "KCP_BROKER_DATABASE_SCHEMA", default = "broker")]
    pub schema: String,
    /// How many connections at most.
    #[config(env = "KCP_BROKER_DATABASE_CONNECTIONS", default = 10)]
    pub connections: NonZeroU32,
    /// The file with the keys that seal orders, made by `kcp keys new`. `kcp up` decides by itself.
    #[config(env = "KCP_BROKER_SEALING_KEYS", default = "kcp-broker.key")]
    pub sealing_keys: PathBuf,
}

/// Execution of operations.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct OperationSettings {
    /// How long one operation may take in all.
    #[config(env = "KCP_BROKER_OPERATION_LIMIT", default = "24h", deserialize_with = friendly)]
    pub limit: Duration,
    /// How long one upgrade of Kyma may take in all.
    #[config(env = "KCP_BROKER_KYMA_UPGRADE_LIMIT", default = "3h", deserialize_with = friendly)]
    pub kyma_upgrade_limit: Duration,
    /// How long one upgrade of a cluster may take in all.
    #[config(env = "KCP_BROKER_CLUSTER_UPGRADE_LIMIT", default = "4h", deserialize_with = friendly)]
    pub cluster_upgrade_limit: Duration,
    /// How long a step of a removal may fail in a row before the removal goes on without it.
    #[config(env = "KCP_BROKER_REMOVAL_PATIENCE", default = "5m", deserialize_with = friendly)]
    pub removal_patience: Duration,
    /// How many steps run at once on this machine.
    #[config(env = "KCP_BROKER_WORKERS", default = 20)]
    pub workers: NonZeroU16,
    /// How long a replica owns its operations without a heartbeat.
    #[config(env = "KCP_BROKER_LEASE", default = "10s", deserialize_with = lease)]
    pub lease: Duration,
    /// How long running steps may go on after the order to stop.
    #[config(env = "KCP_BROKER_DRAIN", default = "15s", deserialize_with = friendly)]
    pub drain: Duration,
    /// How many times faster than written steps poll what they wait for: more than 1 only where the world is simulated.
    #[config(env = "KCP_BROKER_PACE", default = 1.0, deserialize_with = pace)]
    pub pace: f64,
    /// How long the journal of an ended operation is kept.
    #[config(env = "KCP_BROKER_KEEP_JOURNAL", default = "14d", deserialize_with = friendly)]
    pub keep_journal: Duration,
    /// How long audit entries are kept.
    #[config(env = "KCP_BROKER_KEEP_AUDIT", default = "365d", deserialize_with = friendly)]
    pub keep_audit: Duration,
}

impl DatabaseSettings {
    /// As the service opens it. Where it is and what seals it is part of the service's context.
    pub(crate) fn tables(&self) -> Tables<'_> {
        let Self { url: _, schema, connections, sealing_keys: _ } = self;
        Tables { connections: connections.get(), schema }
    }
}

impl OperationSettings {
    /// What is not for the engine and not for the plans.
    pub(crate) fn times(&self) -> ServiceTimes {
        ServiceTimes { keep_audit: self.keep_audit, drain: self.drain }
    }
}

/// Issuers whose tokens are accepted.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct AccessSettings {
    /// The issuers of tokens: tables, of which only `url` is needed, exactly as in the claim `iss`. A text is a table with that `url`.
    ///
    /// ```toml
    ///    [[access.issuers]]
    ///    url = "https://issuer.example.com"
    ///    audience = ["kcp"]         # one, several, or "any"; `access.audience` when it is not given
    ///    tenant_claim = "tenant"    # the claim with the only account that a token speaks for
    ///    any_tenant = false         # true: tokens that name no account speak for all, without the scope `tenants:any`
    ///    [access.issuers.groups]    # the scopes of people's groups; these three are the default
    ///    runtimeAdmin = ["runtimes:read", "kubeconfig:read", "tenants:any"]
    ///    runtimeOperator = ["runtimes:read", "tenants:any"]
    ///    orchestrationsAdmin = ["orchestrations:read", "orchestrations:write", "tenants:any"]
    /// ```
    #[config(env = "KCP_BROKER_ISSUERS", default = [], parse_env = confique::env::parse::list_by_comma)]
    pub issuers: Vec<IssuerSettings>,
    /// The audience of tokens, unless their issuer's table has one.
    #[config(env = "KCP_BROKER_AUDIENCE", default = "kcp")]
    pub audience: String,
    /// Services that need no token, because the network in front of the API has checked who they are: a mesh, of which loopback is the
    /// sidecar. A peer must fit all that its table gives: `addresses` (networks) and `certificates` (DNS names and URIs of client
    /// certificates, with `transport.client_authorities`). One that sends a token is judged by that token.
    ///
    /// ```toml
    ///    [[access.peers]]
    ///    name = "metrics-collector"
    ///    addresses = ["127.0.0.0/8", "::1"]
    ///    scopes = ["runtimes:read", "tenants:any"]
    /// ```
    ///
    /// In the environment: NAME@ADDRESS=SCOPE,SCOPE with a semicolon between two.
    #[config(env = "KCP_BROKER_PEERS", default = [], parse_env = confique::env::parse::list_by_semicolon)]
    pub peers: Vec<PeerSettings>,
    /// User for platforms with Basic authentication (`/v2`). Without it `/v2` is closed.
    #[config(env = "KCP_BROKER_PLATFORM_USER")]
    pub platform_user: Option<String>,
    /// That user's password.
    #[config(env = "KCP_BROKER_PLATFORM_PASSWORD")]
    pub platform_password: Option<SecretString>,
    /// The only global account that user may speak for; any if none is named.
    #[config(env = "KCP_BROKER_PLATFORM_TENANT")]
    pub platform_tenant: Option<String>,
}

impl AccessSettings {
    /// Access by token, or as a trusted peer.
    pub(crate) fn doors(&self) -> Doors {
        let Self { issuers, audience, peers, .. } = self;
        Doors { issuers: issuers.clone(), audience: audience.clone(), peers: peers.clone() }
    }

    /// That the platform's user speaks for everybody, in plain words, where it does.
    fn unbound_platform(&self) -> Option<String> {
        let Self { platform_user, platform_tenant, .. } = self;
        let user = platform_user.as_ref().filter(|_| platform_tenant.is_none())?;
        Some(format!(
            "the platform user {user} speaks for all global accounts with its password (access.platform_tenant is not set)"
        ))
    }
}

/// Limits of one request.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct RequestSettings {
    /// The largest body, in bytes.
    #[config(env = "KCP_BROKER_REQUEST_BODY", default = 1_048_576)]
    pub body: NonZeroU32,
    /// The longest time until the whole body has arrived; less than `time`.
    #[config(env = "KCP_BROKER_REQUEST_BODY_TIME", default = "10s", deserialize_with = friendly)]
    pub body_time: Duration,
    /// The longest time until an answer begins.
    #[config(env = "KCP_BROKER_REQUEST_TIME", default = "30s", deserialize_with = friendly)]
    pub time: Duration,
}

/// Logs, traces and metrics.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct TelemetrySettings {
    /// Which log lines are written: a level, or `target=level` pairs with commas between them.
    #[config(env = "KCP_BROKER_LOG", default = "info", deserialize_with = log_filter)]
    pub log: String,
    /// `text` for people, `json` for machines.
    #[config(env = "KCP_BROKER_LOG_FORMAT", default = "text")]
    pub format: Format,
}

impl RequestSettings {
    /// As the API takes them.
    pub(crate) fn limits(&self) -> anyhow::Result<api::RequestLimits> {
        let Self { body, body_time, time } = self;
        request_limits(*body, *body_time, *time)
    }
}

/// Limits of a request; the body has to arrive in less time than the answer may take, so that the two time-outs can be distinguished.
pub(crate) fn request_limits(
    body: NonZeroU32,
    body_time: Duration,
    time: Duration,
) -> anyhow::Result<api::RequestLimits> {
    anyhow::ensure!(body_time < time, "requests.body_time must be less than requests.time");
    Ok(api::RequestLimits { body: body.get() as usize, body_time, time })
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// Reads the settings; what is wrong is named with file, line and key, or with the variable.
pub fn load(file: Option<&Path>) -> anyhow::Result<Settings> {
    let mut builder = Settings::builder().env();
    if let Some(file) = file {
        anyhow::ensure!(file.exists(), "the settings file {} does not exist", file.display());
        builder = builder.file(file);
    }
    builder.load().context("the settings are not valid")
}

/// Whether a file has sections that only the provisioner's settings have.
pub fn is_of_provisioner(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let sections = text.lines().filter_map(|line| line.trim().strip_prefix('[')?.split(']').next());
    let mut names = sections.map(|section| section.split('.').next().unwrap_or_default().trim());
    names.any(|name| ["gardener", "director", "kyma", "defaults", "limits"].contains(&name))
}

impl Settings {
    /// What a start would refuse, without starting anything; what is less strict than usual because the settings say so is given back.
    pub fn check(&self) -> anyhow::Result<Vec<String>> {
        self.requests.limits()?;
        self.transport.acceptance(self.listen, self.connections.limits())?;
        crate::broker::check(self)?;
        self.exceptions()
    }

    /// What is less strict than usual because the settings say so, in plain words.
    pub(crate) fn exceptions(&self) -> anyhow::Result<Vec<String>> {
        let mut exceptions = self.transport.exceptions(self.listen, &self.access.doors())?;
        exceptions.extend(self.access.unbound_platform());
        Ok(exceptions)
    }

    /// The gates for checks, which nobody counts.
    pub fn gates(&self) -> crate::gates::Gates {
        crate::gates::Gates::unobserved(&base::Clock::running(), self.transport.hosts())
    }
}

/// The sample file.
pub fn sample() -> String {
    sample_of::<Settings>()
}

/// The sample file of settings: their comments, without the fences that tell examples from Rust.
fn sample_of<S: Config>() -> String {
    let commented = confique::toml::template::<S>(confique::toml::FormatOptions::default());
    commented.split_inclusive('\n').filter(|line| !line.starts_with("# ```")).collect()
}

#[cfg(test)]
mod tests;
