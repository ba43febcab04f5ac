//! The provisioner's settings: defaults, then a TOML file, then the environment.

use std::{
    net::SocketAddr,
    num::{NonZeroU16, NonZeroU32},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use confique::Config;
use secrecy::SecretString;
use url::Url;

use crate::{
    access::Doors,
    service_context::{ServiceTimes, Tables},
};

use super::{
    Format,
    access::{IssuerSettings, PeerSettings},
    links::provisioner::{ConnectionSettings, TransportSettings},
    request_limits,
    stage_limits::StageLimitSettings,
    values::{Module, friendly, lease, log_filter, pace},
};

/// Settings of the provisioner.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct ProvisionerSettings {
    /// Where the API listens. `kcp up` decides by itself.
    #[config(env = "KCP_PROVISIONER_LISTEN", default = "127.0.0.1:3000")]
    pub listen: SocketAddr,
    /// Where everything is kept.
    #[config(nested)]
    pub database: Database,
    /// Execution of operations.
    #[config(nested)]
    pub operations: Operations,
    /// How long the stages of operations may take. All stages of one operation together must take less than the broker
    /// waits for it: its settings `runtimes.limit` for a new runtime, `runtimes.removal_limit` for a removal.
    #[config(nested)]
    pub limits: StageLimitSettings,
    /// Gardener.
    #[config(nested)]
    pub gardener: Gardener,
    /// The registry of runtimes.
    #[config(nested)]
    pub director: Director,
    /// Where Kyma comes from.
    #[config(nested)]
    pub kyma: Kyma,
    /// Settings of the work inside of clusters.
    #[config(nested)]
    pub runtimes: Runtimes,
    /// Defaults for fields that requests leave out.
    #[config(nested)]
    pub defaults: Defaults,
    /// Issuers whose tokens are accepted.
    #[config(nested)]
    pub access: Access,
    /// Limits of one request.
    #[config(nested)]
    pub requests: Requests,
    /// Connections to the API.
    #[config(nested)]
    pub connections: ConnectionSettings,
    /// TLS.
    #[config(nested)]
    pub transport: TransportSettings,
    /// Logs, traces and metrics.
    #[config(nested)]
    pub telemetry: Telemetry,
}

/// Where everything is kept.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Database {
    /// `postgres://…` in production, `sqlite://…` on a single machine. `kcp up` decides by itself.
    #[config(env = "KCP_PROVISIONER_DATABASE_URL", default = "sqlite://kcp-provisioner.db")]
    pub url: SecretString,
    /// The schema to work in (PostgreSQL only).
    #[config(env = "KCP_PROVISIONER_DATABASE_SCHEMA", default = "provisioner")]
    pub schema: String,
    /// How many connections at most.
    #[config(env = "KCP_PROVISIONER_DATABASE_CONNECTIONS", default = 10)]
    pub connections: NonZeroU32,
    /// The file with the keys that seal kubeconfigs and configurations, made by `kcp keys new`. `kcp up` decides by itself.
    #[config(env = "KCP_PROVISIONER_SEALING_KEYS", default = "kcp-provisioner.key")]
    pub sealing_keys: PathBuf,
}

/// Execution of operations.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Operations {
    /// How many steps run at once on this machine.
    #[config(env = "KCP_PROVISIONER_WORKERS", default = 40)]
    pub workers: NonZeroU16,
    /// How long a replica owns its operations without a heartbeat.
    #[config(env = "KCP_PROVISIONER_LEASE", default = "10s", deserialize_with = lease)]
    pub lease: Duration,
    /// How long running steps may go on after the order to stop.
    #[config(env = "KCP_PROVISIONER_DRAIN", default = "15s", deserialize_with = friendly)]
    pub drain: Duration,
    /// How many times faster than written steps poll what they wait for: more than 1 only where the world is simulated.
    #[config(env = "KCP_PROVISIONER_PACE", default = 1.0, deserialize_with = pace)]
    pub pace: f64,
    /// How long the journal of an ended operation is kept.
    #[config(env = "KCP_PROVISIONER_KEEP_JOURNAL", default = "14d", deserialize_with = friendly)]
    pub keep_journal: Duration,
    /// How long audit entries are kept.
    #[config(env = "KCP_PROVISIONER_KEEP_AUDIT", default = "365d", deserialize_with = friendly)]
    pub keep_audit: Duration,
}

