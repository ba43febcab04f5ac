//! Effects of the provisioner's settings.

use base::Clock;
use confique::Config;

use super::*;
use crate::{
    Speed,
    provisioner::engine_settings,
    settings::effects::{
        Picture,
        Row::{self, Test, Value},
        are_as_stored, keys,
    },
};

/// Settings under which every other one has an effect. Clients of this machine do not read the certificates that it trusts, which is slow.
const BASE: &str = r#"
listen = "0.0.0.0:3000"
transport.plaintext_listener = true
gardener.kubeconfig = "KUBECONFIG"
director.url = "http://127.0.0.1/director/graphql"
director.token_url = "http://127.0.0.1/issuer/token"
kyma.releases = "http://127.0.0.1/releases"
kyma.development = "http://127.0.0.1/development"
"#;

const TLS: Row = Test("with_a_certificate_the_listener_speaks_tls_and_nothing_else");
const LINES: Row = Test("log_lines_are_written_as_the_settings_say");
const DATABASE: Row =
    Test("address_schema_and_connections_of_the_settings_are_those_of_the_database");

const ROWS: &[(&str, Row)] = &[
    ("listen", Value(r#""0.0.0.0:9090""#)),
    ("database.url", DATABASE),
    ("database.schema", Value(r#""theirs""#)),
    ("database.connections", Value("11")),
    ("database.sealing_keys", Test("keys_are_made_when_asked_for_and_never_replaced")),
    ("operations.workers", Value("41")),
    ("operations.lease", Value(r#""14s""#)),
    ("operations.drain", Value(r#""16s""#)),
    ("operations.pace", Value("3.0")),
    ("operations.keep_journal", Value(r#""15d""#)),
    ("operations.keep_audit", Value(r#""366d""#)),
    ("limits.cluster_domain", Value(r#""101s""#)),
    ("limits.cluster_creation", Value(r#""102s""#)),
    ("limits.bindings_creation", Value(r#""103s""#)),
    ("limits.installation_triggering", Value(r#""104s""#)),
    ("limits.installation", Value(r#""105s""#)),
    ("limits.agent_configuration", Value(r#""106s""#)),
    ("limits.agent_connection", Value(r#""107s""#)),
    ("limits.upgrade_triggering", Value(r#""108s""#)),
    ("limits.shoot_refresh", Value(r#""109s""#)),
    ("limits.shoot_upgrade", Value(r#""110s""#)),
    ("limits.cluster_cleanup", Value(r#""111s""#)),
    ("limits.uninstall_triggering", Value(r#""112s""#)),
    ("limits.cluster_deletion", Value(r#""113s""#)),
    ("limits.waiting_for_cluster_deletion", Value(r#""114s""#)),
    ("limits.hibernation", Value(r#""115s""#)),
    ("gardener.kubeconfig", Value(r#""/nowhere/garden.yaml""#)),
    ("gardener.project", Value(r#""theirs""#)),
    ("gardener.calls", Value("7")),
    ("gardener.audit_policy", Value(r#""policy""#)),
    ("gardener.audit_tenants", Value(r#""/nowhere/tenants.json""#)),
    ("gardener.maintenance_windows", Value(r#""/nowhere/windows.json""#)),
    ("director.url", Value(r#""http://127.0.0.1/director-2""#)),
    ("director.token_url", Value(r#""http://127.0.0.1/issuer-2""#)),
    ("director.client_id", Value(r#""kcp-provisioner-2""#)),
    ("director.client_secret", Test("the_provisioners_systems_are_reached_too")),
    ("kyma.releases", Value(r#""http://127.0.0.1/releases-2""#)),
    ("kyma.development", Value(r#""http://127.0.0.1/development-2""#)),
    ("kyma.lite", Value(r#"["istio/istio-system"]"#)),
    ("runtimes.kubeconfig_lifetime", Value(r#""9h""#)),
    ("runtimes.kubeconfig_margin", Value(r#""2h""#)),
    ("runtimes.bind_administrators", Value("false")),
    ("runtimes.l2_group", Value(r#""lookers""#)),
    ("runtimes.l3_group", Value(r#""doers""#)),
    ("runtimes.service_manager", Value(r#""https://sm.""#)),
    ("runtimes.agent_patience", Value(r#""3m""#)),
    ("runtimes.kept_clients", Value("7")),
    ("defaults.kubernetes_version", Value(r#""1.99.1""#)),
    ("defaults.auto_scaler_min", Value("4")),
    ("defaults.auto_scaler_max", Value("9")),
    ("defaults.volume_size_gb", Value("77")),
    ("defaults.machine_aws", Value(r#""m1""#)),
    ("defaults.machine_azure", Value(r#""m2""#)),
    ("defaults.machine_gcp", Value(r#""m3""#)),
    ("defaults.machine_openstack", Value(r#""m4""#)),
    ("defaults.kubernetes_auto_update", Value("true")),
    ("defaults.machine_image_auto_update", Value("true")),
    ("access.issuers", Value(r#"["https://issuer.example.test"]"#)),
    ("access.audience", Value(r#""others""#)),
    (
        "access.peers",
        Value(r#"[{name = "keb", addresses = ["::1"], scopes = ["provisioner:read"]}]"#),
    ),
    ("requests.body", Value("2000")),
    ("requests.body_time", Value(r#""11s""#)),
    ("requests.time", Value(r#""61s""#)),
    ("connections.total", Value("1025")),
    ("connections.per_peer", Value("513")),
    ("connections.header_time", Value(r#""12s""#)),
    ("connections.idle_time", Value(r#""121s""#)),
    ("transport.certificate", TLS),
    ("transport.key", TLS),
    ("transport.client_authorities", Value(r#""/nowhere.pem""#)),
    ("transport.plaintext_listener", Value("false")),
    ("transport.plaintext_hosts", Value(r#"["a.test"]"#)),
    ("telemetry.log", LINES),
    ("telemetry.format", LINES),
];

const KUBECONFIG: &str = "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
    clusters: [{name: a, cluster: {server: \"https://api.example.test\"}}]\n\
    users: [{name: a, user: {token: t}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n";

/// The parts that these settings are for.
async fn parts(settings: &ProvisionerSettings) -> anyhow::Result<Picture> {
    let mut picture = Picture::default();
    let speed = Speed::Times(settings.operations.pace);
    picture.add("database", &settings.database.tables());
    picture.add("times", &settings.operations.times());
    picture.add("engine", &engine_settings(&settings.operations, None, speed));
    picture.add("limits", &settings.limits.limits());
    picture.add("defaults", &defaults(settings));
    picture.add("rules", &rules(settings)?);
    picture.add("audit tenants", &audit_tenants(settings)?);
    picture.add("requests", &settings.requests.limits()?);
    picture.add("connections", &settings.connections.limits());
    settings.transport.acceptance(settings.listen, settings.connections.limits())?;
    picture.add("hosts", &settings.transport.hosts());
    picture.add("exceptions", &settings.exceptions()?);
    picture.add("doors", &settings.access.doors());
    let gates = Gates::unobserved(&Clock::running(), settings.transport.hosts());
    let outside = ProvisionerAddresses::configured(settings).await?;
    picture.add("steps", &steps(&settings.runtimes, outside.agent_patience));
    picture.add("clusters", &clusters(&settings.runtimes, &gates));
    let ProvisionerClients { gardener, director, releases } =
        outside.reach(settings, &gates).await?;
    picture.add("gardener", &gardener);
    picture.add("director", &director);
    picture.add("released", &releases.0);
    picture.add("development", &releases.1);
    Ok(picture)
}

#[tokio::test]
async fn every_setting_changes_what_it_is_for_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig.yaml");
    std::fs::write(&kubeconfig, KUBECONFIG).unwrap();
    let base = BASE.replace("KUBECONFIG", kubeconfig.to_str().unwrap());
    let file = folder.path().join("provisioner.toml");
    let picture = async |text: &str| {
        std::fs::write(&file, text).unwrap();
        let settings = settings::load(Some(&file)).unwrap();
        parts(&settings).await.unwrap_or_else(|error| Picture::refused(&error))
    };

    are_as_stored("provisioner", &keys(&ProvisionerSettings::META), ROWS, &base, picture).await;
}
