//! The part of the broker's API that belongs to platforms: `/oauth`, with a scope of its own.
//!
//! What a reader would get wrong: the ID token of a login has groups and no scopes, and no group orders. The known client speaks with
//! client credentials here, and with the login everywhere else.

use std::sync::Arc;

use base::Clock;
use clients::{Component, Grant, Http, Kind, TokenSource, http::Answer};
use reqwest::RequestBuilder;
use secrecy::SecretString;
use serde_json::Value;

use super::Client;
use crate::{
    call_error::{Advice, CallError},
    connection::claim,
    hint,
    remote::config::OrderClient,
};

/// What everything below `/oauth` asks for.
const ORDERS: &str = "broker:write";
/// What a token needs as well that names no tenant.
const ANY_TENANT: &str = "tenants:any";
/// What names a client that orders.
const FLAGS: &str = "--oauth2-issuer-url URL --oauth2-client-id ID --oauth2-client-secret SECRET";

/// Sends orders under a client of its own.
pub(super) struct Orders {
    http: Http,
    client: String,
    source: Arc<TokenSource>,
}

impl Orders {
    /// Nothing is asked for yet.
    pub(super) fn new(http: &Http, client: &OrderClient) -> anyhow::Result<Self> {
        let OrderClient { tokens, id, secret } = client.clone();
        let grant = Grant::ClientCredentials { id: id.clone(), secret, scope: ORDERS.into() };
        let source = TokenSource::new(tokens, grant, Clock::running())?;
        let http = http.clone().with_token(source.clone()).renewing_refused_tokens();
        Ok(Self { http, client: id, source })
    }
}

impl Client {
    /// Sends a request to `/oauth`.
    pub(super) async fn send_order(
        &self,
        doing: &str,
        request: RequestBuilder,
    ) -> Result<Answer, clients::Error> {
        let http = self.orders.as_ref().map_or(&self.http, |orders| &orders.http);
        http.send(doing, request).await
    }

    /// What `/oauth` answered; a refusal says which scope is missing, and how to name a client that has it.
    pub(super) async fn order_answered<T>(
        &self,
        answer: Result<T, clients::Error>,
    ) -> anyhow::Result<T> {
        let refused = answer.as_ref().err().filter(|error| error.kind == Kind::Unauthorized);
        let advice = match (refused, &self.login, &self.orders) {
            (Some(error), Some(_), Some(orders)) => Some(orders.advice(error).await),
            (Some(error), Some(login), None) if error.status == Some(403) => {
                let token = login.source.token().await.ok();
                Some(to_name_a_client(missing(token.as_ref()), &login.target.name))
            }
            _ => None,
        };
        match self.reached(answer) {
            Err(error) => Err(match error.downcast::<CallError>() {
                Ok(call) => CallError { advice, ..call }.into(),
                Err(other) => other,
            }),
            reached => reached,
        }
    }
}

impl Orders {
    /// A login does not help: the client itself was refused.
    async fn advice(&self, error: &clients::Error) -> Advice {
        let client = format!("the client \"{}\" of oauth2-client-id", self.client);
        let line = if error.component == Component::ISSUER {
            format!("{client} gets no token with the scope {ORDERS}")
        } else if error.status == Some(403) {
            let token = self.source.token().await.ok();
            format!("the token of {client} lacks the scope {}", missing(token.as_ref()))
        } else {
            format!("the broker does not accept the tokens of {client}")
        };
        Advice { line, next: None }
    }
}

fn to_name_a_client(scope: &str, context: &str) -> Advice {
    let place = if context.is_empty() {
        "oauth2-issuer-url, oauth2-client-id and oauth2-client-secret in the settings name a client that has it"
    } else {
        "kcp context add --scopes asks for it, and the options of the next line name a client that has it"
    };
    let line = format!("the login lacks the scope {scope}: {place}");
    Advice { line, next: Some(format!("{} COMMAND {FLAGS}", hint::kcp())) }
}

/// The scope that a refused token lacks. One that cannot be read is taken to have none.
fn missing(token: Option<&SecretString>) -> &'static str {
    let orders =
        ["scp", "scope"].into_iter().filter_map(|name| claim(token?, name)).any(
            |claim| match claim {
                Value::String(text) => text.split_whitespace().any(|scope| scope == ORDERS),
                Value::Array(all) => all.iter().any(|scope| scope == ORDERS),
                _ => false,
            },
        );
    if orders { ANY_TENANT } else { ORDERS }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};

    use super::*;

    #[test]
    fn a_token_that_may_order_lacks_the_tenant_and_any_other_the_scope() {
        let token = |claims: &str| {
            SecretString::from(format!("x.{}.x", BASE64_URL_SAFE_NO_PAD.encode(claims)))
        };

        assert_eq!(missing(Some(&token(r#"{"groups":["runtimeAdmin"]}"#))), ORDERS);
        assert_eq!(missing(Some(&token(r#"{"scp":["cld:read"]}"#))), ORDERS);
        assert_eq!(missing(Some(&"opaque".into())), ORDERS);
        assert_eq!(missing(None), ORDERS);
        assert_eq!(missing(Some(&token(r#"{"scp":["broker:write"]}"#))), ANY_TENANT);
        assert_eq!(missing(Some(&token(r#"{"scope":"openid broker:write"}"#))), ANY_TENANT);
    }
}
