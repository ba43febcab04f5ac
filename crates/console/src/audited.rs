//! Writes down who asks for what in the console, as the API does: before it is done.

use std::future::Future;

use base::failure::chain;
use broker::operations::view::{AuditResult, NewAuditEntry, OperationId};
use serde_json::json;

use crate::{Console, access::Person, error::Refused};

/// The program, in the audit.
const AGENT: &str = "kcp-console";

/// What someone asks for.
pub(crate) struct Request<'a> {
    /// In the words of the API's entries.
    pub(crate) action: &'a str,
    pub(crate) instance: Option<&'a str>,
    pub(crate) operation: Option<OperationId>,
}

/// Stores an entry, does the work, and stores what came of it. Without the entry nothing is done. `operation` names the operation
/// that carries the request out.
pub(crate) async fn audited<T, E: std::fmt::Display>(
    console: &Console,
    person: &Person,
    request: Request<'_>,
    work: impl Future<Output = Result<T, E>>,
    operation: impl FnOnce(&T) -> Option<OperationId>,
) -> Result<Result<T, E>, Refused> {
    let log = console.parts().operations.audit();
    let entry = NewAuditEntry {
        action: request.action.to_owned(),
        subject: person.name.clone(),
        issuer: person.issuer.clone(),
        tenant: person.tenant.clone(),
        agent: Some(AGENT.to_owned()),
        instance: request.instance.map(str::to_owned),
        operation: request.operation,
        details: json!({}),
        ..NewAuditEntry::default()
    };
    let id = log.begin(&entry).await.map_err(|error| {
        tracing::warn!(error = chain(&error), "audit cannot be written");
        Refused::Unavailable("The audit cannot be written, so nothing was done.".into())
    })?;
    let done = work.await;
    let result = AuditResult {
        accepted: done.is_ok(),
        reason: done.as_ref().err().map(ToString::to_string),
        operation: done.as_ref().ok().and_then(operation),
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
