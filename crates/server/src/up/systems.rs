//! The broker's settings for the simulated landscape, as a file: what a real one is for the real world.

use std::fmt::Write as _;

use anyhow::Context;
use secrecy::ExposeSecret;
use simulators::{ias, lifecycle_manager, lms};

use super::{
    Connection,
    folder::{Credentials, Folder},
    landscape::{BROKER, CONTROL_PLANE_KUBECONFIG, EDP_NAMESPACE, GARDEN_KUBECONFIG, PEOPLE},
};
use crate::settings::{self, systems::SystemSettings};

/// The file's name.
const NAME: &str = "broker.toml";

/// Writes the file. With it, `kcp check --config` reaches every system of the landscape.
pub(super) fn write(
    folder: &Folder,
    credentials: &Credentials,
    connection: &Connection,
) -> anyhow::Result<SystemSettings> {
    let text = text(folder, credentials, connection)?;
    folder.write_privately(NAME, text.as_bytes())?;
    let settings = settings::load(Some(&folder.file(NAME)));
    Ok(settings.context("the settings for the landscape cannot be read")?.systems)
}

fn text(
    folder: &Folder,
    credentials: &Credentials,
    connection: &Connection,
) -> anyhow::Result<String> {
    let landscape = connection.landscape.as_str();
    let at = |path: &str| format!("{landscape}{path}");
    let file = |name: &str| folder.file(name).to_string_lossy().into_owned();
    let (tokens, ours) = (at("/oauth2/token"), credentials.client_secret.expose_secret());
    let password = credentials.password.expose_secret();
    let mut text = String::from("# Made by `kcp up` for its own landscape, at every start.\n");
    let mut section = |name: &str, values: &[(&str, &str)]| -> anyhow::Result<()> {
        writeln!(text, "\n[systems.{name}]")?;
        for (key, value) in values {
            // What JSON escapes, TOML does too.
            writeln!(text, "{key} = {}", serde_json::to_string(value)?)?;
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
    section("lifecycle_manager", &[("template", lifecycle_manager::TEMPLATES)])?;
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
    ] {
        writeln!(text, "{key} = {id}")?;
    }
    Ok(text)
}