impl Database {
    /// As the service opens it. Where it is and what seals it is part of the service's context.
    pub(crate) fn tables(&self) -> Tables<'_> {
        let Self { url: _, schema, connections, sealing_keys: _ } = self;
        Tables { connections: connections.get(), schema }
    }
}

impl Operations {
    /// What is not for the engine.
    pub(crate) fn times(&self) -> ServiceTimes {
        ServiceTimes { keep_audit: self.keep_audit, drain: self.drain }
    }
}

/// Gardener.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Gardener {
    /// The kubeconfig of the garden.
    #[config(env = "KCP_PROVISIONER_GARDENER_KUBECONFIG", default = "gardener-kubeconfig.yaml")]
    pub kubeconfig: PathBuf,
    /// The project whose Shoots are ours.
    #[config(env = "KCP_PROVISIONER_GARDENER_PROJECT", default = "kyma")]
    pub project: String,
    /// How many calls may be under way at once.
    #[config(env = "KCP_PROVISIONER_GARDENER_CALLS", default = 32)]
    pub calls: NonZeroU16,
    /// The `ConfigMap` with the policy of audit logs.
    #[config(env = "KCP_PROVISIONER_GARDENER_AUDIT_POLICY")]
    pub audit_policy: Option<String>,
    /// A JSON file: provider of the seed, then landscape, to the tenant of the audit log.
    #[config(env = "KCP_PROVISIONER_GARDENER_AUDIT_TENANTS")]
    pub audit_tenants: Option<PathBuf>,
    /// A JSON file: region to when production clusters may be maintained.
    #[config(env = "KCP_PROVISIONER_GARDENER_MAINTENANCE_WINDOWS")]
    pub maintenance_windows: Option<PathBuf>,
}

/// The registry of runtimes.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Director {
    /// Its GraphQL endpoint.
    #[config(
        env = "KCP_PROVISIONER_DIRECTOR_URL",
        default = "http://compass-director.compass-system.svc.cluster.local:3000/graphql"
    )]
    pub url: Url,
    /// Where its tokens come from.
    #[config(
        env = "KCP_PROVISIONER_DIRECTOR_TOKEN_URL",
        default = "http://127.0.0.1:8082/oauth2/token"
    )]
    pub token_url: Url,
    /// The client id for the issuer of tokens.
    #[config(env = "KCP_PROVISIONER_DIRECTOR_CLIENT_ID", default = "kcp-provisioner")]
    pub client_id: String,
    /// Client secret.
    #[config(env = "KCP_PROVISIONER_DIRECTOR_CLIENT_SECRET", default = "")]
    pub client_secret: SecretString,
}

/// Where Kyma comes from.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Kyma {
    /// Base URL of the releases.
    #[config(
        env = "KCP_PROVISIONER_KYMA_RELEASES",
        default = "https://storage.googleapis.com/kyma-prow-artifacts"
    )]
    pub releases: Url,
    /// Base URL of versions that are not released yet.
    #[config(
        env = "KCP_PROVISIONER_KYMA_DEVELOPMENT",
        default = "https://storage.googleapis.com/kyma-development-artifacts"
    )]
    pub development: Url,
    /// Kyma Lite: what is installed when a request lists nothing, each as `component/namespace`, in this order. What a
    /// request lists is added to it, unless the list has the `compass-runtime-agent`: such a list replaces it.
    #[config(
        env = "KCP_PROVISIONER_KYMA_LITE",
        default = ["cluster-essentials/kyma-system", "istio/istio-system", "compass-runtime-agent/compass-system"],
        parse_env = confique::env::parse::list_by_comma
    )]
    pub lite: Vec<Module>,
}

