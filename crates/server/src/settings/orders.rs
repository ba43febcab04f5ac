//! Settings of the catalog, of runtimes and of responses.

use std::{path::PathBuf, time::Duration};

use confique::Config;
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use super::values::friendly;

/// The catalog.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct CatalogSettings {
    /// A folder with files that replace those of the catalog that the program brings along.
    #[config(env = "KCP_BROKER_CATALOG_FOLDER")]
    pub folder: Option<PathBuf>,
    /// The names of the plans that can be ordered; all of them if none is named.
    #[config(env = "KCP_BROKER_CATALOG_PLANS", default = [], parse_env = confique::env::parse::list_by_comma)]
    pub plans: Vec<String>,
    /// Whether parameters and platform regions that are not known are refused; they are ignored otherwise.
    #[config(env = "KCP_BROKER_CATALOG_CLOSED", default = true)]
    pub closed: bool,
    /// Networks that kubeconfigs of orders may lead to, besides public addresses: `10.0.0.0/8`, `::1/128` or one address.
    #[config(env = "KCP_BROKER_CATALOG_CUSTOMER_NETWORKS", default = [], parse_env = confique::env::parse::list_by_comma)]
    pub customer_networks: Vec<String>,
    /// The names of the plans whose instances platforms suspend and bring back by `context.active`; it is ignored for the others.
    #[config(env = "KCP_BROKER_CATALOG_SUSPENDED_PLANS", default = ["trial"], parse_env = confique::env::parse::list_by_comma)]
    pub suspended_plans: Vec<String>,
    /// The names of the plans whose instances can expire: they are suspended and do not come back.
    #[config(env = "KCP_BROKER_CATALOG_EXPIRING_PLANS", default = ["trial", "free"], parse_env = confique::env::parse::list_by_comma)]
    pub expiring_plans: Vec<String>,
    /// Whether instances can change to another plan. Which plans can follow which is in the catalog (`upgradableTo`).
    /// Default: off, on with `kcp up`.
    #[config(env = "KCP_BROKER_CATALOG_PLAN_CHANGES")]
    pub plan_changes: Option<bool>,
    /// Whether the schemas publish `oidc` and `administrators`.
    #[config(env = "KCP_BROKER_CATALOG_ADDITIONAL_PARAMETERS", default = true)]
    pub additional_parameters: bool,
    /// Whether orders may choose the version of Kyma.
    #[config(env = "KCP_BROKER_CATALOG_ON_DEMAND_VERSIONS", default = false)]
    pub on_demand_versions: bool,
    /// The issuer whose people may enter clusters, unless an order names another one.
    /// Default with `kcp up`: the landscape's issuer.
    #[config(env = "KCP_BROKER_CATALOG_OIDC_ISSUER_URL")]
    pub oidc_issuer_url: Option<Url>,
    /// OIDC client id of clusters.
    #[config(env = "KCP_BROKER_CATALOG_OIDC_CLIENT_ID")]
    pub oidc_client_id: Option<String>,
}

