//! Contexts: control planes elsewhere, by name, in a file of this program alone.
//!
//! What a reader would get wrong: the known client has a folder `~/.kcp`, and `kcp up` one of the same name. Contexts are in neither.

use std::{
    env, fs,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::hint;

/// The public client under which people log in, unless the issuer knows another one.
pub(crate) const CLIENT: &str = "kcp";
/// The scopes of the known client.
pub(crate) const SCOPES: &str = "openid email";

/// The file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The context that is used when nothing else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) current: Option<String>,
    #[serde(default)]
    pub(crate) contexts: Vec<Context>,
}

/// A control plane elsewhere.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Context {
    pub(crate) name: String,
    /// The broker.
    pub(crate) server: Url,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) provisioner: Option<Url>,
    /// The Reconciler's API for operators, with its version: `https://mothership.example.com/v1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mothership: Option<Url>,
    /// The URL that serves the kubeconfigs of runtimes, if it is not the broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kubeconfigs: Option<Url>,
    /// The issuer, exactly as its tokens name it.
    pub(crate) issuer: String,
    #[serde(default = "client")]
    pub(crate) client_id: String,
    /// Only for clients that have one; it is no secret to people who can read the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_secret: Option<String>,
    /// The scopes of the login. With scopes of an API, the access token is sent, otherwise the ID token.
    #[serde(default = "scopes")]
    pub(crate) scopes: String,
    /// Speaks for nobody where instances are ordered; only from the known client's settings, which keep its secret.
    #[serde(skip)]
    pub(crate) orders: Option<OrderClient>,
}

/// A client of the platforms' issuer, whose tokens have the scope for orders. The login of a person has groups, and no group orders.
#[derive(Debug, Clone)]
pub(crate) struct OrderClient {
    /// Where it gets its tokens.
    pub(crate) tokens: Url,
    pub(crate) id: String,
    pub(crate) secret: SecretString,
}

fn client() -> String {
    CLIENT.to_owned()
}

fn scopes() -> String {
    SCOPES.to_owned()
}

impl Context {
    /// Refuses addresses to which no token may be sent.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let issuer = Url::parse(&self.issuer)
            .with_context(|| format!("invalid issuer URL \"{}\"", self.issuer))?;
        let others = [&self.provisioner, &self.mothership, &self.kubeconfigs];
        let orders = self.orders.as_ref().map(|orders| &orders.tokens);
        let others = others.into_iter().flatten().chain(orders);
        for url in [&self.server, &issuer].into_iter().chain(others) {
            if let Some(url) = Some(url).filter(|url| !super::is_safe(url)) {
                bail!("tokens are not sent over http to another machine: {url}");
            }
        }
        Ok(())
    }

    /// Whether the token with scopes is sent instead of the one with groups.
    pub(crate) fn sends_access_token(&self) -> bool {
        const PROTOCOL: [&str; 5] = ["openid", "profile", "email", "groups", "offline_access"];
        self.scopes.split_whitespace().any(|scope| !PROTOCOL.contains(&scope))
    }

    /// The command to log in here.
    pub(crate) fn login_command(&self) -> String {
        let kcp = hint::command(None);
        if self.name.is_empty() || kcp.contains(" --context ") {
            return format!("{kcp} login");
        }
        format!("{kcp} login --context {}", hint::quoted(&self.name))
    }
}

impl Config {
    pub(crate) fn read() -> anyhow::Result<Self> {
        let Some(folder) = folder() else { return Ok(Self::default()) };
        let path = folder.join("config.yaml");
        let shown = path.display();
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            read => {
                let text = read.with_context(|| format!("{shown} cannot be read"))?;
                serde_saphyr::from_str(&text).with_context(|| format!("{shown} is not valid"))
            }
        }
    }

    pub(crate) fn write(&self) -> anyhow::Result<PathBuf> {
        let folder = folder().context("there is no home folder to keep contexts in")?;
        let path = folder.join("config.yaml");
        write_privately(&path, &serde_saphyr::to_string(self)?)?;
        Ok(path)
    }

    pub(crate) fn named(&self, name: &str) -> anyhow::Result<Context> {
        let found = self.contexts.iter().find(|context| context.name == name).cloned();
        found.with_context(|| {
            let names: Vec<&str> = self.contexts.iter().map(|it| it.name.as_str()).collect();
            if names.is_empty() {
                let add = "kcp context add NAME --server URL --issuer URL";
                return format!("there is no context \"{name}\", and no other one: {add}");
            }
            format!("there is no context \"{name}\"; there are: {}", names.join(", "))
        })
    }

    pub(crate) fn current(&self) -> anyhow::Result<Option<Context>> {
        self.current.as_deref().map(|name| self.named(name)).transpose()
    }
}

/// Where contexts and logins are kept.
pub(crate) fn folder() -> Option<PathBuf> {
    if let Some(folder) = env::var_os("KCP_HOME") {
        return Some(PathBuf::from(folder));
    }
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let config = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).and_then(absolute);
    let config = config.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".config")));
    config.map(|config| config.join("kcp"))
}

/// Makes the folder of a file, for its owner alone, unless it is there.
pub(super) fn make_folder_of(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().context("the file has no folder")?;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).with_context(|| format!("{} cannot be created", folder.display()))
}

/// Writes a file for its owner alone, whole or not at all.
pub(crate) fn write_privately(path: &Path, text: &str) -> anyhow::Result<()> {
    let shown = path.display();
    make_folder_of(path)?;
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new).with_context(|| format!("{shown} cannot be written"))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path).with_context(|| format!("{shown} cannot be written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(text: &str) -> Context {
        serde_saphyr::from_str(text).unwrap()
    }

    #[test]
    fn a_context_has_defaults_and_no_tokens_go_out_in_clear() {
        let dev = context("{name: dev, server: 'https://kcp.test', issuer: 'https://id.test'}");
        let clear = context("{name: dev, server: 'http://kcp.test', issuer: 'https://id.test'}");
        let here =
            context("{name: up, server: 'http://127.0.0.1:1', issuer: 'http://localhost:2'}");

        assert_eq!((dev.client_id.as_str(), dev.scopes.as_str()), ("kcp", "openid email"));
        assert!(dev.check().is_ok() && here.check().is_ok() && !dev.sends_access_token());
        let error = clear.check().unwrap_err().to_string();
        assert!(error.ends_with("another machine: http://kcp.test/"), "{error}");
        let scoped = Context { scopes: "openid operations:read".into(), ..dev };
        assert!(scoped.sends_access_token());
    }
}