/// Settings of the work inside of clusters.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Runtimes {
    /// For how long a kubeconfig is asked for; ten minutes at least.
    #[config(env = "KCP_PROVISIONER_KUBECONFIG_LIFETIME", default = "8h", deserialize_with = friendly)]
    pub kubeconfig_lifetime: Duration,
    /// How long before its end a kubeconfig is replaced.
    #[config(env = "KCP_PROVISIONER_KUBECONFIG_MARGIN", default = "1h", deserialize_with = friendly)]
    pub kubeconfig_margin: Duration,
    /// Whether the administrators of a request become administrators of its cluster.
    #[config(env = "KCP_PROVISIONER_BIND_ADMINISTRATORS", default = true)]
    pub bind_administrators: bool,
    /// The group with read access to everything.
    #[config(env = "KCP_PROVISIONER_L2_GROUP", default = "runtimeOperator")]
    pub l2_group: String,
    /// The group with full access.
    #[config(env = "KCP_PROVISIONER_L3_GROUP", default = "runtimeAdmin")]
    pub l3_group: String,
    /// What brokers at such addresses made is removed before a cluster goes.
    #[config(env = "KCP_PROVISIONER_SERVICE_MANAGER", default = "https://service-manager.")]
    pub service_manager: String,
    /// How long an agent that could not connect may try before it gets another token.
    #[config(env = "KCP_PROVISIONER_AGENT_PATIENCE", default = "2m", deserialize_with = friendly)]
    pub agent_patience: Duration,
    /// How many clients of clusters are kept.
    #[config(env = "KCP_PROVISIONER_KEPT_CLIENTS", default = 200)]
    pub kept_clients: NonZeroU16,
}

/// Defaults for fields that requests leave out.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Defaults {
    /// The version of Kubernetes.
    #[config(env = "KCP_PROVISIONER_DEFAULT_KUBERNETES_VERSION")]
    pub kubernetes_version: Option<String>,
    /// How many nodes at least.
    #[config(env = "KCP_PROVISIONER_DEFAULT_AUTO_SCALER_MIN")]
    pub auto_scaler_min: Option<i32>,
    /// How many nodes at most.
    #[config(env = "KCP_PROVISIONER_DEFAULT_AUTO_SCALER_MAX")]
    pub auto_scaler_max: Option<i32>,
    /// The size of a node's disk.
    #[config(env = "KCP_PROVISIONER_DEFAULT_VOLUME_SIZE_GB")]
    pub volume_size_gb: Option<i32>,
    /// The machine on AWS.
    #[config(env = "KCP_PROVISIONER_DEFAULT_MACHINE_AWS")]
    pub machine_aws: Option<String>,
    /// The machine on Azure.
    #[config(env = "KCP_PROVISIONER_DEFAULT_MACHINE_AZURE")]
    pub machine_azure: Option<String>,
    /// The machine on GCP.
    #[config(env = "KCP_PROVISIONER_DEFAULT_MACHINE_GCP")]
    pub machine_gcp: Option<String>,
    /// The machine on `OpenStack`.
    #[config(env = "KCP_PROVISIONER_DEFAULT_MACHINE_OPENSTACK")]
    pub machine_openstack: Option<String>,
    /// Whether Gardener may raise the version of Kubernetes by itself.
    #[config(env = "KCP_PROVISIONER_DEFAULT_KUBERNETES_AUTO_UPDATE", default = false)]
    pub kubernetes_auto_update: bool,
    /// Whether Gardener may raise the version of the machine image by itself.
    #[config(env = "KCP_PROVISIONER_DEFAULT_MACHINE_IMAGE_AUTO_UPDATE", default = false)]
    pub machine_image_auto_update: bool,
}

