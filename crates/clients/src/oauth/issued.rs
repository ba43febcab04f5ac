//! The response of an issuer: a token, or the reason for none.

use std::time::Duration;

use reqwest::StatusCode;
use secrecy::SecretString;
use serde::Deserialize;

use super::{Token, failed};
use crate::{
    answer::Raw,
    error::{Error, Kind},
};

/// Issuers that do not say how long a token lives get asked again after this time.
const UNSAID: Duration = Duration::from_mins(5);

/// A token is renewed at least this often, however long its issuer says that it lives.
const LONGEST: Duration = Duration::from_hours(24);

/// An issuer's answer.
#[derive(Debug)]
pub(super) struct TokenAnswer {
    status: StatusCode,
    kind: Option<Kind>,
    fields: Option<Fields>,
    said: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Fields {
    access_token: Option<SecretString>,
    token_type: Option<String>,
    expires_in: Option<Seconds>,
    error: Option<String>,
    error_description: Option<String>,
}

/// Some issuers write the number as a string, or with a fraction.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(f64),
    Text(String),
}

impl TokenAnswer {
    /// `clean` cuts our own secrets out of what the issuer says.
    pub(super) fn read(raw: &Raw, clean: impl Fn(&str) -> String) -> Self {
        let fields = Fields::read(raw);
        let said = fields.as_ref().and_then(|fields| {
            fields.error_description.as_ref().or(fields.error.as_ref()).map(|text| clean(text))
        });
        Self { status: raw.status, kind: raw.kind(), fields, said }
    }

    pub(super) fn is_token(&self) -> bool {
        let has = |fields: &Fields| fields.access_token.is_some() && fields.refusal().is_none();
        self.kind.is_none() && self.fields.as_ref().is_some_and(has)
    }

    /// Whether the same request might be accepted if the client said in another way who it is.
    pub(super) fn may_dislike_the_style(&self) -> bool {
        if !self.status.is_client_error() || self.status == StatusCode::TOO_MANY_REQUESTS {
            return false;
        }
        // A wrong password stays wrong, and asking twice may lock the account.
        let refusal = self.fields.as_ref().and_then(Fields::refusal);
        refusal.is_none_or(|code| !matches!(code, "invalid_grant" | "invalid_scope"))
    }

    /// The token and how long it lives.
    pub(super) fn token(self) -> Result<(Token, Duration), Error> {
        let because = |kind| Error { said: self.said.clone(), ..failed(kind) };
        let refusal = self.fields.as_ref().and_then(Fields::refusal).map(str::to_owned);
        let with_code = |error: Error| match refusal.clone() {
            Some(code) => error.because(code),
            None => error,
        };
        match (self.kind, &refusal) {
            // Issuers say with 400 what is wrong with who we are.
            (Some(Kind::Refused { status: 400 }) | None, Some(_)) => {
                return Err(with_code(because(Kind::Unauthorized)));
            }
            (Some(kind), _) => return Err(with_code(because(kind))),
            (None, None) => {}
        }
        let fields = self.fields.unwrap_or_default();
        let lifetime = fields.lifetime();
        let scheme = match fields.token_type.as_deref() {
            None | Some("") => "Bearer",
            Some(kind) if kind.eq_ignore_ascii_case("bearer") => "Bearer",
            Some(kind) => kind,
        };
        fields
            .access_token
            .and_then(|token| Token::new(scheme, token))
            .map(|token| (token, lifetime))
            .ok_or_else(|| failed(Kind::Malformed).saying("there is no token in it"))
    }
}

impl Fields {
    fn read(raw: &Raw) -> Option<Self> {
        let form = raw.content_type.as_deref().is_some_and(|kind| {
            kind.starts_with("application/x-www-form-urlencoded") || kind.starts_with("text/plain")
        });
        match serde_json::from_slice::<Self>(&raw.body) {
            Ok(fields) => Some(fields.without_blanks()),
            Err(_) if form => {
                let pairs = url::form_urlencoded::parse(&raw.body);
                let pairs = pairs.map(|(name, value)| (name.into_owned(), value.into()));
                let object = pairs.collect::<serde_json::Map<String, serde_json::Value>>();
                Some(serde_json::from_value::<Self>(object.into()).ok()?.without_blanks())
            }
            Err(_) => None,
        }
    }

    fn without_blanks(mut self) -> Self {
        use secrecy::ExposeSecret;
        self.access_token = self.access_token.filter(|token| !token.expose_secret().is_empty());
        self
    }

    /// The issuer's code for a refusal; it counts even with status 200.
    fn refusal(&self) -> Option<&str> {
        self.error.as_deref().filter(|code| !code.is_empty())
    }

    fn lifetime(&self) -> Duration {
        let seconds = match &self.expires_in {
            Some(Seconds::Number(seconds)) => Some(*seconds),
            Some(Seconds::Text(text)) => text.trim().parse().ok(),
            None => None,
        };
        seconds
            .filter(|seconds| *seconds > 0.0)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .unwrap_or(UNSAID)
            .min(LONGEST)
    }
}
