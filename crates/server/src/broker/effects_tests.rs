//! Effects of the broker's settings.

use confique::Config;
use secrecy::ExposeSecret;

use super::*;
use crate::settings::effects::{
    Picture,
    Row::{self, Test, Value},
    are_as_stored, keys,
};

/// Settings under which every other one has an effect. Clients of this machine do not read the certificates that it trusts, which is slow.
const BASE: &str = r#"
listen = "0.0.0.0:8080"
access.platform_user = "cf"
access.platform_password = "twelve chars"
bindings.enabled = true
service_manager.url = "https://sm.example.test"
service_manager.user = "sm-user"
service_manager.password = "sm-password"
transport.plaintext_listener = true
systems.gardener.kubeconfig = "KUBECONFIG"
systems.gardener.project = "kyma"
systems.control_plane.kubeconfig = "KUBECONFIG"
systems.lifecycle_manager.namespace = "kcp-system"
systems.provisioner.url = "http://127.0.0.1/provisioner/graphql"
systems.provisioner.token_url = "http://127.0.0.1/issuer/token"
systems.provisioner.client_id = "kcp-broker"
systems.provisioner.client_secret = "hush"
systems.director.url = "http://127.0.0.1/director/graphql"
systems.director.token_url = "http://127.0.0.1/issuer/token"
systems.director.client_id = "kcp-broker"
systems.director.client_secret = "hush"
systems.releases.url = "http://127.0.0.1/releases"
systems.releases.development_url = "http://127.0.0.1/development"
systems.reconciler.url = "http://127.0.0.1/reconciler"
systems.avs.api_endpoint = "http://127.0.0.1/avs/evaluations"
systems.avs.oauth_token_endpoint = "http://127.0.0.1/avs/token"
systems.avs.oauth_client_id = "client"
systems.avs.oauth_username = "user"
systems.avs.oauth_password = "hush"
systems.avs.group_id = 1
systems.avs.parent_id = 2
systems.avs.internal_tester_access_id = 3
systems.avs.external_tester_access_id = 4
systems.avs.trial_internal_tester_access_id = 5
systems.avs.trial_group_id = 6
systems.avs.trial_parent_id = 7
systems.avs.gardener_shoot_name_tag_class_id = 8
systems.avs.gardener_seed_name_tag_class_id = 9
systems.avs.region_tag_class_id = 10
systems.edp.auth_url = "http://127.0.0.1/edp"
systems.edp.admin_url = "http://127.0.0.1/edp-admin"
systems.edp.namespace = "kyma"
systems.edp.secret = "hush"
systems.ias.url = "http://127.0.0.1/ias"
systems.ias.user_id = "user"
systems.ias.user_secret = "hush"
systems.ias.identity_provider = "provider"
systems.lms.url = "http://127.0.0.1/lms"
systems.lms.token = "hush"
systems.lms.environment = "dev"
systems.lms.saml_tenant = "people"
systems.spc.url = "http://127.0.0.1/spc"
systems.cis.events.url = "http://127.0.0.1/events"
systems.cis.events.auth_url = "http://127.0.0.1/issuer/events"
systems.cis.events.client_id = "events"
systems.cis.events.client_secret = "hush"
systems.cis.accounts.url = "http://127.0.0.1/accounts"
systems.cis.accounts.auth_url = "http://127.0.0.1/issuer/accounts"
systems.cis.accounts.client_id = "accounts"
systems.cis.accounts.client_secret = "hush"
systems.cis.entitlements.url = "http://127.0.0.1/entitlements"
systems.cis.entitlements.auth_url = "http://127.0.0.1/issuer/entitlements"
systems.cis.entitlements.client_id = "entitlements"
systems.cis.entitlements.client_secret = "hush"
systems.aws.endpoint = "http://127.0.0.1/aws"
systems.azure.authority = "http://127.0.0.1/login"
systems.azure.management = "http://127.0.0.1/management"
"#;

/// Secrets of systems are not printed; the landscape refuses wrong ones.
const SECRET: Row =
    Test("everything_in_the_landscape_is_reached_and_what_is_wrong_is_said_in_plain_words");
