//! Logins: kept in files for their owner alone, one for each server, issuer, client and scopes.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, bail};
use aws_lc_rs::digest::{SHA256, digest};
use base::Clock;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;

use super::config::{self, Context};
use crate::connection::{claim, expiry};

/// A token that lives shorter is renewed before it is used; one that never lived much longer, at half its life.
const EARLY: SignedDuration = SignedDuration::from_secs(60);
/// How long another process may take to renew a login.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// The tokens of a login.
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

    /// Whether the token can still be sent. One that a broker can read and that does not say is taken for good.
    pub(crate) fn is_fresh(&self, now: Timestamp) -> bool {
        let early = |until: Timestamp| {
            let issued = claim(self.bearer(), "iat").and_then(|at| at.as_i64());
            let issued = issued.and_then(|at| Timestamp::from_second(at).ok());
            issued.map_or(EARLY, |at| EARLY.min(until.duration_since(at) / 2))
        };
        let is_good = |until: Timestamp| until > now + early(until);
        self.can_be_sent() && expiry(self.bearer()).is_none_or(is_good)
    }

    /// What a renewal gave, after this login. An issuer need not repeat the token for renewals, nor send another ID token: the one of
    /// before has run out then, and the access token is sent instead.
    pub(crate) fn after(self, earlier: Self) -> Self {
        Self { refresh_token: self.refresh_token.or(earlier.refresh_token), ..self }
    }

    /// Whether there is a token that a broker can read: an access token without an ID token may be anything.
    pub(crate) fn can_be_sent(&self) -> bool {
        self.id_token.is_some() || self.scoped || expiry(&self.access_token).is_some()
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
            Ok(serde_json::from_slice(&text)
                .with_context(|| format!("{shown} is not a stored login"))?)
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
    config::write_privately(&file(context)?, &text.to_string())?;
    forget(&former_file(context)?)?;
    Ok(())
}

/// Forgets the login; `false` when there was none.
pub(crate) fn remove(context: &Context) -> anyhow::Result<bool> {
    let former = forget(&former_file(context)?)?;
    Ok(forget(&file(context)?)? || former)
}

/// Removes a file; `false` when there was none.
fn forget(path: &Path) -> anyhow::Result<bool> {
    match fs::remove_file(path) {
        // Former names could be longer than a name of a file may be: there is no such file.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => {
            Ok(false)
        }
        removed => {
            removed.with_context(|| format!("{} cannot be removed", path.display()))?;
            Ok(true)
        }
    }
}

/// Only one process changes a login at a time. Let go when it is dropped.
pub(crate) struct Lock {
    _file: fs::File,
}

/// Waits until no other process changes the login.
pub(crate) async fn lock(context: &Context) -> anyhow::Result<Lock> {
    let path = file(context)?.with_extension("lock");
    let shown = path.display();
    config::make_folder_of(&path)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path).with_context(|| format!("{shown} cannot be written"))?;
    let clock = Clock::running();
    let until = clock.now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(fs::TryLockError::WouldBlock) if clock.now() < until => clock.sleep(PAUSE).await,
            Err(fs::TryLockError::WouldBlock) => {
                bail!(
                    "timed out waiting for another process that renews the login: {shown} is locked"
                )
            }
            Err(fs::TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("{shown} cannot be locked"));
            }
        }
    }
}

/// The file of a login. Its name tells the server to people, and everything else to nobody.
fn file(context: &Context) -> anyhow::Result<PathBuf> {
    let folder = config::folder().context("there is no home folder to keep logins in")?;
    let Context { server, issuer, client_id, .. } = context;
    let mut scopes: Vec<&str> = context.scopes.split_whitespace().collect();
    scopes.sort_unstable();
    let key = format!("{server}\n{issuer}\n{client_id}\n{}", scopes.join(" "));
    let digest = digest(&SHA256, key.as_bytes());
    let digest = digest.as_ref().iter().take(8).fold(0_u64, |all, it| all << 8 | u64::from(*it));
    let host = server.host_str().unwrap_or("server").replace(['[', ']', ':'], "");
    Ok(folder.join("logins").join(format!("{host}-{digest:016x}.json")))
}

/// What the file was called before scopes were a part of it. It is not read any more, and may hold a token for renewals.
fn former_file(context: &Context) -> anyhow::Result<PathBuf> {
    let folder = config::folder().context("there is no home folder to keep logins in")?;
    let key = format!("{} {} {}", context.server, context.issuer, context.client_id);
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let name: String = key.chars().map(plain).collect();
    Ok(folder.join("logins").join(format!("{name}.json")))
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};

    use super::*;

    fn login(id_token: Option<&str>, access_token: &str, refresh: Option<&str>) -> Login {
        Login {
            id_token: id_token.map(Into::into),
            access_token: access_token.into(),
            refresh_token: refresh.map(Into::into),
            scoped: false,
        }
    }

    #[test]
    fn a_renewal_without_an_id_token_never_sends_the_one_that_ran_out() {
        let before = || login(Some("old"), "a", Some("r-1"));

        let renewed = login(None, "x.eyJleHAiOjk5OTk5OTk5OTl9.x", None).after(before());
        let opaque = login(None, "opaque", Some("r-2")).after(before());

        assert_eq!(renewed.bearer().expose_secret(), renewed.access_token.expose_secret());
        assert_eq!(renewed.refresh_token.as_ref().unwrap().expose_secret(), "r-1");
        assert!(renewed.can_be_sent() && !opaque.can_be_sent());
        let now = Timestamp::UNIX_EPOCH;
        assert!(renewed.is_fresh(now) && !opaque.is_fresh(now), "it is renewed again");
        assert_eq!(opaque.refresh_token.unwrap().expose_secret(), "r-2");
    }

    #[test]
    fn a_token_is_renewed_a_minute_before_its_end_or_at_half_its_life() {
        let token = |claims: &str| {
            let claims = BASE64_URL_SAFE_NO_PAD.encode(claims);
            login(Some(&format!("x.{claims}.x")), "a", None)
        };
        let at = |second| Timestamp::from_second(second).unwrap();
        let (long, short) = (token(r#"{"iat":0,"exp":900}"#), token(r#"{"iat":0,"exp":40}"#));

        assert!(long.is_fresh(at(839)) && !long.is_fresh(at(840)));
        assert!(short.is_fresh(at(19)) && !short.is_fresh(at(20)));
        assert!(!token(r#"{"exp":40}"#).is_fresh(at(19)));
    }

    #[test]
    fn what_is_not_there_is_forgotten_whatever_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kcp.test.json");
        fs::write(&path, "{}").unwrap();

        assert!(forget(&path).unwrap() && !path.exists());
        assert!(!forget(&path).unwrap());
        assert!(!forget(&folder.path().join("x".repeat(4_000))).unwrap());
    }

    #[test]
    fn logins_with_other_scopes_are_other_logins() {
        let context = |scopes: &str| Context {
            name: "dev".into(),
            server: "https://kcp.test:8443".parse().unwrap(),
            provisioner: None,
            mothership: None,
            kubeconfigs: None,
            issuer: "https://id.test".into(),
            client_id: "kcp".into(),
            client_secret: None,
            scopes: scopes.into(),
            orders: None,
        };
        let name = |scopes: &str| {
            let path = file(&context(scopes)).unwrap();
            path.file_name().unwrap().to_string_lossy().into_owned()
        };

        assert_eq!(name("openid email"), name("email  openid"));
        assert_ne!(name("openid email"), name("openid operations:read"));
        assert!(name("openid").starts_with("kcp.test-") && name("openid").len() < 64);
    }
}
