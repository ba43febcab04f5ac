//! Writes down who asks for what: around every request that changes something, behind the door that knows the caller.
//!
//! What a reader would get wrong: the entry is stored before the request goes on. When that is not possible the request is answered
//! with 503 and nothing is done. A request that has an entry goes on when its client hangs up, so that the entry tells what came of
//! it. What stands in the body is not kept, but for a few fields that are no secrets; of parameters, only their names.

mod identity;

use std::panic::resume_unwind;

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{FromRequest, FromRequestParts as _, MatchedPath, RawPathParams, Request},
    http::{Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base::failure::chain;
use broker::operations::view::{AuditLog, AuditResult, NewAuditEntry};
use serde_json::{Map, Value, json};
use tracing::Instrument as _;
use uuid::Uuid;

use crate::{
    auth::{Platform, Principal},
    correlation::CorrelationId,
    error::{Error, Problem},
};

/// The largest answer that is looked at for the id of an operation.
const LARGEST_ANSWER: usize = 4 * 1024 * 1024;

/// The caller's audit entry, for handlers that know the subject better than the path does.
#[derive(Clone)]
pub(crate) struct AuditContext {
    log: AuditLog,
    entry: NewAuditEntry,
}

/// What a handler adds to the result in the audit, on its response: what the answer does not say.
#[derive(Clone)]
pub(crate) struct AuditNote(pub(crate) String);

/// Runs a request, with an entry in the audit if it changes something and there is an audit.
pub(crate) async fn around(mut request: Request, next: Next) -> Response {
    let Some(log) = request.extensions().get::<AuditLog>().cloned() else {
        return next.run(request).await;
    };
    let entry = caller(&request);
    let Some(action) = action(&request) else {
        request.extensions_mut().insert(AuditContext { log, entry });
        return next.run(request).await;
    };
    let (mut parts, body) = request.into_parts();
    let bytes = match Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await {
        Ok(bytes) => bytes,
        Err(rejection) => return rejection.into_response(),
    };
    let path = RawPathParams::from_request_parts(&mut parts, &()).await.ok();
    let named = |name: &str| {
        let found = path.iter().flatten().find(|(own, _)| *own == name);
        found.map(|(_, value)| value.to_owned())
    };
    let settled = named("id").filter(|_| action == "settle");
    let mut details = details(&bytes, named("binding_id"), settled);
    if let Some(identity) = identity::on_behalf_of(&parts.headers) {
        details["on_behalf_of"] = identity.into();
    }
    let entry = NewAuditEntry {
        action: action.to_owned(),
        instance: named("instance_id"),
        operation: named("id").filter(|_| action != "settle").and_then(|id| id.parse().ok()),
        details,
        ..entry
    };
    let request = Request::from_parts(parts, Body::from(bytes));
    AuditContext { log, entry }.run(next.run(request)).await
}

impl AuditContext {
    /// The same with what a handler knows about the request.
    pub(crate) fn of(self, action: &str, instance: Option<String>, details: Value) -> Self {
        let entry = NewAuditEntry { action: action.into(), instance, details, ..self.entry };
        Self { entry, ..self }
    }

    /// Stores the entry, lets the request go on, and stores what came of it: all of it, also when nobody waits for the answer any more.
    pub(crate) async fn run(
        self,
        work: impl Future<Output = Response> + Send + 'static,
    ) -> Response {
        match tokio::spawn(self.run_to_its_end(work).in_current_span()).await {
            Ok(response) => response,
            // Answered like every other panic of a handler. Without one, this process is shutting down.
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(_) => Error::Unavailable.into_response(),
            },
        }
    }

    async fn run_to_its_end(self, work: impl Future<Output = Response>) -> Response {
        let id = match self.log.begin(&self.entry).await {
            Ok(id) => id,
            Err(error) => {
                tracing::warn!(error = chain(&error), "audit cannot be written");
                return Error::Unavailable.into_response();
            }
        };
        let (response, mut result) = judged(work.await, &self.entry).await;
        if let Some(AuditNote(note)) = response.extensions().get() {
            result.reason = Some(note.clone());
        }
        if let Err(error) = self.log.finish(id, &result).await {
            tracing::warn!(error = chain(&error), audit.id = %id, "audit result not stored");
        }
        response
    }
}