const TLS: Row = Test("with_a_certificate_the_listener_speaks_tls_and_nothing_else");
const LINES: Row = Test("log_lines_are_written_as_the_settings_say");
const DATABASE: Row =
    Test("address_schema_and_connections_of_the_settings_are_those_of_the_database");
const SIGN_IN: Row = Test("someone_signs_in_and_sees_what_the_token_allows");

const ROWS: &[(&str, Row)] = &[
    ("listen", Value(r#""0.0.0.0:9090""#)),
    ("database.url", DATABASE),
    ("database.schema", Value(r#""theirs""#)),
    ("database.connections", Value("11")),
    ("database.sealing_keys", Test("keys_are_made_when_asked_for_and_never_replaced")),
    ("operations.limit", Value(r#""25h""#)),
    ("operations.kyma_upgrade_limit", Value(r#""11h""#)),
    ("operations.cluster_upgrade_limit", Value(r#""12h""#)),
    ("operations.removal_patience", Value(r#""13m""#)),
    ("operations.workers", Value("21")),
    ("operations.lease", Value(r#""14s""#)),
    ("operations.drain", Value(r#""16s""#)),
    ("operations.pace", Value("3.0")),
    ("operations.keep_journal", Value(r#""15d""#)),
    ("operations.keep_audit", Value(r#""366d""#)),
    ("access.issuers", Value(r#"["https://issuer.example.test"]"#)),
    ("access.audience", Value(r#""others""#)),
    ("access.peers", Value(r#"[{name = "keb", addresses = ["::1"], scopes = ["runtimes:read"]}]"#)),
    ("access.platform_user", Value(r#""cf2""#)),
    ("access.platform_password", Value(r#""other password""#)),
    ("access.platform_tenant", Value(r#""ga-1""#)),
    ("catalog.folder", Value(r#""/nowhere""#)),
    ("catalog.plans", Value(r#"["aws"]"#)),
    ("catalog.closed", Value("false")),
    ("catalog.customer_networks", Value(r#"["10.0.0.0/8"]"#)),
    ("catalog.suspended_plans", Value(r#"["free"]"#)),
    ("catalog.expiring_plans", Value(r#"["trial", "free", "azure_lite"]"#)),
    ("catalog.plan_changes", Value("true")),
    ("catalog.additional_parameters", Value("false")),
    ("catalog.on_demand_versions", Value("true")),
    ("catalog.oidc_issuer_url", Value(r#""https://people.example.test""#)),
    ("catalog.oidc_client_id", Value(r#""client-1""#)),
    ("runtimes.legacy", Value("true")),
    ("runtimes.limit", Value(r#""7h""#)),
    ("runtimes.update_limit", Value(r#""41m""#)),
    ("runtimes.upgrade_limit", Value(r#""42m""#)),
    ("runtimes.removal_limit", Value(r#""8h""#)),
    ("runtimes.reconciliation_limit", Value(r#""43m""#)),
    ("runtimes.account_limit", Value(r#""44m""#)),
    ("runtimes.avs_limit", Value(r#""45m""#)),
    ("runtimes.edp_limit", Value(r#""46m""#)),
    ("runtimes.service_removal_limit", Value(r#""47m""#)),
    ("runtimes.shoot_domain", Value(r#""shoots.example.test""#)),
    ("runtimes.kyma_version", Value(r#""2.11.0""#)),
    ("runtimes.account_versions", Value(r#""versions""#)),
    ("runtimes.overrides_namespace", Value(r#""overrides""#)),
    ("runtimes.maintenance_policy", Value(r#""policy""#)),
    ("runtimes.account_bindings", Value(r#""credentials""#)),
    ("runtimes.dns_providers", Value(r#""/nowhere.json""#)),
    ("answers.dashboard", Value(r#""https://dashboard.test""#)),
    ("answers.address", Value(r#""https://broker.test""#)),
    ("answers.trial_documentation", Value(r#""https://docs.test""#)),
    (
        "answers.assume_async",
        Test("settings_of_requests_take_effect_and_calls_outside_are_counted"),
    ),
    ("bindings.enabled", Value("false")),
    ("bindings.plans", Value(r#"["azure"]"#)),
    ("bindings.expiration", Value(r#""11m""#)),
    ("bindings.shortest", Value(r#""601s""#)),
    ("bindings.longest", Value(r#""3h""#)),
    ("bindings.most", Value("11")),
    ("bindings.operators", Value(r#""5h""#)),
    (
        "bindings.kubeconfig_origins",
        Test("settings_of_requests_take_effect_and_calls_outside_are_counted"),
    ),
    ("bindings.time", Value(r#""46s""#)),
    ("console.url", SIGN_IN),
    ("console.client_id", SIGN_IN),
    ("console.client_secret", SIGN_IN),
    ("console.issuer", SIGN_IN),
    ("console.scopes", SIGN_IN),
    ("jobs.expiry.enabled", Value("false")),
    ("jobs.expiry.every", Value(r#""2h""#)),
    ("jobs.expiry.dry_run", Value("true")),
    ("jobs.expiry.rate", Value("11")),
    ("jobs.expiry.plans", Value(r#"{ trial = "1h" }"#)),
    ("jobs.deprovision_retrigger.enabled", Value("false")),
    ("jobs.deprovision_retrigger.every", Value(r#""2h""#)),
    ("jobs.deprovision_retrigger.dry_run", Value("true")),
    ("jobs.deprovision_retrigger.rate", Value("12")),
    ("jobs.binding_cleanup.enabled", Value("false")),
    ("jobs.binding_cleanup.every", Value(r#""2h""#)),
    ("jobs.binding_cleanup.dry_run", Value("true")),
    ("jobs.binding_cleanup.rate", Value("13")),
    ("jobs.subaccount_cleanup.enabled", Value("false")),
    ("jobs.subaccount_cleanup.every", Value(r#""2h""#)),
    ("jobs.subaccount_cleanup.dry_run", Value("true")),
    ("jobs.subaccount_cleanup.rate", Value("14")),
    ("jobs.subaccount_cleanup.edition", Value(r#""central""#)),
    ("jobs.environment_cleanup.enabled", Value("true")),
    ("jobs.environment_cleanup.every", Value(r#""2h""#)),
    ("jobs.environment_cleanup.dry_run", Value("true")),
    ("jobs.environment_cleanup.rate", Value("15")),
    ("jobs.environment_cleanup.allowed", Value("true")),
    ("jobs.environment_cleanup.older_than", Value(r#""3h""#)),
    ("jobs.environment_cleanup.selector", Value(r#""a=b""#)),
    ("jobs.subscription_cleanup.enabled", Value("false")),
    ("jobs.subscription_cleanup.every", Value(r#""2h""#)),
    ("jobs.subscription_cleanup.dry_run", Value("true")),
    ("jobs.subscription_cleanup.rate", Value("16")),
    ("jobs.archive.enabled", Value("false")),
    ("jobs.archive.every", Value(r#""2h""#)),
    ("jobs.archive.dry_run", Value("true")),
    ("jobs.archive.rate", Value("17")),
    ("jobs.archive.after", Value(r#""1d""#)),
    ("jobs.archive.keep", Value(r#""2d""#)),
    ("jobs.archive.keep_runs", Value(r#""3d""#)),
    ("jobs.drift.enabled", Value("false")),
    ("jobs.drift.every", Value(r#""2h""#)),
    ("jobs.drift.dry_run", Value("true")),
    ("jobs.drift.rate", Value("18")),
    ("jobs.drift.settled", Value(r#""3h""#)),
    ("service_manager.url", Value(r#""https://sm2.example.test""#)),
    ("service_manager.user", Value(r#""sm-user-2""#)),
    ("service_manager.password", Value(r#""sm-password-2""#)),
    ("service_manager.always", Value("true")),
    ("requests.body", Value("2000")),
    ("requests.body_time", Value(r#""11s""#)),
    ("requests.time", Value(r#""31s""#)),
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
    ("systems.gardener.kubeconfig", Value(r#""/nowhere/garden.yaml""#)),
    ("systems.gardener.project", Value(r#""theirs""#)),
    ("systems.gardener.calls", Value("7")),
    ("systems.control_plane.kubeconfig", Value(r#""/nowhere/kcp.yaml""#)),
    ("systems.lifecycle_manager.namespace", Value(r#""modules""#)),
    ("systems.lifecycle_manager.kyma_version", Value(r#""v1beta1""#)),
    ("systems.provisioner.url", Value(r#""http://127.0.0.1/provisioner-2/""#)),
    ("systems.provisioner.token_url", Value(r#""http://127.0.0.1/issuer/2""#)),
    ("systems.provisioner.client_id", Value(r#""kcp-broker-2""#)),
    ("systems.provisioner.client_secret", SECRET),
    ("systems.provisioner.calls", Value("7")),
    ("systems.director.url", Value(r#""http://127.0.0.1/director-2/""#)),
    ("systems.director.token_url", Value(r#""http://127.0.0.1/issuer/2""#)),
    ("systems.director.client_id", Value(r#""kcp-broker-2""#)),
    ("systems.director.client_secret", SECRET),
    ("systems.releases.url", Value(r#""http://127.0.0.1/releases-2/""#)),
    ("systems.releases.development_url", Value(r#""http://127.0.0.1/development-2/""#)),
    ("systems.reconciler.url", Value(r#""http://127.0.0.1/reconciler-2/""#)),
    ("systems.avs.api_endpoint", Value(r#""http://127.0.0.1/avs-2/""#)),
    ("systems.avs.oauth_token_endpoint", Value(r#""http://127.0.0.1/avs-2/token""#)),
    ("systems.avs.oauth_client_id", Value(r#""client-2""#)),
    ("systems.avs.oauth_username", Value(r#""user-2""#)),
    ("systems.avs.oauth_password", SECRET),
    ("systems.avs.group_id", Value("101")),
    ("systems.avs.parent_id", Value("102")),
    ("systems.avs.internal_tester_access_id", Value("103")),
    ("systems.avs.internal_tester_service", Value(r#""inside""#)),
    ("systems.avs.internal_tester_tags", Value(r#"'[{"content": "in", "tag_class_id": 111}]'"#)),
    ("systems.avs.external_tester_access_id", Value("104")),
    ("systems.avs.external_tester_service", Value(r#""outside""#)),
    ("systems.avs.external_tester_tags", Value(r#"'[{"content": "out", "tag_class_id": 112}]'"#)),
    ("systems.avs.trial_internal_tester_access_id", Value("105")),
    ("systems.avs.trial_group_id", Value("106")),
    ("systems.avs.trial_parent_id", Value("107")),
    ("systems.avs.gardener_shoot_name_tag_class_id", Value("108")),
    ("systems.avs.gardener_seed_name_tag_class_id", Value("109")),
    ("systems.avs.region_tag_class_id", Value("110")),
    ("systems.edp.auth_url", Value(r#""http://127.0.0.1/edp-2""#)),
    ("systems.edp.admin_url", Value(r#""http://127.0.0.1/edp-admin-2""#)),
    ("systems.edp.namespace", Value(r#""kyma-2""#)),
    ("systems.edp.secret", SECRET),
    ("systems.edp.environment", Value(r#""test""#)),
    ("systems.edp.required", Value("true")),
    ("systems.ias.url", Value(r#""http://127.0.0.1/ias-2""#)),
    ("systems.ias.user_id", SECRET),
    ("systems.ias.user_secret", SECRET),
    ("systems.ias.identity_provider", Value(r#""provider-2""#)),
    ("systems.lms.url", Value(r#""http://127.0.0.1/lms-2""#)),
    ("systems.lms.token", SECRET),
    ("systems.lms.cluster_type", Value(r#""ha""#)),
    ("systems.lms.environment", Value(r#""prod""#)),
    ("systems.lms.saml_tenant", Value(r#""people-2""#)),
    ("systems.lms.region", Value(r#""eu""#)),
    ("systems.lms.mandatory", Value("true")),
    ("systems.lms.enabled_for_global_accounts", Value(r#""ga-1,ga-2""#)),
    ("systems.spc.url", Value(r#""http://127.0.0.1/spc-2""#)),
    ("systems.cis.events.url", Value(r#""http://127.0.0.1/events-2""#)),
    ("systems.cis.events.auth_url", Value(r#""http://127.0.0.1/issuer/events-2""#)),
    ("systems.cis.events.client_id", Value(r#""events-2""#)),
    ("systems.cis.events.client_secret", SECRET),
    ("systems.cis.events.page_size", Value("7")),
    ("systems.cis.accounts.url", Value(r#""http://127.0.0.1/accounts-2""#)),
    ("systems.cis.accounts.auth_url", Value(r#""http://127.0.0.1/issuer/accounts-2""#)),
    ("systems.cis.accounts.client_id", Value(r#""accounts-2""#)),
    ("systems.cis.accounts.client_secret", SECRET),
    ("systems.cis.entitlements.url", Value(r#""http://127.0.0.1/entitlements-2""#)),
    ("systems.cis.entitlements.auth_url", Value(r#""http://127.0.0.1/issuer/entitlements-2""#)),
    ("systems.cis.entitlements.client_id", Value(r#""entitlements-2""#)),
    ("systems.cis.entitlements.client_secret", SECRET),
    ("systems.aws.endpoint", Value(r#""http://127.0.0.1/aws-2""#)),
    ("systems.aws.market", Value(r#""chinese""#)),
    ("systems.azure.authority", Value(r#""http://127.0.0.1/login-2""#)),
    ("systems.azure.management", Value(r#""http://127.0.0.1/management-2""#)),
];

const KUBECONFIG: &str = "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
    clusters: [{name: a, cluster: {server: \"https://api.example.test\"}}]\n\
    users: [{name: a, user: {token: t}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n";

/// The parts that these settings are for.
async fn parts(settings: &Settings) -> anyhow::Result<Picture> {
    let mut picture = Picture::default();
    let (catalog, offer) = from_settings::catalog(settings)?;
    settings.jobs.check(&catalog, &settings.catalog.expiring_plans)?;
    let doors = settings.access.doors();
    picture.add("catalog", catalog.defaults());
    picture.add("offer", &offer);
    picture.add("provisioning", &from_settings::limits(settings, &settings.systems)?);
    picture.add("deprovisioning", &from_settings::removal_limits(settings));
    picture.add("update", &from_settings::update_limits(settings));
    picture.add("upgrade kyma", &from_settings::kyma_limits(settings));
    picture.add("upgrade cluster", &from_settings::cluster_limits(settings));
    picture.add("patience", &Patience::of(settings));
    picture.add("answers", &from_settings::answers(settings));
    for platform in from_settings::platforms(&settings.access)? {
        picture.add("platform's user", &platform.user);
        picture.add("platform's password", &platform.password.expose_secret());
        picture.add("platform's tenant", &platform.tenant);
    }
    let speed = Speed::Times(settings.operations.pace);
    picture.add("database", &settings.database.tables());
    picture.add("times", &settings.operations.times());
    picture.add("engine", &engine_settings(&settings.operations, None, speed));
    picture.add("jobs", &settings.jobs.settings());
    picture.add("requests", &settings.requests.limits()?);
    picture.add("connections", &settings.connections.limits());
    settings.transport.acceptance(settings.listen, settings.connections.limits())?;
    picture.add("hosts", &settings.transport.hosts());
    picture.add("exceptions", &settings.exceptions()?);
    picture.add("doors", &doors);
    let steps = from_settings::steps(&settings.runtimes, &settings.service_manager)?;
    picture.add("steps", &steps);
    let password = steps.service_manager.map(|it| it.password.expose_secret().to_owned());
    picture.add("service manager", &password);
    let (namespace, name) = from_settings::maintenance_policy(&settings.runtimes);
    picture.add("policy's namespace", &namespace);
    picture.add("policy's name", &name);
    let gates = Gates::unobserved(&Clock::running(), settings.transport.hosts());
    picture.add("customers' clusters", &from_settings::customer_clusters(settings, &gates)?);
    picture.add("systems", &SystemClients::open(&settings.systems, &gates).await?);
    Ok(picture)
}

#[tokio::test]
async fn every_setting_changes_what_it_is_for_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig.yaml");
    std::fs::write(&kubeconfig, KUBECONFIG).unwrap();
    let base = BASE.replace("KUBECONFIG", kubeconfig.to_str().unwrap());
    let file = folder.path().join("broker.toml");
    let picture = async |text: &str| {
        std::fs::write(&file, text).unwrap();
        let settings = crate::settings::load(Some(&file)).unwrap();
        parts(&settings).await.unwrap_or_else(|error| Picture::refused(&error))
    };

    are_as_stored("broker", &keys(&Settings::META), ROWS, &base, picture).await;
}
