//! The settings of broker and provisioner for the simulated landscape, as files: what real ones are for the real world.

use std::fmt::Write as _;

use anyhow::Context;
use secrecy::ExposeSecret;
use simulators::{ias, lms};

use super::{
    Connection, Speed,
    folder::{Credentials, Folder, SEALING_KEY},
    landscape::{
        BROKER, CONTROL_PLANE_KUBECONFIG, EDP_NAMESPACE, GARDEN_KUBECONFIG, PEOPLE, PROVISIONER,
    },
};
use crate::{settings, systems::SystemSettings};

/// The broker's file.
const BROKER_FILE: &str = "broker.toml";
/// The provisioner's file.
const PROVISIONER_FILE: &str = "provisioner.toml";
/// The first line of both.
const MADE: &str = "# Made by `kcp up` or `kcp landscape` for its own landscape, at every start.\n";

/// Writes both files. With them, `kcp broker --config`, `kcp provisioner --config` and `kcp check --config` work on the
/// landscape; what the broker's file says about the systems is given back.
pub(super) fn write(
    folder: &Folder,
    credentials: &Credentials,
    connection: &Connection,
    speed: Speed,
) -> anyhow::Result<SystemSettings> {
    let text = provisioner(folder, credentials, connection, speed)?;
    folder.write_privately(PROVISIONER_FILE, text.as_bytes())?;
    let mut text = broker(folder, credentials, connection, speed)?;
    text += &systems(folder, credentials, connection)?;
    folder.write_privately(BROKER_FILE, text.as_bytes())?;
    let settings = settings::load(Some(&folder.file(BROKER_FILE)));
    Ok(settings.context("the settings for the landscape cannot be read")?.systems)
}

/// A text as TOML writes it: what JSON escapes, TOML does too.
fn quoted(text: &str) -> anyhow::Result<String> {
    Ok(serde_json::to_string(text)?)
}

/// Where a service listens and keeps things, and whom it trusts.
fn service(
    folder: &Folder,
    (address, database): (&str, &str),
    connection: &Connection,
    speed: Speed,
) -> anyhow::Result<String> {
    let listen = quoted(address.trim_start_matches("http://"))?;
    let url = quoted(folder.address(database).expose_secret())?;
    let keys = quoted(&folder.file(SEALING_KEY).to_string_lossy())?;
    let issuer = quoted(&connection.landscape)?;
    let pace = speed.factor();
    Ok(format!(
        "{MADE}listen = {listen}\n\n[database]\nurl = {url}\nsealing_keys = {keys}\n\n\
         [operations]\npace = {pace:?}\n\n\
         [access]\nissuers = [{{ url = {issuer}, audience = {PEOPLE:?}, any_tenant = true }}]\n"
    ))
}

fn broker(
    folder: &Folder,
    credentials: &Credentials,
    connection: &Connection,
    speed: Speed,
) -> anyhow::Result<String> {
    let text = service(folder, (&connection.broker, "kcp.db"), connection, speed)?;
    let user = quoted(&credentials.user)?;
    let password = quoted(credentials.password.expose_secret())?;
    Ok(format!("{text}platform_user = {user}\nplatform_password = {password}\n"))
}

fn provisioner(
    folder: &Folder,
    credentials: &Credentials,
    connection: &Connection,
    speed: Speed,
) -> anyhow::Result<String> {
    let address = (connection.provisioner.as_str(), "provisioner.db");
    let text = service(folder, address, connection, speed)?;
    let at = |path: &str| quoted(&format!("{}{path}", connection.landscape));
    let (director, tokens) = (at("/director/graphql")?, at("/oauth2/token")?);
    let (client, secret) =
        (quoted(PROVISIONER)?, quoted(credentials.client_secret.expose_secret())?);
    let kubeconfig = quoted(&folder.file(GARDEN_KUBECONFIG).to_string_lossy())?;
    let releases = at("/kyma-releases")?;
    let patience = super::provisioner::agent_patience(speed).as_millis();
    Ok(format!(
        "{text}\n[director]\nurl = {director}\ntoken_url = {tokens}\nclient_id = {client}\n\
         client_secret = {secret}\n\n[gardener]\nkubeconfig = {kubeconfig}\n\n\
         [kyma]\nreleases = {releases}\ndevelopment = {releases}\n\n\
         [runtimes]\nagent_patience = \"{patience}ms\"\n"
    ))
}

