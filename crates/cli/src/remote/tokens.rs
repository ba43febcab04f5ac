//! Logins: kept in files for their owner alone, one for each server, issuer and client.

use std::{fs, io::ErrorKind, path::PathBuf};

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;

use super::config::{self, Context};
use crate::connection::expiry;

/// A token that lives shorter is renewed before it is used.
const EARLY: SignedDuration = SignedDuration::from_secs(60);

/// What a login gave.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Login {
    pub(crate) id_token: Option<SecretString>,
    pub(crate) access_token: SecretString,
    pub(crate) refresh_token: Option<SecretString>,
    /// Whether the access token is sent, and not the ID token.
    #[serde(default)]
    pub(crate) scoped: bool,
}

impl Login {
    /// The token that is sent.
    pub(crate) fn bearer(&self) -> &SecretString {
        match &self.id_token {
            Some(id_token) if !self.scoped => id_token,
            _ => &self.access_token,
        }
    }

    /// Whether the token can still be sent. One that does not say is taken for good.
    pub(crate) fn is_fresh(&self, now: Timestamp) -> bool {
        expiry(self.bearer()).is_none_or(|until| until > now + EARLY)
    }

    /// This, with what an earlier login had and a renewal did not repeat.
    pub(crate) fn or(self, earlier: Self) -> Self {
        Self {
            id_token: self.id_token.or(earlier.id_token),
            refresh_token: self.refresh_token.or(earlier.refresh_token),
            ..self
        }
    }
}

/// The stored login; none when there is none.
pub(crate) fn read(context: &Context) -> anyhow::Result<Option<Login>> {
    let path = file(context)?;
    let shown = path.display();
    match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => {
            let text = read.with_context(|| format!("{shown} cannot be read"))?;
            Ok(serde_json::from_slice(&text).with_context(|| format!("{shown} is no login"))?)
        }
    }
}

pub(crate) fn write(context: &Context, login: &Login) -> anyhow::Result<()> {
    let secret =
        |token: &Option<SecretString>| token.as_ref().map(|it| it.expose_secret().to_owned());
    let text = json!({
        "id_token": secret(&login.id_token),
        "access_token": login.access_token.expose_secret(),
        "refresh_token": secret(&login.refresh_token),
        "scoped": login.scoped,
    });
    config::write_privately(&file(context)?, &text.to_string())
}

/// Forgets the login; `false` when there was none.
pub(crate) fn remove(context: &Context) -> anyhow::Result<bool> {
    let path = file(context)?;
    match fs::remove_file(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        removed => {
            removed.with_context(|| format!("{} cannot be removed", path.display()))?;
            Ok(true)
        }
    }
}

fn file(context: &Context) -> anyhow::Result<PathBuf> {
    let folder = config::folder().context("there is no home folder to keep logins in")?;
    let key = format!("{} {} {}", context.server, context.issuer, context.client_id);
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let name: String = key.chars().map(plain).collect();
    Ok(folder.join("logins").join(format!("{name}.json")))
}
