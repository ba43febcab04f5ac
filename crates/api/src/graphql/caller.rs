//! Who calls, and for whom: the token decides, and where it leaves it open, the headers do.

use axum::http::HeaderMap;
use provisioner::Caller;

use crate::{
    auth::{Principal, scope},
    error::Error,
};

const TENANT: &str = "tenant";
const SUBACCOUNT: &str = "sub-account";
const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The longest key that is kept, in bytes.
const LONGEST_KEY: usize = 255;

/// The caller that token and headers name together. That a tenant is missing is for the use case to say.
pub(super) fn caller(principal: &Principal, headers: &HeaderMap) -> Result<Caller, Error> {
    let named = header(headers, TENANT)?;
    let tenant = match (&principal.tenant, named) {
        (Some(own), Some(named)) if *own != named => {
            tracing::info!(
                subject = principal.subject,
                tenant = named,
                "a token is for another tenant"
            );
            return Err(Error::Forbidden);
        }
        (Some(own), _) => own.clone(),
        (None, _) if !principal.scopes.contains(scope::ANY_TENANT) => {
            tracing::info!(subject = principal.subject, "a token names no tenant");
            return Err(Error::Forbidden);
        }
        (None, named) => named.unwrap_or_default(),
    };
    let subaccount = header(headers, SUBACCOUNT)?;
    let idempotency_key = header(headers, IDEMPOTENCY_KEY)?;
    if idempotency_key.as_ref().is_some_and(|key| key.len() > LONGEST_KEY) {
        let problem = format!("is longer than {LONGEST_KEY} bytes");
        return Err(Error::Bad { field: IDEMPOTENCY_KEY, problem });
    }
    let any_tenant = principal.tenant.is_none();
    Ok(Caller { tenant, any_tenant, subaccount, idempotency_key })
}

/// A header that says something. Two of a kind would leave it to chance which one counts.
fn header(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, Error> {
    let bad = |problem: &str| Error::Bad { field: name, problem: problem.into() };
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(bad("is given more than once"));
    }
    let text = value.to_str().map_err(|_| bad("has characters that are not allowed"))?;
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}