/// Settings of runtimes.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct RuntimeSettings {
    /// Orders follow the legacy plans: the provisioner installs Kyma, logging and managed Kafka are
    /// set up where they are configured.
    #[config(env = "KCP_BROKER_LEGACY", default = false)]
    pub legacy: bool,
    /// How long the provisioner may take for one runtime.
    #[config(env = "KCP_BROKER_RUNTIME_LIMIT", default = "6h", deserialize_with = friendly)]
    pub limit: Duration,
    /// How long the provisioner may take to change one runtime.
    #[config(env = "KCP_BROKER_RUNTIME_UPDATE_LIMIT", default = "2h", deserialize_with = friendly)]
    pub update_limit: Duration,
    /// How long the provisioner may take to upgrade the cluster of one runtime.
    #[config(env = "KCP_BROKER_RUNTIME_UPGRADE_LIMIT", default = "3h", deserialize_with = friendly)]
    pub upgrade_limit: Duration,
    /// How long the provisioner may take to remove one runtime.
    #[config(env = "KCP_BROKER_RUNTIME_REMOVAL_LIMIT", default = "5h", deserialize_with = friendly)]
    pub removal_limit: Duration,
    /// How long the Reconciler may take for one runtime.
    #[config(env = "KCP_BROKER_RECONCILIATION_LIMIT", default = "2h", deserialize_with = friendly)]
    pub reconciliation_limit: Duration,
    /// How long an order waits for a provider account while the pool has none.
    #[config(env = "KCP_BROKER_ACCOUNT_LIMIT", default = "10m", deserialize_with = friendly)]
    pub account_limit: Duration,
    /// How long `AvS` may fail before an order does; twice as long once its runtime is there.
    #[config(env = "KCP_BROKER_LIMIT_AVS", default = "10m", deserialize_with = friendly)]
    pub avs_limit: Duration,
    /// How long EDP may fail before an order goes on without it, or fails where it is required.
    #[config(env = "KCP_BROKER_LIMIT_EDP", default = "30m", deserialize_with = friendly)]
    pub edp_limit: Duration,
    /// How long a removal waits for the services that customers have ordered through the cluster; then their finalizers are taken away.
    #[config(env = "KCP_BROKER_SERVICE_REMOVAL_LIMIT", default = "30m", deserialize_with = friendly)]
    pub service_removal_limit: Duration,
    /// The domain under which clusters get theirs.
    #[config(env = "KCP_BROKER_SHOOT_DOMAIN", default = "kyma.example.test")]
    pub shoot_domain: String,
    /// The version of Kyma when neither the order nor its account names one.
    #[config(env = "KCP_BROKER_KYMA_VERSION", default = "2.10.0")]
    pub kyma_version: String,
    /// The `ConfigMap` that maps accounts to versions of Kyma.
    #[config(env = "KCP_BROKER_ACCOUNT_VERSIONS", default = "kyma-versions")]
    pub account_versions: String,
    /// The namespace of the control plane in which overrides and the plans' configuration are.
    #[config(env = "KCP_BROKER_OVERRIDES_NAMESPACE", default = "kcp-system")]
    pub overrides_namespace: String,
    /// The `ConfigMap` in that namespace whose key `maintenancePolicy` has the maintenance policy of orchestrations.
    #[config(env = "KCP_BROKER_MAINTENANCE_POLICY", default = "orchestration-config")]
    pub maintenance_policy: String,
    /// Which objects of the garden hold the accounts of the pool: `secret` or `credentials` bindings.
    #[config(env = "KCP_BROKER_ACCOUNT_BINDINGS", default = "secret")]
    pub account_bindings: Bindings,
    /// DNS providers of the clusters' domains: a JSON file with a list of objects with `domainsInclude`, `primary`,
    /// `secretName` and `type`.
    #[config(env = "KCP_BROKER_DNS_PROVIDERS")]
    pub dns_providers: Option<PathBuf>,
}

/// Which objects hold the accounts of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bindings {
    /// The older ones.
    Secret,
    /// The newer ones.
    Credentials,
}

/// Settings of responses to owners.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct AnswerSettings {
    /// The dashboard that opens every instance.
    #[config(env = "KCP_BROKER_DASHBOARD", default = "https://dashboard.example.test")]
    pub dashboard: String,
    /// The broker's own address, when instances are to be labelled with where their kubeconfig is.
    #[config(env = "KCP_BROKER_ADDRESS")]
    pub address: Option<String>,
    /// Where the end of trials is explained. Owners of trials are notified of the end only with it.
    #[config(env = "KCP_BROKER_TRIAL_DOCUMENTATION")]
    pub trial_documentation: Option<String>,
    /// Whether orders, changes and removals without `accepts_incomplete=true` are accepted as if they had it, against the Open Service
    /// Broker API: for clean-up jobs that never send it. Otherwise they get 422 `AsyncRequired`.
    #[config(env = "KCP_BROKER_ASSUME_ASYNC", default = false)]
    pub assume_async: bool,
}

/// The Service Manager; legacy.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct ServiceManagerSettings {
    /// URL of the Service Manager. Without it the credentials of the order are used.
    #[config(env = "KCP_BROKER_SERVICE_MANAGER_URL")]
    pub url: Option<String>,
    /// User.
    #[config(env = "KCP_BROKER_SERVICE_MANAGER_USER")]
    pub user: Option<String>,
    /// Password (client secret).
    #[config(env = "KCP_BROKER_SERVICE_MANAGER_PASSWORD")]
    pub password: Option<SecretString>,
    /// Use these credentials even if the order has its own.
    #[config(env = "KCP_BROKER_SERVICE_MANAGER_ALWAYS", default = false)]
    pub always: bool,
}
