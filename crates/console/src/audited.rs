//! Writes down who asks for what in the console, as the API does: before it is done.

use std::future::Future;

use base::failure::chain;
use broker::operations::view::{AuditResult, NewAuditEntry, OperationId};
use serde_json::Value;

use crate::{Console, access::Person, error::PageError};

/// The program, in the audit.
const AGENT: &str = "kcp-console";

/// The request.
#[derive(Default)]
pub(crate) struct Request<'a> {
    /// In the words of the API's entries.
    pub(crate) action: &'a str,
    pub(crate) instance: Option<&'a str>,
    pub(crate) operation: Option<OperationId>,
    /// Further details of the request, without secrets: `reason` is the reason that they gave.
    pub(crate) details: Value,
}

/// Stores an entry, does the work, and stores what came of it. Without the entry nothing is done. `operation` names the operation
/// that carries the request out.
pub(crate) async fn audited<T, E: std::fmt::Display>(
    console: &Console,
    person: &Person,
    request: Request<'_>,
    work: impl Future<Output = Result<T, E>>,
    operation: impl FnOnce(&T) -> Option<OperationId>,
) -> Result<Result<T, E>, PageError> {
    let log = console.parts().operations.audit();
    let details = if request.details.is_null() {
        Value::Object([].into_iter().collect())
    } else {
        request.details
    };
    let given = details["reason"].as_str().filter(|reason| !reason.is_empty()).map(str::to_owned);
    let entry = NewAuditEntry {
        action: request.action.to_owned(),
        subject: person.name.clone(),
        issuer: person.issuer.clone(),
        tenant: person.tenant.clone(),
        agent: Some(AGENT.to_owned()),
        instance: request.instance.map(str::to_owned),
        operation: request.operation,
        details,
        ..NewAuditEntry::default()
    };
    let id = log.begin(&entry).await.map_err(|error| {
        tracing::warn!(error = chain(&error), "audit cannot be written");
        PageError::Unavailable("The audit cannot be written, so nothing was done.".into())
    })?;
    let done = work.await;
    let carried_out = done.as_ref().ok().and_then(operation);
    // A retry is another operation than the one it was asked for.
    let continued = carried_out.filter(|_| request.action == "retry");
    let reason = match (&done, continued) {
        (Err(error), _) => Some(error.to_string()),
        (Ok(_), Some(id)) => Some(match given {
            Some(given) => format!("continued as {id}; {given}"),
            None => format!("continued as {id}"),
        }),
        (Ok(_), None) => given,
    };
    let result = AuditResult {
        accepted: done.is_ok(),
        reason,
        operation: carried_out,
        ..AuditResult::default()
    };
    // In a task of its own: a browser that goes away must not leave the result unknown.
    let stored = tokio::spawn(async move {
        if let Err(error) = log.finish(id, &result).await {
            tracing::warn!(error = chain(&error), audit.id = %id, "audit result not stored");
        }
    });
    let _ = stored.await;
    Ok(done)
}
