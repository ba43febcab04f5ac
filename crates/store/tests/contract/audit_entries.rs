//! What an entry of the audit holds.

mod chain;
mod filters;

use store::audit::{AuditEntry, AuditLog, AuditResult, NewAuditEntry};
use uuid::Uuid;

use crate::bench::OnDatabase;

pub(crate) use chain::every_field_of_an_entry_is_covered_by_the_chain;
pub(crate) use filters::{
    of_all_filters_together_each_counts,
    the_latest_entries_of_instances_and_operations_come_oldest_first,
};

/// An entry with every field filled, each with a value of its own.
fn whole() -> NewAuditEntry {
    NewAuditEntry {
        action: "update".into(),
        subject: "jo".into(),
        issuer: "https://issuer.example.com".into(),
        tenant: Some("ga-1".into()),
        agent: Some("cf/8".into()),
        correlation: Some("c-1".into()),
        instance: Some("i-1".into()),
        operation: Some(Uuid::from_u128(7)),
        details: serde_json::json!({"plan_id": "p"}),
    }
}

async fn only(audit: &AuditLog, instance: &str) -> AuditEntry {
    let mut found = audit.of(&[instance.into()], &[], 10).await.unwrap();
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

pub(crate) async fn an_entry_holds_everything_that_was_said(bench: OnDatabase) {
    let audit = AuditLog::new(bench.store.clone());

    let id = audit.begin(&whole()).await.unwrap();
    let begun = only(&audit, "i-1").await;
    let result = AuditResult {
        accepted: true,
        reason: Some("because".into()),
        instance: Some("another".into()),
        operation: Some(Uuid::from_u128(8)),
    };
    audit.finish(id, &result).await.unwrap();
    let ended = only(&audit, "i-1").await;

    assert_eq!((begun.id, begun.at(), begun.number()), (id, bench.clock.now(), None));
    assert_eq!((begun.action.as_str(), begun.subject.as_str()), ("update", "jo"));
    assert_eq!(begun.issuer, "https://issuer.example.com");
    let texts = [&begun.tenant, &begun.agent, &begun.correlation, &begun.instance];
    assert_eq!(texts.map(|it| it.as_deref().unwrap()), ["ga-1", "cf/8", "c-1", "i-1"]);
    assert_eq!(begun.operation_id, Some(Uuid::from_u128(7)));
    assert_eq!(begun.details, r#"{"plan_id":"p"}"#);
    assert_eq!((&begun.result, &begun.reason), (&None, &None));
    // What the request named stays; the result adds to it.
    let mut expected = begun;
    (expected.result, expected.reason) = (Some("accepted".into()), Some("because".into()));
    assert_eq!(ended, expected);
}

pub(crate) async fn a_result_names_what_the_request_did_not_and_is_stored_once(bench: OnDatabase) {
    let audit = AuditLog::new(bench.store.clone());
    let id = audit.begin(&NewAuditEntry { instance: None, operation: None, ..whole() }).await;
    let (id, operation) = (id.unwrap(), Some(Uuid::from_u128(8)));
    let named = AuditResult { instance: Some("i-2".into()), operation, ..AuditResult::default() };
    audit.finish(id, &named).await.unwrap();
    let late = AuditResult { accepted: true, reason: Some("late".into()), ..named };

    audit.finish(id, &late).await.unwrap();

    let entry = only(&audit, "i-2").await;
    assert_eq!((entry.operation_id, entry.reason.as_deref()), (operation, None));
    assert_eq!(entry.result.as_deref(), Some("refused"), "the first result stays");
    let unknown = audit.begin(&whole()).await.unwrap();
    bench.wait(5);
    assert_eq!(audit.link(bench.clock.now()).await.unwrap(), 2);
    audit.finish(unknown, &late).await.unwrap();
    assert_eq!(only(&audit, "i-1").await.result.as_deref(), Some("unknown"), "it is in the chain");
    assert!(audit.verify().await.unwrap().whole);
}

pub(crate) async fn what_is_too_long_for_the_audit_is_cut(bench: OnDatabase) {
    let audit = AuditLog::new(bench.store.clone());
    let details = |length: usize| serde_json::json!({ "reason": "x".repeat(length) });
    // With the letters around it.
    let largest = 8_192 - details(0).to_string().len();
    let long = NewAuditEntry { subject: "ü".repeat(501), agent: Some("a\0b".into()), ..whole() };

    audit.begin(&NewAuditEntry { details: details(largest), ..long }).await.unwrap();
    let over =
        NewAuditEntry { instance: Some("i-2".into()), details: details(largest + 1), ..whole() };
    audit.begin(&over).await.unwrap();

    let entry = only(&audit, "i-1").await;
    assert_eq!(entry.subject, "ü".repeat(500));
    assert_eq!((entry.agent.as_deref(), entry.details.len()), (Some("a\u{fffd}b"), 8_192));
    assert_eq!(only(&audit, "i-2").await.details, r#"{"cut":true}"#);
}
