//! The door of the resource manager: who calls, for which subscription, and in which version.

use axum::http::{HeaderMap, header::AUTHORIZATION};

use super::{Azure, error::Refusal, records::digest_of};

/// The fields of an address's query.
pub(super) struct QueryParams(pub(super) Vec<(String, String)>);

impl QueryParams {
    pub(super) fn one(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Every call names the version it speaks.
    fn version(&self, known: &[&str]) -> Result<(), Refusal> {
        let version = self.one("api-version").ok_or_else(|| {
            let said =
                "The api-version query parameter (?api-version=) is required for all requests.";
            Refusal::new(400, "MissingApiVersionParameter", said)
        })?;
        if known.contains(&version) {
            return Ok(());
        }
        let said = format!("The api-version '{version}' is invalid.");
        Err(Refusal::new(400, "InvalidApiVersionParameter", said))
    }
}

impl Azure {
    /// Lets a caller in, and lets happen what would have happened by now.
    pub(super) fn enter(
        &self,
        headers: &HeaderMap,
        subscription: &str,
        asked: &QueryParams,
        versions: &[&str],
    ) -> Result<(), Refusal> {
        let client = self.client(headers)?;
        asked.version(versions)?;
        self.known.read(|known| {
            if known.subscriptions.is_empty() {
                return Ok(());
            }
            let found = known.subscriptions.get(subscription).ok_or_else(|| {
                let said = format!("The subscription '{subscription}' could not be found.");
                Refusal::new(404, "SubscriptionNotFound", said)
            })?;
            if found.client != client || found.revoked {
                let said = format!("The client '{client}' does not have authorization over scope '/subscriptions/{subscription}'.");
                return Err(Refusal::new(403, "AuthorizationFailed", said));
            }
            Ok(())
        })?;
        Ok(self.settle()?)
    }

    fn client(&self, headers: &HeaderMap) -> Result<String, Refusal> {
        let refused = |code, said: &str| Err(Refusal::new(401, code, said));
        let header = headers.get(AUTHORIZATION).and_then(|header| header.to_str().ok());
        let Some(token) = header.and_then(|header| header.strip_prefix("Bearer ")) else {
            return refused(
                "AuthenticationFailed",
                "Authentication failed. The 'Authorization' header is missing.",
            );
        };
        let now = self.clock.now();
        self.known.read(|known| match known.tokens.get(&digest_of(token)) {
            None => refused("InvalidAuthenticationToken", "The access token is invalid."),
            Some(token)
                if token.until <= now
                    || known.tokens_good_after.is_some_and(|after| token.given_at <= after) =>
            {
                refused("ExpiredAuthenticationToken", "The access token expiry is in the past.")
            }
            Some(token) => Ok(token.client.clone()),
        })
    }
}
