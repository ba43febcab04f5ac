//! Kubeconfigs that are handed out: the address of a cluster, taken from its admin kubeconfig, with another user.

use std::fmt::Write;

use kube::config::Kubeconfig;
use secrecy::{ExposeSecret, SecretString};

use crate::error::{Component, Error, Kind};

/// Where a cluster is, and how its certificate is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterAddress {
    /// The context name of the admin kubeconfig.
    pub name: String,
    /// The URL of its API server.
    pub server: String,
    /// The certificate authority, as base64.
    pub authority: String,
}

/// How people log in to a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OidcLogin<'a> {
    /// The issuer.
    pub issuer_url: &'a str,
    /// The client.
    pub client_id: &'a str,
}

impl ClusterAddress {
    /// The address in an admin kubeconfig. What else it holds is not repeated, not even in errors.
    pub fn of(admin: &SecretString) -> Result<Self, Error> {
        let failed = |why: &str| {
            Error::new(Component::RUNTIME, Kind::Malformed, "reading the admin kubeconfig")
                .saying(why)
        };
        let parsed = Kubeconfig::from_yaml(admin.expose_secret())
            .map_err(|_| failed("it is no kubeconfig"))?;
        let named = parsed.current_context.filter(|name| !name.is_empty());
        let name = named.ok_or_else(|| failed("it has no current context"))?;
        let context = parsed.contexts.iter().find(|context| context.name == name);
        let wanted = context.and_then(|context| Some(context.context.as_ref()?.cluster.as_str()));
        let mut clusters = parsed.clusters.iter();
        let cluster = match wanted {
            Some(wanted) => clusters.find(|cluster| cluster.name == wanted),
            None => clusters.next(),
        };
        let cluster = cluster.and_then(|cluster| cluster.cluster.as_ref());
        let cluster = cluster.ok_or_else(|| failed("it has no cluster"))?;
        let said = |field: &Option<String>| field.clone().filter(|text| !text.is_empty());
        Ok(Self {
            name,
            server: said(&cluster.server).ok_or_else(|| failed("its cluster has no server"))?,
            authority: said(&cluster.certificate_authority_data)
                .ok_or_else(|| failed("its cluster has no certificate authority"))?,
        })
    }

    /// A kubeconfig whose user is this token.
    pub fn with_token(&self, token: &SecretString) -> SecretString {
        let user = format!("    token: {}\n", text(token.expose_secret()));
        self.with_user(&user).into()
    }

    /// A kubeconfig whose user logs in through `kubectl-oidc_login`. It holds no credentials.
    pub fn with_login(&self, login: OidcLogin<'_>) -> String {
        let mut user = String::from(
            "    exec:\n      apiVersion: client.authentication.k8s.io/v1beta1\n      args:\n      - get-token\n",
        );
        for argument in [
            format!("--oidc-issuer-url={}", login.issuer_url),
            format!("--oidc-client-id={}", login.client_id),
            "--oidc-extra-scope=email".into(),
            "--oidc-extra-scope=openid".into(),
        ] {
            let _ = writeln!(user, "      - {}", quoted(&argument));
        }
        user.push_str(
            "      command: kubectl-oidc_login\n      installHint: |\n        \
             This kubeconfig logs in with the kubectl plugin oidc-login (https://github.com/int128/kubelogin):\n        \
             kubectl krew install oidc-login\n",
        );
        self.with_user(&user)
    }

    fn with_user(&self, user: &str) -> String {
        let (name, server, authority) =
            (text(&self.name), text(&self.server), text(&self.authority));
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: {name}\nclusters:\n- name: {name}\n  cluster:\n    \
             certificate-authority-data: {authority}\n    server: {server}\ncontexts:\n- name: {name}\n  context:\n    \
             cluster: {name}\n    user: {name}\nusers:\n- name: {name}\n  user:\n{user}"
        )
    }
}

/// A text as YAML: plain where it cannot be taken for anything else, quoted otherwise.
fn text(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=+".contains(&byte);
    let url = text.strip_prefix("https://").unwrap_or(text);
    let (host, port) = url.split_once(':').unwrap_or((url, ""));
    let starts = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if starts
        && host.bytes().chain(port.bytes()).all(plain)
        && !word.contains(&text.to_ascii_lowercase().as_str())
    {
        return text.to_owned();
    }
    quoted(text)
}

/// JSON strings are YAML, too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADMIN: &str = "apiVersion: v1\nkind: Config\ncurrent-context: garden-kyma--c-1-external\n\
        contexts:\n- name: garden-kyma--c-1-external\n  context: {cluster: external, user: admin}\n\
        clusters:\n- name: internal\n  cluster: {server: 'https://internal.test', certificate-authority-data: aW50}\n\
        - name: external\n  cluster: {server: 'https://api.c-1.test:6443', certificate-authority-data: ZXh0}\n\
        users:\n- name: admin\n  user: {token: hush}\n";

    fn address() -> ClusterAddress {
        ClusterAddress::of(&ADMIN.to_owned().into()).unwrap()
    }

    #[test]
    fn the_address_is_that_of_the_current_context() {
        let found = address();

        assert_eq!(found.name, "garden-kyma--c-1-external");
        assert_eq!(found.server, "https://api.c-1.test:6443");
        assert_eq!(found.authority, "ZXh0");
    }

    #[test]
    fn what_is_handed_out_is_a_kubeconfig_without_the_administrators_credentials() {
        let token = address().with_token(&"e30.e30.x".to_owned().into());
        let login = address()
            .with_login(OidcLogin { issuer_url: "https://issuer.test", client_id: "kyma: \"1\"" });

        for kubeconfig in [token.expose_secret(), login.as_str()] {
            let parsed = Kubeconfig::from_yaml(kubeconfig).unwrap();
            assert_eq!(parsed.current_context.as_deref(), Some("garden-kyma--c-1-external"));
            assert_eq!(ClusterAddress::of(&kubeconfig.to_owned().into()).unwrap(), address());
            assert!(!kubeconfig.contains("hush"));
        }
        let user = Kubeconfig::from_yaml(&login).unwrap().auth_infos.remove(0).auth_info.unwrap();
        let exec = user.exec.unwrap();
        assert_eq!(exec.command.as_deref(), Some("kubectl-oidc_login"));
        let wanted = [
            "get-token",
            "--oidc-issuer-url=https://issuer.test",
            "--oidc-client-id=kyma: \"1\"",
            "--oidc-extra-scope=email",
            "--oidc-extra-scope=openid",
        ];
        assert_eq!(exec.args.unwrap(), wanted);
        let user = Kubeconfig::from_yaml(token.expose_secret()).unwrap().auth_infos.remove(0);
        assert_eq!(user.auth_info.unwrap().token.unwrap().expose_secret(), "e30.e30.x");
    }

    #[test]
    fn what_is_missing_is_named_and_nothing_is_repeated() {
        for (without, problem) in [
            ("current-context: garden-kyma--c-1-external\n", "it has no current context"),
            ("server: 'https://api.c-1.test:6443', ", "its cluster has no server"),
            (", certificate-authority-data: ZXh0", "its cluster has no certificate authority"),
        ] {
            let error = ClusterAddress::of(&ADMIN.replace(without, "").into()).unwrap_err();
            let shown = base::failure::chain(&error);
            assert!(format!("{error:?}{shown}").contains(problem), "{shown}");
            assert!(!format!("{error:?}").contains("hush"));
        }
    }
}
