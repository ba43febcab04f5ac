//! The original broker's database.

mod archived;
mod orchestrations;

use std::collections::HashMap;

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

pub use archived::KebArchived;
pub use orchestrations::{KebMember, KebOrchestration};

const PROGRAM: &str = "the Kyma environment broker";

/// The required columns.
const NEEDED: [RequiredColumns; 2] = [
    (
        "instances",
        &[
            "instance_id",
            "runtime_id",
            "global_account_id",
            "service_plan_id",
            "provisioning_parameters",
            "created_at",
        ],
    ),
    ("operations", &["id", "instance_id", "state", "type", "data", "created_at", "updated_at"]),
];

/// The newest configuration for the Reconciler of each runtime, and every configuration of its cluster.
const STATES: &str = "
    SELECT runtime_id,
        json_agg(json_build_object('id', id, 'operation_id', operation_id, 'created_at', created_at,
            'cluster_config', cluster_config) ORDER BY created_at, id) AS configs,
        (array_agg(id ORDER BY created_at DESC, id DESC) FILTER (WHERE SETUP <> ''))[1] AS setup
    FROM runtime_states WHERE runtime_id <> '' GROUP BY runtime_id";

const OPERATIONS: &str = "
    SELECT o.id::text, o.instance_id::text, row_to_json(o)::text FROM operations o
    WHERE o.instance_id = ANY($1) ORDER BY o.instance_id, o.created_at, o.id";
const BINDINGS: &str = "
    SELECT b.id::text, b.instance_id::text, row_to_json(b)::text FROM bindings b
    WHERE b.instance_id = ANY($1) ORDER BY b.instance_id, b.id";
// Those whose row is gone.
const REMOVED: &str = "
    SELECT DISTINCT o.instance_id::text FROM operations o
    WHERE NOT EXISTS (SELECT 1 FROM instances i WHERE i.instance_id = o.instance_id)";

/// An instance of the original broker.
#[derive(Debug, Clone, Deserialize)]
pub struct KebInstance {
    pub instance_id: String,
    /// Empty while there is none.
    #[serde(default, deserialize_with = "null_is_default")]
    pub runtime_id: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub global_account_id: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub sub_account_id: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub service_id: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub service_plan_id: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub dashboard_url: String,
    /// The order; some fields are encrypted.
    #[serde(deserialize_with = "json")]
    pub provisioning_parameters: Value,
    #[serde(default, deserialize_with = "moment")]
    pub created_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "moment")]
    pub updated_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "moment")]
    pub deleted_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "moment")]
    pub expired_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub provider_region: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub provider: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub subscription_global_account_id: String,
    /// Configurations that were sent for its cluster, the oldest first.
    #[serde(skip)]
    pub configs: Vec<ClusterConfig>,
    /// The last setup that was sent to the Reconciler.
    #[serde(skip)]
    pub setup: Option<ClusterSetup>,
}

/// A configuration that was sent for a cluster.
#[derive(Debug, Clone, Deserialize)]
pub struct ClusterConfig {
    pub id: String,
    pub operation_id: String,
    #[serde(deserialize_with = "moment")]
    pub created_at: Option<Timestamp>,
    #[serde(deserialize_with = "json")]
    pub cluster_config: Value,
}

/// A setup that was sent to the Reconciler.
#[derive(Debug, Clone, Deserialize)]
pub struct ClusterSetup {
    pub id: String,
    pub operation_id: String,
    #[serde(deserialize_with = "moment")]
    pub created_at: Option<Timestamp>,
    /// Encrypted.
    pub cluster_setup: String,
}

/// An operation of the original broker.
#[derive(Debug, Clone, Deserialize)]
pub struct KebOperation {
    pub id: String,
    pub instance_id: String,
    /// The provisioner's operation that was followed.
    #[serde(default, deserialize_with = "null_is_default")]
    pub target_operation_id: String,
    pub state: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub description: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// Data of the steps.
    #[serde(deserialize_with = "json")]
    pub data: Value,
    #[serde(deserialize_with = "moment")]
    pub created_at: Option<Timestamp>,
    #[serde(deserialize_with = "moment")]
    pub updated_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub orchestration_id: String,
    /// The order as it was then; some fields are encrypted.
    #[serde(default, deserialize_with = "json")]
    pub provisioning_parameters: Value,
    #[serde(default, deserialize_with = "null_is_default")]
    pub finished_stages: String,
}

/// A binding of the original broker.
#[derive(Debug, Clone, Deserialize)]
pub struct KebBinding {
    pub id: String,
    pub instance_id: String,
    #[serde(default, deserialize_with = "moment")]
    pub created_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "moment")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub expiration_seconds: i64,
    /// Encrypted; empty before it is made.
    #[serde(default, deserialize_with = "null_is_default")]
    pub kubeconfig: String,
}

/// The rows of each instance, in order.
type ByInstance<T> = HashMap<String, Vec<Result<T, RowError>>>;

/// The original broker's database.
#[derive(Debug)]
pub struct KebSource {
    source: Source,
    cipher: Cipher,
    declared: bool,
    declared_removed: bool,
    /// The lists that are open besides, by their names.
    open_lists: Vec<&'static str>,
}

impl KebSource {
    /// Opens it, and sees whether the key fits.
    pub async fn open(url: &SecretString, key: Option<SourceKey>) -> Result<Self, Error> {
        let source = Source::open(url, PROGRAM, &NEEDED).await?;
        let cipher = Cipher::new(key);
        let mut opened = Self {
            source,
            cipher,
            declared: false,
            declared_removed: false,
            open_lists: Vec::new(),
        };
        opened.check_key().await?;
        Ok(opened)
    }

