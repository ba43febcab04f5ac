//! What an entry of the audit holds, what the chain covers, and which entries a filter finds: all of it, and nothing else.

use std::time::Duration;

use sqlx::AssertSqlSafe;
use store::{
    audit::{AuditEntry, AuditFilter, AuditLog, AuditResult, NewAuditEntry},
    database::Backend,
};
use uuid::Uuid;

use crate::bench::OnDatabase;

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

async fn execute(bench: &OnDatabase, text: String) {
    match bench.database.writer() {
        Backend::Postgres(pool) => {
            sqlx::raw_sql(AssertSqlSafe(text)).execute(pool).await.map(drop).unwrap();
        }
        Backend::Sqlite(pool) => {
            sqlx::raw_sql(AssertSqlSafe(text)).execute(pool).await.map(drop).unwrap();
        }
    }
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

pub(crate) async fn every_field_of_an_entry_is_covered_by_the_chain(bench: OnDatabase) {
    let audit = AuditLog::new(bench.store.clone());
    for accepted in [true, false] {
        let id = audit.begin(&whole()).await.unwrap();
        let reason = Some("because".into());
        let result = AuditResult { accepted, reason, ..AuditResult::default() };
        audit.finish(id, &result).await.unwrap();
        bench.wait(1);
    }
    audit.link(bench.clock.now()).await.unwrap();
    execute(&bench, "CREATE TABLE kept AS SELECT * FROM audit".into()).await;
    let postgres = matches!(bench.database.writer(), Backend::Postgres(_));
    let (later, id) = if postgres {
        ("at + interval '1 microsecond'", "gen_random_uuid()")
    } else {
        ("at + 1", "randomblob(16)")
    };
    let mut changes = vec![
        ("at", later.to_owned()),
        ("id", id.to_owned()),
        ("operation_id", id.to_owned()),
        ("result", "'refused'".to_owned()),
    ];
    for text in [
        "action",
        "subject",
        "issuer",
        "tenant",
        "agent",
        "correlation",
        "instance",
        "details",
        "reason",
    ] {
        changes.push((text, format!("{text} || 'x'")));
    }

    for (column, value) in changes {
        execute(&bench, format!("UPDATE audit SET {column} = {value} WHERE seq = 1")).await;
        let changed = audit.verify().await.unwrap();
        let kept = format!("(SELECT {column} FROM kept WHERE seq = 1)");
        execute(&bench, format!("UPDATE audit SET {column} = {kept} WHERE seq = 1")).await;

        assert_eq!(changed.problem.as_deref(), Some("entry 1 is not what it was"), "{column}");
        assert!(audit.verify().await.unwrap().whole, "{column}");
    }
    execute(&bench, "UPDATE audit SET seq = 3 WHERE seq = 2".into()).await;
    let moved = audit.verify().await.unwrap();
    assert_eq!(moved.problem.as_deref(), Some("entry 2 is missing"));
}

/// One of two values for each thing that a filter looks at, by the bits of a number.
fn chosen(bits: u32) -> (NewAuditEntry, bool) {
    let one = |bit: u32, values: [&str; 2]| values[usize::from(bits & (1 << bit) != 0)].to_owned();
    let operation = if bits & 8 == 0 { 1 } else { 2 };
    let entry = NewAuditEntry {
        action: one(0, ["bind", "unbind"]),
        subject: one(1, ["jo", "al"]),
        instance: Some(one(2, ["i-1", "i-2"])),
        operation: Some(Uuid::from_u128(operation)),
        // To recognise it by.
        correlation: Some(bits.to_string()),
        ..whole()
    };
    (entry, bits & 16 == 0)
}

pub(crate) async fn of_all_filters_together_each_counts(bench: OnDatabase) {
    let audit = AuditLog::new(bench.store.clone());
    for bits in 0..32 {
        let (entry, accepted) = chosen(bits);
        let id = audit.begin(&entry).await.unwrap();
        audit.finish(id, &AuditResult { accepted, ..AuditResult::default() }).await.unwrap();
    }
    // Looks for the entry of number 0, by some of its fields.
    let (wanted, _) = chosen(0);

    for mask in 0..32_u32 {
        let given =
            |bit: u32, text: &str| if mask & (1 << bit) == 0 { "" } else { text }.to_owned();
        let filter = AuditFilter {
            action: given(0, &wanted.action),
            subject: given(1, &wanted.subject),
            instance: given(2, wanted.instance.as_deref().unwrap()),
            operation: wanted.operation.filter(|_| mask & 8 != 0),
            result: given(4, "accepted"),
            before: None,
            most: 32,
        };
        let page = audit.page(&filter).await.unwrap();
        let mut found: Vec<u32> = page
            .entries
            .iter()
            .map(|it| it.correlation.as_ref().unwrap().parse().unwrap())
            .collect();
        found.sort_unstable();
        let expected: Vec<u32> = (0..32).filter(|bits| bits & mask == 0).collect();
        assert_eq!((found, page.next), (expected, None), "{filter:?}");

        // The same page by page.
        let (mut read, mut before) = (0, None);
        loop {
            let some = AuditFilter { most: 3, before, ..filter.clone() };
            let page = audit.page(&some).await.unwrap();
            read += page.entries.len();
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(read, 32 >> mask.count_ones(), "{filter:?}");
    }
}

pub(crate) async fn the_latest_entries_of_instances_and_operations_come_oldest_first(
    bench: OnDatabase,
) {
    let audit = AuditLog::new(bench.store.clone());
    for number in 0..4_u32 {
        let instance = Some(if number < 2 { "i-1" } else { "i-2" }.to_owned());
        let operation = Some(Uuid::from_u128(u128::from(number) + 1));
        let correlation = Some(number.to_string());
        let entry = NewAuditEntry { instance, operation, correlation, ..whole() };
        audit.begin(&entry).await.unwrap();
        bench.wait(1);
    }
    let told = async |instances: &[&str], operations: &[u128], most| {
        let instances: Vec<String> = instances.iter().map(ToString::to_string).collect();
        let operations: Vec<Uuid> = operations.iter().map(|id| Uuid::from_u128(*id)).collect();
        let found = audit.of(&instances, &operations, most).await.unwrap();
        found.into_iter().map(|it| it.correlation.unwrap()).collect::<Vec<_>>()
    };

    assert_eq!(told(&["i-1"], &[], 10).await, ["0", "1"]);
    assert_eq!(told(&["i-1"], &[4], 10).await, ["0", "1", "3"]);
    assert_eq!(told(&[], &[2, 3], 10).await, ["1", "2"]);
    assert_eq!(told(&["i-1", "i-2"], &[], 3).await, ["1", "2", "3"], "the latest");
    assert!(told(&["i-3"], &[], 10).await.is_empty());
    bench.clock.advance(Duration::from_hours(1));
    assert_eq!(told(&["i-2"], &[1], 2).await, ["2", "3"]);
}
