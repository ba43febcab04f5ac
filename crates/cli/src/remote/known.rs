//! The known client's settings: its options, its variables and its file, read and never written.

use std::{
    collections::BTreeMap,
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;
use serde_json::Value;
use url::Url;

use super::config::{CLIENT, Context, OrderClient, SCOPES};

/// Options of the known client on the command line, so that its scripts work. They are not in the help: contexts are.
#[derive(Args, Debug, Default)]
pub(crate) struct Flags {
    /// The known client's settings file. Commands with settings of their own have another flag of this name.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[arg(long, global = true, hide = true, value_name = "URL")]
    keb_api_url: Option<String>,
    #[arg(long, global = true, hide = true, value_name = "URL")]
    oidc_issuer_url: Option<String>,
    #[arg(long, global = true, hide = true, value_name = "ID")]
    oidc_client_id: Option<String>,
    #[arg(long, global = true, hide = true, value_name = "SECRET")]
    oidc_client_secret: Option<String>,
    #[arg(long, global = true, hide = true, value_name = "URL")]
    mothership_api_url: Option<String>,
    #[arg(long, global = true, hide = true, value_name = "URL")]
    kubeconfig_api_url: Option<String>,
    /// Targets come from the broker alone: the garden is not asked.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    gardener_kubeconfig: Option<String>,
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    gardener_namespace: Option<String>,
    /// Slack is not notified of upgrades.
    #[arg(long, global = true, hide = true, value_name = "URL")]
    slack_api_url: Option<String>,
    /// Where the client for orders gets its tokens: the whole address.
    #[arg(long, global = true, hide = true, value_name = "URL")]
    oauth2_issuer_url: Option<String>,
    #[arg(long, global = true, hide = true, value_name = "ID")]
    oauth2_client_id: Option<String>,
    #[arg(long, global = true, hide = true, value_name = "SECRET")]
    oauth2_client_secret: Option<String>,
    /// How much is logged; there is nothing to log.
    #[arg(short = 'v', long, global = true, hide = true, value_name = "LEVEL")]
    verbose: Option<u8>,
}

impl Flags {
    /// Whether they say which broker is meant.
    pub(super) fn names_a_broker(&self) -> bool {
        self.keb_api_url.is_some() || self.config.is_some()
    }

    /// The settings file that they name.
    pub(super) fn config(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    pub(super) fn get(&self, name: &str) -> Option<String> {
        match name {
            "keb-api-url" => self.keb_api_url.clone(),
            "oidc-issuer-url" => self.oidc_issuer_url.clone(),
            "oidc-client-id" => self.oidc_client_id.clone(),
            "oidc-client-secret" => self.oidc_client_secret.clone(),
            "mothership-api-url" => self.mothership_api_url.clone(),
            "kubeconfig-api-url" => self.kubeconfig_api_url.clone(),
            "oauth2-issuer-url" => self.oauth2_issuer_url.clone(),
            "oauth2-client-id" => self.oauth2_client_id.clone(),
            "oauth2-client-secret" => self.oauth2_client_secret.clone(),
            _ => None,
        }
    }
}

/// The context from the environment; none when no broker is named.
pub(super) fn context() -> anyhow::Result<Option<Context>> {
    let file = file()?;
    from(|option| {
        let variable = format!("KCP_{}", option.to_uppercase().replace('-', "_"));
        let said = super::known_option(option).or_else(|| env::var(variable).ok());
        said.or_else(|| file.get(option).cloned())
    })
}

fn from(option: impl Fn(&str) -> Option<String>) -> anyhow::Result<Option<Context>> {
    let option = |name: &str| option(name).filter(|value| !value.is_empty());
    let (Some(server), Some(issuer)) = (option("keb-api-url"), option("oidc-issuer-url")) else {
        return Ok(None);
    };
    let server = address("keb-api-url", &server)?;
    let named = |name| option(name).map(|text| address(name, &text)).transpose();
    let (mothership, kubeconfigs) = (named("mothership-api-url")?, named("kubeconfig-api-url")?);
    Ok(Some(Context {
        name: String::new(),
        server,
        provisioner: None,
        mothership,
        kubeconfigs,
        issuer,
        client_id: option("oidc-client-id").unwrap_or_else(|| CLIENT.to_owned()),
        client_secret: option("oidc-client-secret"),
        scopes: SCOPES.to_owned(),
        orders: order_client(option)?,
    }))
}

/// The client for orders; none unless all three options are there.
pub(super) fn order_client(
    option: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Option<OrderClient>> {
    const ISSUER: &str = "oauth2-issuer-url";
    let option = |name: &str| option(name).filter(|value| !value.is_empty());
    let all = (option(ISSUER), option("oauth2-client-id"), option("oauth2-client-secret"));
    let (Some(issuer), Some(id), Some(secret)) = all else { return Ok(None) };
    let tokens = address(ISSUER, &issuer)?;
    Ok(Some(OrderClient { tokens, id, secret: secret.into() }))
}

/// The address that an option has.
pub(super) fn address(option: &str, text: &str) -> anyhow::Result<Url> {
    text.parse().with_context(|| format!("{option}: invalid URL {text}"))
}

/// The file that `--config` or `KCPCONFIG` names, or `~/.kcp/config.yaml` if it is there.
fn file() -> anyhow::Result<BTreeMap<String, String>> {
    let variable = || env::var_os("KCPCONFIG").map(PathBuf::from);
    let named = super::known_config().or_else(variable);
    let usual = || Some(PathBuf::from(env::var_os("HOME")?).join(".kcp/config.yaml"));
    let Some(path) = named.clone().or_else(usual) else { return Ok(BTreeMap::new()) };
    let shown = path.display();
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => {
            return Ok(BTreeMap::new());
        }
        read => read.with_context(|| format!("{shown} cannot be read"))?,
    };
    let read: BTreeMap<String, Value> =
        serde_saphyr::from_str(&text).with_context(|| format!("{shown} is not valid"))?;
    let text = |value: Value| value.as_str().map(str::to_owned);
    Ok(read.into_iter().filter_map(|(name, value)| Some((name, text(value)?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_and_an_issuer_are_all_that_is_needed() {
        let values = [
            ("keb-api-url", "https://keb.test"),
            ("oidc-issuer-url", "https://id.test"),
            ("oidc-client-id", "cli"),
            ("oidc-client-secret", ""),
        ];
        let value = |most: usize| {
            let values = values[..most].to_vec();
            from(move |name| {
                let found = values.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };

        assert!(value(1).unwrap().is_none());
        let context = value(4).unwrap().unwrap();
        assert!(context.orders.is_none());
        assert_eq!(context.server.as_str(), "https://keb.test/");
        assert_eq!((context.client_id.as_str(), context.client_secret), ("cli", None));
    }

    #[test]
    fn a_client_for_orders_needs_its_address_its_id_and_its_secret() {
        let values = [
            ("oauth2-issuer-url", "https://oauth2.test/oauth2/token"),
            ("oauth2-client-id", "orders"),
            ("oauth2-client-secret", "hunter2"),
        ];
        let client = |most: usize| {
            let find = |name: &str| values[..most].iter().find(|(known, _)| *known == name);
            order_client(|name| find(name).map(|(_, value)| (*value).to_owned())).unwrap()
        };

        assert!(client(2).is_none());
        let all = client(3).unwrap();
        assert_eq!((all.tokens.as_str(), all.id.as_str()), (values[0].1, "orders"));
        assert!(!format!("{all:?}").contains("hunter2"));
    }
}
