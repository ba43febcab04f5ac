//! Kubeconfig files.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;

use super::authority::Pair;

/// The parts of a kubeconfig.
pub(crate) struct Kubeconfig<'a> {
    /// The name of cluster and context.
    pub(crate) name: &'a str,
    pub(crate) user: &'a str,
    pub(crate) url: &'a str,
    /// The authority, as base64.
    pub(crate) authority: &'a str,
}

impl Kubeconfig<'_> {
    /// The file, with a token in it.
    pub(crate) fn with_token(&self, token: &str) -> String {
        self.write(&format!("    token: {}\n", json!(token)))
    }

    /// The file, with a certificate in it.
    pub(crate) fn with_certificate(&self, pair: &Pair) -> String {
        self.write(&format!(
            "    client-certificate-data: {}\n    client-key-data: {}\n",
            STANDARD.encode(&pair.certificate),
            STANDARD.encode(&pair.key),
        ))
    }

    fn write(&self, credentials: &str) -> String {
        // Texts in JSON are texts in YAML.
        let (name, user, url) = (json!(self.name), json!(self.user), json!(self.url));
        let authority = self.authority;
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: {name}\nclusters:\n- name: {name}\n  \
             cluster:\n    server: {url}\n    certificate-authority-data: {authority}\ncontexts:\n\
             - name: {name}\n  context:\n    cluster: {name}\n    user: {user}\nusers:\n\
             - name: {user}\n  user:\n{credentials}"
        )
    }
}