/// The caller, from credentials and headers.
fn caller(request: &Request) -> NewAuditEntry {
    let header = |name| {
        let value = request.headers().get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let mut entry = NewAuditEntry {
        agent: header(header::USER_AGENT),
        correlation: request.extensions().get::<CorrelationId>().map(ToString::to_string),
        details: json!({}),
        ..NewAuditEntry::default()
    };
    if let Some(principal) = request.extensions().get::<Principal>() {
        entry.subject.clone_from(&principal.subject);
        entry.issuer.clone_from(&principal.issuer);
        entry.tenant.clone_from(&principal.tenant);
    } else if let Some(platform) = request.extensions().get::<Platform>() {
        entry.subject.clone_from(&platform.user);
        entry.issuer = "password".into();
        entry.tenant.clone_from(&platform.tenant);
    }
    entry
}

/// The audited action of a request, if it changes something or hands out credentials.
fn action(request: &Request) -> Option<&'static str> {
    let path = request.extensions().get::<MatchedPath>()?.as_str();
    let last = path.rsplit('/').find(|part| !part.starts_with('{'))?;
    // HEAD is answered by the same handler as GET, so it makes credentials too.
    let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
    match (method, last) {
        (&Method::POST, "retry") if path.starts_with("/orchestrations/") => {
            Some("retryOrchestration")
        }
        (&Method::GET, "service_bindings") => Some("fetchBinding"),
        (&Method::PUT, "service_instances") => Some("provision"),
        (&Method::PATCH, "service_instances") => Some("update"),
        (&Method::DELETE, "service_instances") => Some("deprovision"),
        (&Method::PUT, "service_bindings") => Some("bind"),
        (&Method::DELETE, "service_bindings") => Some("unbind"),
        (&Method::PUT, "service_instance") => Some("expire"),
        // The handler of a runtime's kubeconfig knows the instance, and writes the entry itself.
        (&Method::GET, "kubeconfig") if !path.ends_with("/{runtime_id}") => Some("kubeconfig"),
        (&Method::POST, "cancel") => Some("cancel"),
        (&Method::POST, "retry") => Some("retry"),
        (&Method::POST, "skip") => Some("skip"),
        (&Method::POST, "abandon") => Some("abandon"),
        (&Method::DELETE, "may-exist") => Some("settle"),
        (&Method::POST, "kyma") => Some("upgradeKyma"),
        (&Method::POST, "cluster") => Some("upgradeCluster"),
        (&Method::PUT, "cancel") => Some("cancelOrchestration"),
        (&Method::PUT, "pause") => Some("pauseOrchestration"),
        (&Method::PUT, "resume") => Some("resumeOrchestration"),
        (&Method::PATCH, "workers") => Some("changeWorkers"),
        (&Method::POST, "run") => Some("runJob"),
        _ => None,
    }
}

/// The fields of a body that are no secrets.
fn details(body: &[u8], binding: Option<String>, entry: Option<String>) -> Value {
    let mut details = Map::new();
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    for name in ["service_id", "plan_id", "reason", "step"] {
        if let Some(text) = body[name].as_str() {
            details.insert(name.into(), text.chars().take(500).collect::<String>().into());
        }
    }
    // Whose instance it is to be.
    if let Some(account) = body["context"]["globalaccount_id"].as_str() {
        let account: String = account.chars().take(500).collect();
        details.insert("globalaccount_id".into(), account.into());
    }
    if let Some(active) = body["context"]["active"].as_bool() {
        details.insert("active".into(), active.into());
    }
    if let Some(parameters) = body["parameters"].as_object() {
        let mut names: Vec<&String> = parameters.keys().collect();
        names.sort();
        let cut = |name: &&String| name.chars().take(64).collect::<String>();
        let names: Vec<String> = names.iter().take(50).map(cut).collect();
        details.insert("parameters".into(), json!(names));
    }
    details.extend(binding.map(|binding| ("binding".to_owned(), binding.into())));
    details.extend(entry.map(|entry| ("entry".to_owned(), entry.into())));
    Value::Object(details)
}

/// The result of a request, from its response.
async fn judged(response: Response, entry: &NewAuditEntry) -> (Response, AuditResult) {
    let accepted = response.status().is_success();
    let described = response.extensions().get::<Problem>().map(|it| it.description.clone());
    let status = response.status();
    let refusal = || described.clone().or_else(|| (!accepted).then(|| status.to_string()));
    let mut result = AuditResult { accepted, reason: refusal(), ..AuditResult::default() };
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/json")) {
        result.reason = result.reason.or_else(|| given(entry));
        return (response, result);
    }
    let (parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, LARGEST_ANSWER).await else {
        return (Error::Internal.into_response(), result);
    };
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    read(&answer, entry, &mut result);
    (Response::from_parts(parts, Body::from(bytes)), result)
}

