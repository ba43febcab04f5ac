//! Control planes elsewhere: which one is meant, where it is, and the token for it.
//!
//! What a reader would get wrong: a control plane in `./.kcp` goes before the current context, so that a command that was meant
//! for the toy on this machine never reaches a real one. `--server` and `--context` go before both.

pub(crate) mod config;
pub(crate) mod known;
pub(crate) mod oidc;
mod redirect;
pub(crate) mod tokens;

use std::{env, path::Path, sync::OnceLock};

use anyhow::{Context as _, bail};
use url::{Host, Url};

use crate::connection;
use config::{Config, Context};

/// What the command line says about where to.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub(crate) server: Option<Url>,
    pub(crate) context: Option<String>,
    /// Options of the known client, which go before its variables and its file.
    pub(crate) known: known::Flags,
}

/// Said once, before any command runs.
static CHOICE: OnceLock<Choice> = OnceLock::new();

/// Keeps what the command line says.
pub(crate) fn choose(choice: Choice) {
    let _ = CHOICE.set(choice);
}

/// The address that the command line says.
pub(crate) fn chosen_server() -> Option<Url> {
    CHOICE.get()?.server.clone()
}

/// The server and the context that the command line says, for commands that are to lead there again.
pub(crate) fn chosen() -> (Option<String>, Option<String>) {
    let Some(choice) = CHOICE.get() else { return (None, None) };
    (choice.server.as_ref().map(Url::to_string), choice.context.clone())
}

/// An option of the known client that the command line says.
fn known_option(name: &str) -> Option<String> {
    CHOICE.get()?.known.get(name)
}

/// The control plane elsewhere that is meant; none when it is the one on this machine.
pub(crate) fn target(data: Option<&Path>) -> anyhow::Result<Option<Context>> {
    let choice = CHOICE.get_or_init(Choice::default);
    let named = choice.context.clone();
    // Words on the command line go before variables.
    let named = named.or_else(|| env::var("KCP_CONTEXT").ok().filter(|_| data.is_none()));
    let target = match (&choice.server, named) {
        (Some(server), named) => Some(at(server, named.as_deref())?),
        (None, Some(name)) => Some(Config::read()?.named(&name)?),
        (None, None) if choice.known.names_a_broker() => known::context()?,
        (None, None) if data.is_some() || connection::is_here() => None,
        (None, None) => elsewhere()?,
    };
    if let Some(target) = &target {
        target.check()?;
    }
    Ok(target)
}

/// The current context, or what the known client is configured for.
fn elsewhere() -> anyhow::Result<Option<Context>> {
    match Config::read()?.current()? {
        Some(context) => Ok(Some(context)),
        None => known::context(),
    }
}

/// A server by its address: the rest comes from the context that has it, or from the known client's settings.
fn at(server: &Url, named: Option<&str>) -> anyhow::Result<Context> {
    let config = Config::read()?;
    let context = match named {
        Some(name) => Some(config.named(name)?),
        None => match config.contexts.iter().find(|it| it.server == *server) {
            Some(found) => Some(found.clone()),
            None => known::context()?,
        },
    };
    let context = context.with_context(|| {
        format!(
            "nothing is known about {server}: tell its issuer with\n  \
             kcp context add NAME --server {server} --issuer URL"
        )
    })?;
    Ok(Context { server: server.clone(), ..context })
}

/// Whether a token may be sent there: over TLS, or inside of this machine.
pub(crate) fn is_safe(url: &Url) -> bool {
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || (here && url.scheme() == "http")
}

/// Refreshes the stored login of the control plane that is meant, if it is elsewhere and its token runs out.
pub(crate) async fn prepare(data: Option<&Path>) -> anyhow::Result<()> {
    let Some(target) = target(data)? else { return Ok(()) };
    let Some(login) = tokens::read(&target)? else {
        bail!("not logged in to {}: {}", target.server, target.login_command());
    };
    if login.is_fresh(base::Clock::running().now()) {
        return Ok(());
    }
    // A token for renewals is good for one renewal: the process that comes second uses what the first one got.
    let _lock = tokens::lock(&target).await?;
    let Some(login) = tokens::read(&target)? else {
        bail!("not logged in to {}: {}", target.server, target.login_command());
    };
    if login.is_fresh(base::Clock::running().now()) {
        return Ok(());
    }
    let expired =
        || format!("the login to {} has expired: {}", target.server, target.login_command());
    let Some(refresh) = &login.refresh_token else { bail!(expired()) };
    let renewed = oidc::refresh(&target, refresh).await.with_context(expired)?;
    let renewed = renewed.after(login);
    // Written even if it cannot be sent: the token for the renewal after it must not be lost.
    tokens::write(&target, &renewed)?;
    if !renewed.can_be_sent() {
        bail!("{} (the issuer renewed it without an ID token)", expired());
    }
    Ok(())
}