/// Issuers whose tokens are accepted.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Access {
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
    #[config(env = "KCP_PROVISIONER_ISSUERS", default = [], parse_env = confique::env::parse::list_by_comma)]
    pub issuers: Vec<IssuerSettings>,
    /// The audience of tokens, unless their issuer's table has one.
    #[config(env = "KCP_PROVISIONER_AUDIENCE", default = "kcp")]
    pub audience: String,
    /// Services that need no token, because the network in front of the API has checked who they are: a mesh, of which loopback is the
    /// sidecar. A peer must fit all that its table gives: `addresses` (networks) and `certificates` (DNS names and URIs of client
    /// certificates, with `transport.client_authorities`). One that sends a token is judged by that token.
    ///
    /// ```toml
    ///    [[access.peers]]
    ///    name = "kyma-environment-broker"
    ///    addresses = ["127.0.0.0/8", "::1"]
    ///    scopes = ["provisioner:read", "provisioner:write", "provisioner:kubeconfig", "tenants:any"]
    /// ```
    ///
    /// In the environment: NAME@ADDRESS=SCOPE,SCOPE with a semicolon between two.
    #[config(env = "KCP_PROVISIONER_PEERS", default = [], parse_env = confique::env::parse::list_by_semicolon)]
    pub peers: Vec<PeerSettings>,
}

/// Limits of one request.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Requests {
    /// The largest body, in bytes.
    #[config(env = "KCP_PROVISIONER_REQUEST_BODY", default = 1_048_576)]
    pub body: NonZeroU32,
    /// The longest time until the whole body has arrived; less than `time`.
    #[config(env = "KCP_PROVISIONER_REQUEST_BODY_TIME", default = "10s", deserialize_with = friendly)]
    pub body_time: Duration,
    /// The longest time until an answer begins.
    #[config(env = "KCP_PROVISIONER_REQUEST_TIME", default = "60s", deserialize_with = friendly)]
    pub time: Duration,
}

/// Logs, traces and metrics.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Telemetry {
    /// Which log lines are written: a level, or `target=level` pairs with commas between them.
    #[config(env = "KCP_PROVISIONER_LOG", default = "info", deserialize_with = log_filter)]
    pub log: String,
    /// `text` for people, `json` for machines.
    #[config(env = "KCP_PROVISIONER_LOG_FORMAT", default = "text")]
    pub format: Format,
}

impl Access {
    /// Access by token, or as a trusted peer.
    pub(crate) fn doors(&self) -> Doors {
        let Self { issuers, audience, peers } = self;
        Doors { issuers: issuers.clone(), audience: audience.clone(), peers: peers.clone() }
    }
}

impl Requests {
    /// As the API takes them.
    pub(crate) fn limits(&self) -> anyhow::Result<api::RequestLimits> {
        let Self { body, body_time, time } = self;
        request_limits(*body, *body_time, *time)
    }
}

/// Reads the settings; what is wrong is named with file, line and key, or with the variable.
pub fn load(file: Option<&Path>) -> anyhow::Result<ProvisionerSettings> {
    let mut builder = ProvisionerSettings::builder().env();
    if let Some(file) = file {
        anyhow::ensure!(file.exists(), "the settings file {} does not exist", file.display());
        builder = builder.file(file);
    }
    builder.load().context("the settings are not valid")
}

impl ProvisionerSettings {
    /// What a start would refuse, without starting anything; what is less strict than usual because the settings say so is given back.
    pub fn check(&self) -> anyhow::Result<Vec<String>> {
        self.requests.limits()?;
        self.transport.acceptance(self.listen, self.connections.limits())?;
        self.exceptions()
    }

    /// What is less strict than usual because the settings say so, in plain words.
    pub(crate) fn exceptions(&self) -> anyhow::Result<Vec<String>> {
        self.transport.exceptions(self.listen, &self.access.doors())
    }
}

/// The sample file.
pub fn sample() -> String {
    super::sample_of::<ProvisionerSettings>()
}

#[cfg(test)]
mod tests;
