//! The known client's settings: its file and its variables, read and never written.

use std::{collections::BTreeMap, env, fs, io::ErrorKind, path::PathBuf};

use anyhow::Context as _;
use serde_json::Value;

use super::config::{CLIENT, Context, SCOPES};

/// What they say; none when no broker is named.
pub(super) fn context() -> anyhow::Result<Option<Context>> {
    let file = file()?;
    from(|option| {
        let variable = format!("KCP_{}", option.to_uppercase().replace('-', "_"));
        env::var(variable).ok().or_else(|| file.get(option).cloned())
    })
}

fn from(option: impl Fn(&str) -> Option<String>) -> anyhow::Result<Option<Context>> {
    let option = |name: &str| option(name).filter(|value| !value.is_empty());
    let (Some(server), Some(issuer)) = (option("keb-api-url"), option("oidc-issuer-url")) else {
        return Ok(None);
    };
    let server = server.parse().with_context(|| format!("keb-api-url {server} is no address"))?;
    Ok(Some(Context {
        name: String::new(),
        server,
        provisioner: None,
        issuer,
        client_id: option("oidc-client-id").unwrap_or_else(|| CLIENT.to_owned()),
        client_secret: option("oidc-client-secret"),
        scopes: SCOPES.to_owned(),
    }))
}

/// The file that `KCPCONFIG` names, or `~/.kcp/config.yaml` if it is there.
fn file() -> anyhow::Result<BTreeMap<String, String>> {
    let named = env::var_os("KCPCONFIG").map(PathBuf::from);
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

        assert_eq!(value(1).unwrap(), None);
        let context = value(4).unwrap().unwrap();
        assert_eq!(context.server.as_str(), "https://keb.test/");
        assert_eq!((context.client_id.as_str(), context.client_secret), ("cli", None));
    }
}
