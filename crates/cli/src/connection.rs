//! Finds the control plane that runs on this machine.

use std::{
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

/// Where a control plane keeps everything by default.
pub(crate) const DEFAULT_FOLDER: &str = "./.kcp";
/// Names the connection file directly.
const VARIABLE: &str = "KCP_CONNECTION";

/// How to reach a control plane.
#[derive(Debug, Deserialize)]
pub(crate) struct Connection {
    pub(crate) broker: Url,
    pub(crate) provisioner: Url,
    pub(crate) landscape: Url,
    pub(crate) token: SecretString,
    pub(crate) user: String,
    pub(crate) password: SecretString,
    /// The process; none where it was started by an older program.
    #[serde(default)]
    pub(crate) pid: Option<u32>,
}

/// Whether a connection file is named or stands in the default folder. The folder alone says nothing: the known client has
/// one of the same name at home.
pub(crate) fn is_here() -> bool {
    env::var_os(VARIABLE).is_some() || Path::new(DEFAULT_FOLDER).join("connection.json").exists()
}

/// Refuses to put data beside the settings of the known client, which has a folder of the same name at home.
#[cfg_attr(not(feature = "landscape"), expect(dead_code, reason = "only `kcp up` uses it"))]
pub(crate) fn check_default_folder() -> anyhow::Result<()> {
    let folder = Path::new(DEFAULT_FOLDER);
    if folder.join("config.yaml").exists() && !folder.join("credentials.json").exists() {
        anyhow::bail!(
            "{DEFAULT_FOLDER} holds the settings of another client (config.yaml): name a folder with --data"
        );
    }
    Ok(())
}

/// Reads the connection file: `--data`, then the variable, then the default folder.
pub(crate) fn find(data: Option<&Path>) -> anyhow::Result<Connection> {
    let path = match (data, env::var_os(VARIABLE)) {
        (Some(folder), _) => folder.join("connection.json"),
        (None, Some(file)) => PathBuf::from(file),
        (None, None) => Path::new(DEFAULT_FOLDER).join("connection.json"),
    };
    let shown = path.display();
    let text = fs::read(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow!(
            "no control plane found: {shown} does not exist, start one with `kcp up` \
             or name its folder with --data"
        ),
        _ => anyhow!(error).context(format!("{shown} cannot be read")),
    })?;
    serde_json::from_slice(&text).with_context(|| format!("{shown} is not a connection file"))
}

impl Connection {
    /// Until when the token is good, as it says itself.
    pub(crate) fn token_until(&self) -> Option<Timestamp> {
        expiry(&self.token)
    }
}

/// Until when a token is good, as it says itself.
pub(crate) fn expiry(token: &SecretString) -> Option<Timestamp> {
    Timestamp::from_second(claim(token, "exp")?.as_i64()?).ok()
}

/// A claim of a token, without a check of its signature.
pub(crate) fn claim(token: &SecretString, name: &str) -> Option<Value> {
    let claims = token.expose_secret().split('.').nth(1)?;
    let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?;
    let mut claims: Value = serde_json::from_slice(&claims).ok()?;
    Some(claims[name].take()).filter(|value| !value.is_null())
}
