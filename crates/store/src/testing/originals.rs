//! Databases in the form of the original programs, for tests of the import.
//!
//! Rows come as JSON objects, with as many of the columns as a test cares about.

use aws_lc_rs::{
    aead::{AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    cipher::{AES_128, AES_192, AES_256, DecryptionContext, EncryptingKey, UnboundCipherKey},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, raw_sql};

use super::TestDatabase;

const KEB: &str = "
    CREATE TABLE instances (
        instance_id varchar(255) PRIMARY KEY, runtime_id varchar(255) NOT NULL,
        global_account_id varchar(255) NOT NULL, sub_account_id varchar(255), service_id varchar(255) NOT NULL,
        service_plan_id varchar(255) NOT NULL, service_name varchar(255), service_plan_name varchar(255),
        dashboard_url varchar(255) NOT NULL DEFAULT '', provisioning_parameters text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
        deleted_at timestamptz NOT NULL DEFAULT '0001-01-01 00:00:00+00', provider_region varchar(32),
        version integer NOT NULL DEFAULT 0, provider varchar(16) DEFAULT '',
        subscription_global_account_id text, expired_at timestamptz);
    CREATE TABLE operations (
        id varchar(255) PRIMARY KEY, instance_id varchar(255) NOT NULL, target_operation_id varchar(255),
        version integer NOT NULL DEFAULT 0, state varchar(32) NOT NULL, description text, type varchar(32) NOT NULL,
        data json NOT NULL, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL,
        orchestration_id varchar(64), provisioning_parameters json NOT NULL, finished_stages text);
    CREATE INDEX operations_by_instance_id ON operations (instance_id);
    CREATE TABLE orchestrations (
        orchestration_id varchar(255) PRIMARY KEY, type varchar(32) NOT NULL DEFAULT 'upgradeKyma',
        created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
        state varchar(32) NOT NULL, parameters text NOT NULL, description text, runtime_operations text);
    CREATE TABLE runtime_states (
        id varchar(255) PRIMARY KEY, runtime_id varchar(255), operation_id varchar(255),
        created_at timestamptz NOT NULL, kyma_config text, cluster_config text, kyma_version text,
        k8s_version text, cluster_setup text);
    CREATE TABLE bindings (
        id varchar(255) NOT NULL, instance_id varchar(255) NOT NULL, created_at timestamptz NOT NULL,
        kubeconfig text NOT NULL, expiration_seconds bigint NOT NULL, expires_at timestamptz NOT NULL,
        created_by varchar(255), PRIMARY KEY (id, instance_id));
    CREATE TABLE instances_archived (
        instance_id varchar(255) PRIMARY KEY, global_account_id varchar(255), last_runtime_id varchar(255),
        subscription_global_account_id varchar(255), subaccount_id varchar(255), plan_id varchar(40),
        plan_name varchar(32), region varchar(32), subaccount_region varchar(32), provider varchar(32),
        shoot_name varchar(32), internal_user boolean, provisioning_started_at timestamptz,
        provisioning_finished_at timestamptz, first_deprovisioning_started_at timestamptz,
        first_deprovisioning_finished_at timestamptz, last_deprovisioning_finished_at timestamptz,
        provisioning_state varchar(32));";

const PROVISIONER: &str = "
    CREATE TABLE cluster (
        id uuid PRIMARY KEY, kubeconfig text, tenant varchar(256) NOT NULL, creation_timestamp timestamp NOT NULL,
        deleted boolean DEFAULT false, sub_account_id varchar(256), active_kyma_config_id uuid,
        is_kubeconfig_encrypted boolean NOT NULL DEFAULT false);
    CREATE TABLE gardener_config (
        id uuid PRIMARY KEY, cluster_id uuid NOT NULL UNIQUE, name varchar(256) NOT NULL,
        project_name varchar(256) NOT NULL, kubernetes_version varchar(256) NOT NULL, volume_size_gb varchar(256),
        machine_type varchar(256) NOT NULL, machine_image varchar(256), machine_image_version varchar(256),
        region varchar(256) NOT NULL, provider varchar(256) NOT NULL, purpose varchar(256),
        licence_type varchar(256), seed varchar(256) NOT NULL, target_secret varchar(256) NOT NULL,
        disk_type varchar(256), worker_cidr varchar(256) NOT NULL, auto_scaler_min integer NOT NULL,
        auto_scaler_max integer NOT NULL, max_surge integer NOT NULL, max_unavailable integer NOT NULL,
        enable_kubernetes_version_auto_update boolean NOT NULL,
        enable_machine_image_version_auto_update boolean NOT NULL,
        allow_privileged_containers boolean NOT NULL DEFAULT true, exposure_class_name varchar(256),
        provider_specific_config jsonb, shoot_networking_filter_disabled boolean,
        control_plane_failure_tolerance varchar(256), eu_access boolean NOT NULL);
    CREATE TABLE operation (
        id uuid PRIMARY KEY, type varchar(64) NOT NULL, state varchar(64) NOT NULL, message text,
        start_timestamp timestamp NOT NULL, end_timestamp timestamp, cluster_id uuid NOT NULL,
        stage varchar(256) NOT NULL, last_transition timestamp, err_message text DEFAULT '',
        reason text DEFAULT '', component text DEFAULT '');
    CREATE TABLE kyma_release (
        id uuid PRIMARY KEY, version varchar(256) NOT NULL UNIQUE, tiller_yaml text NOT NULL,
        installer_yaml text NOT NULL);
    CREATE TABLE kyma_config (
        id uuid PRIMARY KEY, release_id uuid NOT NULL, cluster_id uuid NOT NULL, profile varchar(32),
        global_configuration jsonb);
    CREATE TABLE kyma_component_config (
        id uuid PRIMARY KEY, component varchar(256) NOT NULL, namespace varchar(256) NOT NULL,
        source_url varchar(256), configuration jsonb, component_order integer, kyma_config_id uuid NOT NULL);
    CREATE TABLE runtime_upgrade (
        id uuid PRIMARY KEY, operation_id uuid NOT NULL, state varchar(64) NOT NULL,
        pre_upgrade_kyma_config_id uuid NOT NULL, post_upgrade_kyma_config_id uuid NOT NULL);
    CREATE TABLE cluster_administrator (
        id uuid PRIMARY KEY, cluster_id uuid NOT NULL, user_id text NOT NULL, is_user_id_encrypted boolean NOT NULL);
    CREATE TABLE oidc_config (
        id uuid PRIMARY KEY, gardener_config_id uuid NOT NULL, client_id text NOT NULL, groups_claim text NOT NULL,
        issuer_url text NOT NULL, username_claim text NOT NULL, username_prefix text NOT NULL);
    CREATE TABLE signing_algorithms (id uuid PRIMARY KEY, oidc_config_id uuid NOT NULL, algorithm text NOT NULL);
    CREATE TABLE dns_config (
        id uuid PRIMARY KEY, domain varchar(256) NOT NULL, gardener_config_id uuid NOT NULL UNIQUE);
    CREATE TABLE dns_providers (
        id uuid PRIMARY KEY, dns_config_id uuid NOT NULL, domains_include varchar(256) NOT NULL,
        is_primary boolean NOT NULL, secret_name varchar(256) NOT NULL, type varchar(256) NOT NULL);";

/// A database in the form of an original program.
#[derive(Debug)]
pub struct OriginalDatabase {
    test: TestDatabase,
}

impl OriginalDatabase {
    /// That of the original broker, without rows.
    ///
    /// # Panics
    /// When it cannot be made.
    pub async fn keb() -> Self {
        Self::with(KEB).await
    }

    /// That of the original provisioner, without rows.
    ///
    /// # Panics
    /// When it cannot be made.
    pub async fn provisioner() -> Self {
        Self::with(PROVISIONER).await
    }

    async fn with(tables: &str) -> Self {
        let made = Self { test: TestDatabase::postgres().await };
        made.run(tables).await;
        made
    }

    /// Its address.
    pub fn url(&self) -> &str {
        self.test.url()
    }

    /// Runs statements in it.
    ///
    /// # Panics
    /// When one fails.
    pub async fn run(&self, statements: &str) {
        let mut connection = self.connect().await;
        raw_sql(AssertSqlSafe(statements.to_owned()))
            .execute(&mut connection)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
    }

    /// Adds rows to a table; columns that they do not name get their defaults.
    ///
    /// # Panics
    /// When one does not fit.
    pub async fn insert(&self, table: &str, rows: &[Value]) {
        let mut connection = self.connect().await;
        for rows in rows.chunks(500) {
            let Some(first) = rows.first().and_then(Value::as_object) else { return };
            let columns: Vec<&str> = first.keys().map(String::as_str).collect();
            let columns = columns.join(", ");
            let text = format!(
                "INSERT INTO {table} ({columns})
                 SELECT {columns} FROM json_populate_recordset(NULL::{table}, $1::json)"
            );
            let rows = Value::from(rows.to_vec()).to_string();
            let inserted =
                sqlx::query(AssertSqlSafe(text)).bind(rows).execute(&mut connection).await;
            inserted.unwrap_or_else(|error| panic!("{table}: {error}"));
        }
    }

    async fn connect(&self) -> PgConnection {
        PgConnection::connect(self.url()).await.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A value as the originals of 2023 encrypt it.
///
/// # Panics
/// When the key has another length than 16, 24 or 32 bytes.
pub fn encrypted(key: &str, plain: &str) -> String {
    let algorithm = match key.len() {
        16 => &AES_128,
        24 => &AES_192,
        _ => &AES_256,
    };
    let key = UnboundCipherKey::new(algorithm, key.as_bytes()).expect("a key of the right length");
    let key = EncryptingKey::cfb128(key).expect("the mode is known");
    let mut text = BASE64_STANDARD.encode(plain).into_bytes();
    let context = key.encrypt(&mut text).expect("text can be encrypted");
    let DecryptionContext::Iv128(iv) = context else { panic!("the mode has an iv of 128 bits") };
    BASE64_STANDARD.encode([iv.as_ref().as_slice(), &text].concat())
}

/// A value as the newer originals encrypt it.
///
/// # Panics
/// When the key has another length than 16, 24 or 32 bytes.
pub fn encrypted_gcm(key: &str, plain: &str) -> String {
    let algorithm = match key.len() {
        16 => &AES_128_GCM,
        24 => &AES_192_GCM,
        _ => &AES_256_GCM,
    };
    let key = UnboundKey::new(algorithm, key.as_bytes()).expect("a key of the right length");
    let mut nonce = [0; NONCE_LEN];
    aws_lc_rs::rand::fill(&mut nonce).expect("there is randomness");
    let mut text = plain.as_bytes().to_vec();
    let sealed = LessSafeKey::new(key).seal_in_place_append_tag(
        Nonce::assume_unique_for_key(nonce),
        Aad::empty(),
        &mut text,
    );
    sealed.expect("text can be encrypted");
    BASE64_STANDARD.encode([nonce.as_slice(), &text].concat())
}
