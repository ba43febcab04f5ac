//! The original provisioner's database.
//!
//! What a reader would get wrong: kubeconfigs stay there. Gardener gives a new one to the owner of the Shoot, so only whether there
//! was one is read.

use jiff::Timestamp;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use sqlx::AssertSqlSafe;

use super::{
    Cipher, Error, RowError, SourceKey,
    read::{json, moment, null_is_default, row},
    source::{RequiredColumns, Source, reading},
};

const PROGRAM: &str = "the Kyma runtime provisioner";

/// The required columns.
const NEEDED: [RequiredColumns; 3] = [
    ("cluster", &["id", "tenant", "creation_timestamp", "deleted"]),
    ("gardener_config", &["cluster_id", "name", "provider", "region", "provider_specific_config"]),
    ("operation", &["id", "type", "state", "start_timestamp", "cluster_id"]),
];

/// A part of a cluster: its name, the tables it needs, where it comes from, and what it is. Without the tables it is null.
type Part = (&'static str, &'static [&'static str], &'static str, &'static str);

// Each is gathered once for all clusters: the tables have no index to look them up one by one.
const PARTS: [Part; 8] = [
    (
        "operations",
        &["operation"],
        "LEFT JOIN (SELECT cluster_id, json_agg(row_to_json(o) ORDER BY start_timestamp, id) AS list
             FROM operation o GROUP BY cluster_id) ops ON ops.cluster_id = c.id",
        "ops.list",
    ),
    (
        "administrators",
        &["cluster_administrator"],
        "LEFT JOIN (SELECT cluster_id, json_agg(row_to_json(a) ORDER BY id) AS list
             FROM cluster_administrator a GROUP BY cluster_id) adm ON adm.cluster_id = c.id",
        "adm.list",
    ),
    (
        "oidc",
        &["oidc_config"],
        "LEFT JOIN oidc_config oidc ON oidc.gardener_config_id = g.id",
        "row_to_json(oidc)",
    ),
    (
        "algorithms",
        &["oidc_config", "signing_algorithms"],
        "LEFT JOIN (SELECT oidc_config_id, json_agg(algorithm ORDER BY id) AS list
             FROM signing_algorithms GROUP BY oidc_config_id) alg ON alg.oidc_config_id = oidc.id",
        "alg.list",
    ),
    (
        "dns",
        &["dns_config"],
        "LEFT JOIN dns_config dns ON dns.gardener_config_id = g.id",
        "row_to_json(dns)",
    ),
    (
        "dns_providers",
        &["dns_config", "dns_providers"],
        "LEFT JOIN (SELECT dns_config_id, json_agg(row_to_json(p) ORDER BY id) AS list
             FROM dns_providers p GROUP BY dns_config_id) dnsp ON dnsp.dns_config_id = dns.id",
        "dnsp.list",
    ),
    (
        "kyma",
        &["kyma_config", "kyma_release", "kyma_component_config"],
        "LEFT JOIN (SELECT k.cluster_id, json_agg(json_build_object('id', k.id, 'version', r.version,
                 'profile', k.profile, 'global_configuration', k.global_configuration,
                 'components', parts.list)) AS list
             FROM kyma_config k
             JOIN kyma_release r ON r.id = k.release_id
             LEFT JOIN (SELECT kyma_config_id, json_agg(row_to_json(cc) ORDER BY component_order, id) AS list
                 FROM kyma_component_config cc GROUP BY kyma_config_id) parts ON parts.kyma_config_id = k.id
             GROUP BY k.cluster_id) kyma ON kyma.cluster_id = c.id",
        "kyma.list",
    ),
    (
        "upgrades",
        &["runtime_upgrade"],
        "LEFT JOIN (SELECT o.cluster_id, json_agg(row_to_json(u) ORDER BY o.start_timestamp, o.id) AS list
             FROM runtime_upgrade u JOIN operation o ON o.id = u.operation_id GROUP BY o.cluster_id) upg
             ON upg.cluster_id = c.id",
        "upg.list",
    ),
];

/// A cluster of the original provisioner, with everything that belongs to it.
#[derive(Debug, Clone, Deserialize)]
pub struct ProvisionerCluster {
    pub id: String,
    pub tenant: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub subaccount: String,
    #[serde(deserialize_with = "moment")]
    pub created_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub deleted: bool,
    /// Whether its kubeconfig was ever fetched: its cluster was there.
    #[serde(default)]
    pub has_kubeconfig: bool,
    #[serde(default)]
    pub active_kyma_config_id: Option<String>,
    /// The row of its configuration.
    #[serde(default)]
    pub gardener: Value,
    /// The OIDC issuer of its users.
    #[serde(default)]
    pub oidc: Value,
    #[serde(default, deserialize_with = "null_is_default")]
    pub algorithms: Vec<String>,
    #[serde(default)]
    pub dns: Value,
    #[serde(default, deserialize_with = "null_is_default")]
    pub dns_providers: Vec<Value>,
    /// Its administrators; their ids may be encrypted.
    #[serde(default, deserialize_with = "null_is_default")]
    pub administrators: Vec<Value>,
    /// Every Kyma that it had.
    #[serde(default, deserialize_with = "null_is_default")]
    pub kyma: Vec<KymaConfigRow>,
    /// The upgrades of Kyma, the oldest first.
    #[serde(default, deserialize_with = "null_is_default")]
    pub upgrades: Vec<Upgrade>,
    /// The oldest first.
    #[serde(default, deserialize_with = "null_is_default")]
    pub operations: Vec<ProvisionerOperation>,
}

