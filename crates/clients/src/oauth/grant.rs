//! How a token is asked for, and how the asking client says who it is.

use reqwest::RequestBuilder;
use secrecy::{ExposeSecret, SecretString};
use url::form_urlencoded::byte_serialize;

use crate::http::Http;

/// How a token is asked for.
#[derive(Debug, Clone)]
pub enum Grant {
    /// A machine speaks for itself.
    ClientCredentials {
        /// The client's id.
        id: String,
        /// The client's secret.
        secret: SecretString,
        /// The requested scope; empty: all that is allowed.
        scope: String,
    },
    /// A public client speaks for a person.
    Password {
        /// The client's id.
        client: String,
        /// The person's name.
        user: String,
        /// The person's password.
        password: SecretString,
    },
}

/// Where the client's id and secret stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// In a header, each escaped as in a form.
    Basic,
    /// In the form.
    Form,
}

impl Grant {
    pub(super) fn request(&self, http: &Http, style: Style) -> RequestBuilder {
        let (id, secret) = self.client();
        let mut form = self.form();
        let request = http.post("");
        match style {
            Style::Basic => request.basic_auth(escaped(id), Some(escaped(secret))).form(&form),
            Style::Form => {
                form.push(("client_id", id));
                if !secret.is_empty() {
                    form.push(("client_secret", secret));
                }
                request.form(&form)
            }
        }
        .header("accept", "application/json")
    }

    fn client(&self) -> (&str, &str) {
        match self {
            Self::ClientCredentials { id, secret, .. } => (id, secret.expose_secret()),
            Self::Password { client, .. } => (client, ""),
        }
    }

    fn form(&self) -> Vec<(&'static str, &str)> {
        match self {
            Self::ClientCredentials { scope, .. } if scope.is_empty() => {
                vec![("grant_type", "client_credentials")]
            }
            Self::ClientCredentials { scope, .. } => {
                vec![("grant_type", "client_credentials"), ("scope", scope)]
            }
            Self::Password { user, password, .. } => vec![
                ("grant_type", "password"),
                ("username", user),
                ("password", password.expose_secret()),
            ],
        }
    }

    /// `text` without the secrets of this grant in it.
    pub(super) fn cut_from(&self, text: &str) -> String {
        let secret = match self {
            Self::ClientCredentials { secret, .. } => secret,
            Self::Password { password, .. } => password,
        };
        cut(text, secret.expose_secret())
    }
}

fn escaped(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

/// `text` without `secret` in it, as it is or escaped. Very short secrets are left: cutting them
/// would take texts apart and tell what they are.
pub(super) fn cut(text: &str, secret: &str) -> String {
    if secret.len() < 4 {
        return text.to_owned();
    }
    text.replace(secret, "[REDACTED]").replace(&escaped(secret), "[REDACTED]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_does_not_print_its_secret() {
        let grant = Grant::ClientCredentials {
            id: "kcp".into(),
            secret: "hunter2 &".to_owned().into(),
            scope: String::new(),
        };

        assert!(!format!("{grant:?}").contains("hunter2"));
        assert_eq!(
            grant.cut_from("no hunter2 & and no hunter2+%26 either"),
            "no [REDACTED] and no [REDACTED] either"
        );
    }
}
