//! How to reach a running control plane: the file that client commands and scripts look for.

use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::folder::{Credentials, Folder};

const NAME: &str = "connection.json";

/// How to reach a running control plane.
#[derive(Debug, Clone)]
pub struct Connection {
    /// The broker's address.
    pub broker: String,
    /// The provisioner's address.
    pub provisioner: String,
    /// The landscape's address.
    pub landscape: String,
    /// The address of the simulated clusters.
    pub clusters: String,
    /// A token with every scope, valid for a day.
    pub token: SecretString,
    /// The user who may request a new one.
    pub user: String,
    /// With which password.
    pub password: SecretString,
}

impl Connection {
    /// The addresses of the services whose first port is `port`.
    pub(super) fn new(port: u16, token: SecretString, credentials: &Credentials) -> Self {
        Self {
            broker: format!("http://127.0.0.1:{port}"),
            provisioner: format!("http://127.0.0.1:{}", port + 1),
            landscape: format!("http://127.0.0.1:{}", port + 2),
            clusters: format!("https://127.0.0.1:{}", port + 3),
            token,
            user: credentials.user.clone(),
            password: credentials.password.clone(),
        }
    }

    pub(super) fn write(&self, folder: &Folder) -> anyhow::Result<()> {
        let text = json!({
            "broker": self.broker,
            "provisioner": self.provisioner,
            "landscape": self.landscape,
            "token": self.token.expose_secret(),
            "user": self.user,
            "password": self.password.expose_secret(),
            "pid": std::process::id(),
        });
        folder.write_privately(NAME, &serde_json::to_vec_pretty(&text)?)
    }

    /// A client that waits for the file must not find one of a control plane that does not run.
    pub(super) fn remove(folder: &Folder) {
        let _ = std::fs::remove_file(folder.file(NAME));
    }
}
