//! Control planes elsewhere: which one is meant, where it is, and the token for it.
//!
//! What a reader would get wrong: a control plane in `./.kcp` goes before the current context, so that a command that was meant
//! for the toy on this machine never reaches a real one. `--server` and `--context` go before both.

pub(crate) mod config;
pub(crate) mod known;
pub(crate) mod oidc;
mod redirect;
pub(crate) mod tokens;

use std::{
    env,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use anyhow::{Context as _, bail};
use url::{Host, Url};

use crate::connection;
use config::{Config, Context};

/// The target that the command line chooses.
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

/// The known client's settings file that the command line says.
pub(crate) fn known_config() -> Option<PathBuf> {
    CHOICE.get()?.known.config().map(Path::to_owned)
}

/// The control plane elsewhere that is meant; none when it is the one on this machine.
pub(crate) fn target(data: Option<&Path>) -> anyhow::Result<Option<Context>> {
    let choice = CHOICE.get_or_init(Choice::default);
    let names_a_broker = choice.known.names_a_broker();
    // Words on the command line go before variables.
    let named = match &choice.context {
        Some(name) => Some(name.clone()),
        None if names_a_broker || data.is_some() => None,
        None => env::var("KCP_CONTEXT").ok(),
    };
    let target = match (&choice.server, named) {
        (Some(server), named) => Some(at(server, named.as_deref())?),
        (None, Some(name)) => Some(Config::read()?.named(&name)?),
        // Never the control plane on this machine: another one was named.
        (None, None) if names_a_broker => {
            let needed =
                "--keb-api-url needs --oidc-issuer-url, and the file of --config needs both";
            Some(known::context()?.context(needed)?)
        }
        (None, None) if data.is_some() || connection::is_here() => None,
        (None, None) => elsewhere()?,
    };
    let Some(mut target) = target else { return Ok(None) };
    if target.orders.is_none() {
        target.orders = known::order_client(known_option)?;
    }
    target.check()?;
    Ok(Some(target))
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
    moved(context, server, known_option)
}

/// The issuer and the client of a context, for another server. The other services of the context belong to its own server, and so
/// does its client for orders: a token goes to those that an option names, and to no others.
fn moved(
    context: Context,
    server: &Url,
    option: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Context> {
    if context.server == *server {
        return Ok(context);
    }
    let named = |name: &str| {
        let text = option(name).filter(|text| !text.is_empty());
        text.map(|text| known::address(name, &text)).transpose()
    };
    Ok(Context {
        server: server.clone(),
        provisioner: None,
        mothership: named("mothership-api-url")?,
        kubeconfigs: named("kubeconfig-api-url")?,
        orders: None,
        ..context
    })
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
    match target(data)? {
        Some(target) => fresh(&target).await.map(drop),
        None => Ok(()),
    }
}

/// The stored login, which is renewed if its token runs out.
pub(crate) async fn fresh(target: &Context) -> anyhow::Result<tokens::Login> {
    let Some(login) = tokens::read(target)? else {
        bail!("not logged in to {}: {}", target.server, target.login_command());
    };
    if login.is_fresh(base::Clock::running().now()) {
        return Ok(login);
    }
    // A token for renewals is good for one renewal: the process that comes second uses what the first one got.
    let _lock = tokens::lock(target).await?;
    let Some(login) = tokens::read(target)? else {
        bail!("not logged in to {}: {}", target.server, target.login_command());
    };
    if login.is_fresh(base::Clock::running().now()) {
        return Ok(login);
    }
    let expired =
        || format!("the login to {} has expired: {}", target.server, target.login_command());
    let Some(refresh) = &login.refresh_token else { bail!(expired()) };
    let renewed = oidc::refresh(target, refresh).await.with_context(expired)?;
    let renewed = renewed.after(login);
    // Written even if it cannot be sent: the token for the renewal after it must not be lost.
    tokens::write(target, &renewed)?;
    if !renewed.can_be_sent() {
        bail!("{} (the issuer renewed it without an ID token)", expired());
    }
    Ok(renewed)
}

#[cfg(test)]
mod tests {
    use super::{config::OrderClient, *};

    #[test]
    fn another_server_does_not_get_the_other_services_of_a_context() {
        let text = "{name: dev, server: 'https://kcp.test', issuer: 'https://id.test', \
                    provisioner: 'https://p.test', mothership: 'https://m.test/v1', \
                    kubeconfigs: 'https://k.test'}";
        let context: Context = serde_saphyr::from_str(text).unwrap();
        let orders = OrderClient {
            tokens: "https://oauth2.test/token".parse().unwrap(),
            id: "orders".into(),
            secret: "hunter2".into(),
        };
        let context = Context { orders: Some(orders), ..context };
        let other: Url = "https://other.test".parse().unwrap();
        let option =
            |name: &str| (name == "kubeconfig-api-url").then(|| "https://n.test".to_owned());

        let same = moved(context.clone(), &context.server, |_| None).unwrap();
        let plain = moved(context.clone(), &other, |_| None).unwrap();
        let named = moved(context.clone(), &other, option).unwrap();

        assert_eq!((&same.server, &same.mothership), (&context.server, &context.mothership));
        assert!(same.orders.is_some() && plain.orders.is_none() && named.orders.is_none());
        assert_eq!((&plain.server, &plain.issuer), (&other, &context.issuer));
        assert_eq!((plain.provisioner, plain.mothership, plain.kubeconfigs), (None, None, None));
        assert_eq!((named.provisioner, named.mothership), (None, None));
        assert_eq!(named.kubeconfigs.unwrap().as_str(), "https://n.test/");
    }
}