    /// Opens its encrypted fields.
    pub fn cipher(&self) -> &Cipher {
        &self.cipher
    }

    /// The next instances by id, with what was sent for their runtimes; nothing after the last ones.
    pub async fn next_instances(
        &mut self,
        most: u32,
    ) -> Result<Vec<Result<KebInstance, RowError>>, Error> {
        if !self.declared {
            let query = self.instances();
            self.source.declare("kcp_instances", &query).await?;
            self.declared = true;
        }
        let text = format!("FETCH FORWARD {most} FROM kcp_instances");
        let rows: Vec<(String, String, Option<String>, Option<String>)> =
            sqlx::query_as(AssertSqlSafe(text))
                .persistent(false)
                .fetch_all(self.source.connection())
                .await
                .map_err(reading("listing instances"))?;
        Ok(rows.into_iter().map(instance).collect())
    }

    fn instances(&self) -> String {
        const ALL: &str = "SELECT i.instance_id::text, row_to_json(i)::text,";
        if !self.source.has("runtime_states", "cluster_config") {
            return format!("{ALL} NULL::text, NULL::text FROM instances i ORDER BY i.instance_id");
        }
        // Older generations have no column for it.
        let has_setup = self.source.has("runtime_states", "cluster_setup");
        let states = STATES.replace("SETUP", if has_setup { "cluster_setup" } else { "''" });
        format!(
            "{ALL} s.configs::text, CASE WHEN last.id IS NULL THEN NULL ELSE row_to_json(last)::text END
             FROM instances i
             LEFT JOIN ({states}) s ON s.runtime_id = i.runtime_id
             LEFT JOIN runtime_states last ON last.id = s.setup
             ORDER BY i.instance_id"
        )
    }

    /// The operations of some instances, the oldest first.
    pub async fn operations_of(
        &mut self,
        ids: &[String],
    ) -> Result<ByInstance<KebOperation>, Error> {
        self.of_instances(OPERATIONS, ids).await
    }

    /// The bindings of some instances.
    pub async fn bindings_of(&mut self, ids: &[String]) -> Result<ByInstance<KebBinding>, Error> {
        if !self.source.has("bindings", "kubeconfig") {
            return Ok(HashMap::new());
        }
        self.of_instances(BINDINGS, ids).await
    }

    async fn of_instances<T: serde::de::DeserializeOwned>(
        &mut self,
        text: &'static str,
        ids: &[String],
    ) -> Result<ByInstance<T>, Error> {
        let rows: Vec<(String, String, String)> = sqlx::query_as(text)
            .bind(ids)
            .fetch_all(self.source.connection())
            .await
            .map_err(reading("listing what belongs to instances"))?;
        let mut grouped = HashMap::new();
        for (id, instance, text) in rows {
            let read: Result<T, RowError> = row(&id, &text);
            grouped.entry(instance).or_insert_with(Vec::new).push(read);
        }
        Ok(grouped)
    }

    /// The ids of the next instances whose rows are gone and whose operations are not; nothing after the last ones.
    pub async fn next_removed(&mut self, most: u32) -> Result<Vec<String>, Error> {
        if !self.declared_removed {
            self.source.declare("kcp_removed", REMOVED).await?;
            self.declared_removed = true;
        }
        let text = format!("FETCH FORWARD {most} FROM kcp_removed");
        sqlx::query_scalar(AssertSqlSafe(text))
            .persistent(false)
            .fetch_all(self.source.connection())
            .await
            .map_err(reading("listing removed instances"))
    }

    /// How many rows a table has that is not imported.
    pub async fn rows(&mut self, table: &'static str) -> Result<u64, Error> {
        self.source.rows(table).await
    }

    /// Whether the key opens what is encrypted, as some values show.
    async fn check_key(&mut self) -> Result<(), Error> {
        let mut values = Vec::new();
        for (table, column) in [
            ("runtime_states", "kyma_config"),
            ("runtime_states", "cluster_setup"),
            ("bindings", "kubeconfig"),
        ] {
            if self.source.has(table, column) {
                let text =
                    format!("SELECT {column}::text FROM {table} WHERE {column} <> '' LIMIT 5");
                values.extend(self.texts(text).await?);
            }
        }
        let orders = "SELECT provisioning_parameters::text FROM instances
            WHERE provisioning_parameters::text LIKE '%\"clientsecret\"%' LIMIT 5";
        for order in self.texts(orders.to_owned()).await? {
            let order: Value = serde_json::from_str(&order).unwrap_or_default();
            let secret = order.pointer("/ers_context/sm_operator_credentials/clientsecret");
            values.extend(secret.and_then(Value::as_str).map(str::to_owned));
        }
        values.retain(|value| !value.is_empty());
        self.cipher.check(&values)
    }

    async fn texts(&mut self, text: String) -> Result<Vec<String>, Error> {
        sqlx::query_scalar(AssertSqlSafe(text))
            .fetch_all(self.source.connection())
            .await
            .map_err(reading("looking for encrypted values"))
    }
}

fn instance(
    (id, text, configs, setup): (String, String, Option<String>, Option<String>),
) -> Result<KebInstance, RowError> {
    let mut instance: KebInstance = row(&id, &text)?;
    if let Some(configs) = configs {
        instance.configs = row(&id, &configs)?;
    }
    if let Some(setup) = setup {
        instance.setup = Some(row(&id, &setup)?);
    }
    Ok(instance)
}