/// A Kyma installation.
#[derive(Debug, Clone, Deserialize)]
pub struct KymaConfigRow {
    pub id: String,
    pub version: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub profile: String,
    #[serde(default, deserialize_with = "json")]
    pub global_configuration: Value,
    #[serde(default, deserialize_with = "null_is_default")]
    pub components: Vec<KymaComponentRow>,
}

/// One component of it.
#[derive(Debug, Clone, Deserialize)]
pub struct KymaComponentRow {
    pub component: String,
    pub namespace: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub source_url: String,
    #[serde(default, deserialize_with = "json")]
    pub configuration: Value,
}

/// An upgrade of Kyma.
#[derive(Debug, Clone, Deserialize)]
pub struct Upgrade {
    pub operation_id: String,
    pub state: String,
    pub pre_upgrade_kyma_config_id: String,
}

/// An operation of the original provisioner.
#[derive(Debug, Clone, Deserialize)]
pub struct ProvisionerOperation {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub state: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub message: String,
    #[serde(deserialize_with = "moment")]
    pub start_timestamp: Option<Timestamp>,
    #[serde(default, deserialize_with = "moment")]
    pub end_timestamp: Option<Timestamp>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub stage: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub err_message: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub reason: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub component: String,
}

/// The original provisioner's database.
#[derive(Debug)]
pub struct ProvisionerSource {
    source: Source,
    cipher: Cipher,
    declared: bool,
}

impl ProvisionerSource {
    /// Opens it, and sees whether the key fits.
    pub async fn open(url: &SecretString, key: Option<SourceKey>) -> Result<Self, Error> {
        let source = Source::open(url, PROGRAM, &NEEDED).await?;
        let mut opened = Self { source, cipher: Cipher::new(key), declared: false };
        opened.check_key().await?;
        Ok(opened)
    }

    /// Opens its encrypted fields.
    pub fn cipher(&self) -> &Cipher {
        &self.cipher
    }

    /// The next clusters by id; nothing after the last ones.
    pub async fn next_clusters(
        &mut self,
        most: u32,
    ) -> Result<Vec<Result<ProvisionerCluster, RowError>>, Error> {
        if !self.declared {
            let query = self.clusters();
            self.source.declare("kcp_clusters", &query).await?;
            self.declared = true;
        }
        let text = format!("FETCH FORWARD {most} FROM kcp_clusters");
        let rows: Vec<(String, String)> = sqlx::query_as(AssertSqlSafe(text))
            .persistent(false)
            .fetch_all(self.source.connection())
            .await
            .map_err(reading("listing clusters"))?;
        Ok(rows.into_iter().map(|(id, text)| row(&id, &text)).collect())
    }

    fn clusters(&self) -> String {
        let has = |table: &str, column: &str| self.source.has(table, column);
        let column = |name| if has("cluster", name) { format!("c.{name}") } else { "NULL".into() };
        let (subaccount, kyma) = (column("sub_account_id"), column("active_kyma_config_id"));
        let kubeconfig = column("kubeconfig");
        let there: Vec<&Part> = PARTS
            .iter()
            .filter(|(_, tables, ..)| tables.iter().all(|table| self.source.has_table(table)))
            .collect();
        let fields = there.iter().map(|(name, _, _, value)| format!(", '{name}', {value}"));
        let fields: String = fields.collect();
        let joins: Vec<&str> = there.iter().map(|(_, _, join, _)| *join).collect();
        let joins = joins.join("\n");
        format!(
            "SELECT c.id::text, json_build_object('id', c.id, 'tenant', c.tenant, 'subaccount', {subaccount},
                 'created_at', c.creation_timestamp, 'deleted', c.deleted,
                 'has_kubeconfig', COALESCE({kubeconfig}, '') <> '', 'active_kyma_config_id', {kyma},
                 'gardener', row_to_json(g){fields})::text
             FROM cluster c LEFT JOIN gardener_config g ON g.cluster_id = c.id {joins}
             ORDER BY c.id"
        )
    }

    /// Whether the key opens what is encrypted, as some values show.
    async fn check_key(&mut self) -> Result<(), Error> {
        if !self.source.has("cluster_administrator", "is_user_id_encrypted") {
            return Ok(());
        }
        let text = "SELECT user_id::text FROM cluster_administrator WHERE is_user_id_encrypted AND user_id <> '' LIMIT 5";
        let values: Vec<String> = sqlx::query_scalar(text)
            .fetch_all(self.source.connection())
            .await
            .map_err(reading("looking for encrypted values"))?;
        self.cipher.check(&values)
    }
}
