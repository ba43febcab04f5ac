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
use url::Url;

/// Where a control plane keeps everything unless told otherwise.
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
        #[derive(Deserialize)]
        struct Claims {
            exp: i64,
        }
        let claims = self.token.expose_secret().split('.').nth(1)?;
        let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?;
        let claims: Claims = serde_json::from_slice(&claims).ok()?;
        Timestamp::from_second(claims.exp).ok()
    }
}