/// The operation and instance that an answer names, or why it refuses.
fn read(answer: &Value, entry: &NewAuditEntry, result: &mut AuditResult) {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let id = |value: &Value| value.as_str().and_then(|id| Uuid::parse_str(id).ok());
    let error = answer["errors"].as_array().and_then(|errors| errors.first());
    let data = answer["data"].as_object().into_iter().flat_map(|data| data.values());
    // Of several mutations in one document some may have been accepted.
    let values: Vec<&Value> = data.filter(|value| !value.is_null()).collect();
    if error.is_some() || !values.is_empty() {
        let withheld = entry.action == "kubeconfig" && entry.details["kubeconfig"] == "withheld";
        result.accepted = !values.is_empty() && !withheld;
        result.operation = values.iter().find_map(|it| id(it).or_else(|| id(&it["id"])));
        result.instance = values.iter().find_map(|it| text(&it["runtimeID"]));
        result.reason = error.and_then(|error| text(&error["message"]));
    } else if result.accepted {
        result.operation = id(&answer["operation"]).or_else(|| id(&answer["orchestrationID"]));
        result.reason = given(entry);
        // A retry answers with another operation than it was asked about.
        let continued = id(&answer["id"]).filter(|_| entry.action == "retry");
        if let Some(continued) = continued {
            let reason = given(entry).map(|reason| format!("; {reason}")).unwrap_or_default();
            result.reason = Some(format!("continued as {continued}{reason}"));
        }
    } else {
        let message =
            ["description", "Error", "error"].iter().find_map(|name| text(&answer[*name]));
        result.reason = message.or_else(|| result.reason.take());
    }
}

/// The reason that the caller gave.
fn given(entry: &NewAuditEntry) -> Option<String> {
    entry.details["reason"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(action: &str, accepted: bool, answer: &Value) -> AuditResult {
        let details = json!({"reason": "stuck"});
        let entry = NewAuditEntry { action: action.into(), details, ..NewAuditEntry::default() };
        let mut result = AuditResult { accepted, ..AuditResult::default() };
        read(answer, &entry, &mut result);
        result
    }

    #[test]
    fn an_answer_tells_the_operation_or_why_there_is_none() {
        let id = "01a1e20e-a68a-74b9-9de2-2224a28abcff";
        let operation = Some(id.parse().unwrap());

        assert_eq!(judge("provision", true, &json!({"operation": id})).operation, operation);
        let mutation = json!({"data": {"provisionRuntime": {"id": id, "runtimeID": "r-1"}}});
        let made = judge("provisionRuntime", true, &mutation);
        assert_eq!((made.operation, made.instance.as_deref()), (operation, Some("r-1")));
        let removal = json!({"data": {"deprovisionRuntime": id}});
        assert_eq!(judge("deprovisionRuntime", true, &removal).operation, operation);
        let retried = judge("retry", true, &json!({"id": id, "root": id}));
        assert_eq!(retried.reason, Some(format!("continued as {id}; stuck")));
        let wrong = json!({"errors": [{"message": "no such runtime"}], "data": null});
        let refused = judge("hibernateRuntime", true, &wrong);
        assert_eq!((refused.accepted, refused.reason.as_deref()), (false, Some("no such runtime")));
        let given =
            json!({"data": {"runtimeStatus": {"runtimeConfiguration": {"kubeconfig": "x"}}}});
        assert!(judge("kubeconfig", true, &given).accepted);
        let refused = judge("provision", false, &json!({"description": "plan not known"}));
        assert_eq!(refused.reason.as_deref(), Some("plan not known"));
    }

    #[test]
    fn of_a_body_only_names_and_harmless_fields_are_kept() {
        let body = json!({
            "plan_id": "p",
            "context": {"active": false, "globalaccount_id": "ga-1", "sm_operator_credentials": {"clientid": "x"}},
            "parameters": {"name": "secret-name", "administrators": ["a@b.c"]},
        });

        let kept = details(body.to_string().as_bytes(), None, None);

        let expected = json!({
            "plan_id": "p", "active": false, "globalaccount_id": "ga-1",
            "parameters": ["administrators", "name"],
        });
        assert_eq!(kept, expected);
        assert_eq!(details(b"no json", Some("b-1".into()), None), json!({"binding": "b-1"}));
    }
}