fn systems(
    folder: &Folder,
    credentials: &Credentials,
    connection: &Connection,
) -> anyhow::Result<String> {
    let landscape = connection.landscape.as_str();
    let at = |path: &str| format!("{landscape}{path}");
    let file = |name: &str| folder.file(name).to_string_lossy().into_owned();
    let (tokens, ours) = (at("/oauth2/token"), credentials.client_secret.expose_secret());
    let password = credentials.password.expose_secret();
    let mut text = String::new();
    let mut section = |name: &str, values: &[(&str, &str)]| -> anyhow::Result<()> {
        writeln!(text, "\n[systems.{name}]")?;
        for (key, value) in values {
            writeln!(text, "{key} = {}", quoted(value)?)?;
        }
        Ok(())
    };
    let client = [("client_id", BROKER), ("client_secret", ours)];
    let with = |more: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
        more.iter().chain(&client).map(|(key, value)| (*key, (*value).to_owned())).collect()
    };
    let mut authenticated = |name: &str, url: &str, token_key: &'static str| {
        let all = with(&[("url", url), (token_key, &tokens)]);
        let all: Vec<(&str, &str)> =
            all.iter().map(|(key, value)| (*key, value.as_str())).collect();
        section(name, &all)
    };
    authenticated("provisioner", &format!("{}/graphql", connection.provisioner), "token_url")?;
    authenticated("director", &at("/director/graphql"), "token_url")?;
    authenticated("cis.events", &at("/cis"), "auth_url")?;
    authenticated("cis.accounts", &at("/cis"), "auth_url")?;
    authenticated("cis.entitlements", &at("/cis"), "auth_url")?;
    section("gardener", &[("kubeconfig", &file(GARDEN_KUBECONFIG)), ("project", "kyma")])?;
    section("control_plane", &[("kubeconfig", &file(CONTROL_PLANE_KUBECONFIG))])?;
    section("lifecycle_manager", &[("namespace", "kcp-system")])?;
    section("reconciler", &[("url", &at("/reconciler"))])?;
    section("releases", &[("url", &at("/kyma-releases"))])?;
    section("spc", &[("url", &at("/spc"))])?;
    section("aws", &[("endpoint", &at("/aws/"))])?;
    section("azure", &[("authority", &at("/azure")), ("management", &at("/azure"))])?;
    section(
        "edp",
        &[
            ("auth_url", landscape),
            ("admin_url", &at("/edp")),
            ("namespace", EDP_NAMESPACE),
            ("secret", ours),
            ("environment", "dev"),
        ],
    )?;
    section(
        "ias",
        &[
            ("url", &at("/ias")),
            ("user_id", ias::USER.0),
            ("user_secret", ias::USER.1),
            ("identity_provider", ias::IDENTITY_PROVIDER),
        ],
    )?;
    section(
        "lms",
        &[
            ("url", &at("/lms")),
            ("token", lms::TOKEN),
            ("environment", "dev"),
            ("saml_tenant", "people"),
            ("enabled_for_global_accounts", "all"),
        ],
    )?;
    section(
        "avs",
        &[
            ("api_endpoint", &at(simulators::avs::COLLECTION)),
            ("oauth_token_endpoint", &tokens),
            ("oauth_client_id", PEOPLE),
            ("oauth_username", &credentials.user),
            ("oauth_password", password),
        ],
    )?;
    for (key, id) in [
        ("group_id", 1),
        ("parent_id", 2),
        ("internal_tester_access_id", 3),
        ("external_tester_access_id", 4),
        ("gardener_shoot_name_tag_class_id", 5),
        ("gardener_seed_name_tag_class_id", 6),
        ("region_tag_class_id", 7),
    ] {
        writeln!(text, "{key} = {id}")?;
    }
    Ok(text)
}
