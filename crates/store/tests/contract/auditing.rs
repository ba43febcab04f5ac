//! The audit: every request has an entry, and no entry can be changed unnoticed.

use std::time::Duration;

use sqlx::AssertSqlSafe;
use store::{
    audit::{AuditFilter, AuditLog, AuditResult, NewAuditEntry},
    database::Backend,
};

use crate::bench::OnDatabase;

fn asks(action: &str, instance: &str) -> NewAuditEntry {
    NewAuditEntry {
        action: action.into(),
        subject: "jo".into(),
        issuer: "https://issuer.example.com".into(),
        instance: Some(instance.into()),
        details: serde_json::json!({"reason": "a\u{0}b"}),
        ..NewAuditEntry::default()
    }
}

/// Three entries of which two have a result.
async fn three(bench: &OnDatabase) -> AuditLog {
    let audit = AuditLog::new(bench.store.clone());
    for accepted in [true, false] {
        let id = audit.begin(&asks("provision", "i")).await.unwrap();
        let reason = (!accepted).then(|| "no such plan".to_owned());
        let result = AuditResult { accepted, reason, ..AuditResult::default() };
        audit.finish(id, &result).await.unwrap();
        bench.wait(1);
    }
    audit.begin(&asks("deprovision", "i")).await.unwrap();
    audit
}

async fn execute(bench: &OnDatabase, text: &'static str) {
    match bench.database.writer() {
        Backend::Postgres(pool) => {
            sqlx::raw_sql(AssertSqlSafe(text)).execute(pool).await.map(drop).unwrap();
        }
        Backend::Sqlite(pool) => {
            sqlx::raw_sql(AssertSqlSafe(text)).execute(pool).await.map(drop).unwrap();
        }
    }
}

pub(crate) async fn entries_are_linked_once_their_result_is_known(bench: OnDatabase) {
    let audit = three(&bench).await;
    let long_ago = bench.clock.now() - Duration::from_hours(1);

    assert_eq!(audit.link(long_ago).await.unwrap(), 2);
    assert_eq!(audit.link(long_ago).await.unwrap(), 0, "the third has no result yet");
    let verified = audit.verify().await.unwrap();
    assert!(verified.whole, "{verified:?}");
    assert_eq!((verified.first, verified.last, verified.waiting), (1, 2, 1));
    bench.wait(5);
    assert_eq!(audit.link(bench.clock.now()).await.unwrap(), 1);

    let entries = audit.of(&["i".into()], &[], 10).await.unwrap();
    let told: Vec<_> =
        entries.iter().map(|it| (it.action.as_str(), it.result.as_deref())).collect();
    let expected = [
        ("provision", Some("accepted")),
        ("provision", Some("refused")),
        ("deprovision", Some("unknown")),
    ];
    assert_eq!(told, expected);
    assert_eq!(entries[1].reason.as_deref(), Some("no such plan"));
    assert_eq!(audit.verify().await.unwrap().last, 3);
}

pub(crate) async fn what_is_changed_or_removed_in_the_audit_is_found(bench: OnDatabase) {
    let audit = three(&bench).await;
    bench.wait(5);
    audit.link(bench.clock.now()).await.unwrap();
    assert!(audit.verify().await.unwrap().whole);

    execute(&bench, "UPDATE audit SET subject = 'al' WHERE seq = 2").await;
    let changed = audit.verify().await.unwrap();
    execute(&bench, "UPDATE audit SET subject = 'jo' WHERE seq = 2").await;
    let restored = audit.verify().await.unwrap();
    execute(&bench, "DELETE FROM audit WHERE seq = 2").await;
    let removed = audit.verify().await.unwrap();
    execute(&bench, "DELETE FROM audit WHERE seq = 3").await;
    let cut = audit.verify().await.unwrap();

    assert_eq!(changed.problem.as_deref(), Some("entry 2 is not what it was"));
    assert!(restored.whole);
    assert_eq!(removed.problem.as_deref(), Some("entry 2 is missing"));
    assert_eq!(cut.problem.as_deref(), Some("entry 2 is missing"));
}

pub(crate) async fn old_entries_are_removed_and_the_rest_can_be_verified(bench: OnDatabase) {
    let audit = three(&bench).await;
    bench.wait(5);
    audit.link(bench.clock.now()).await.unwrap();
    let entries = audit.of(&["i".into()], &[], 10).await.unwrap();

    assert_eq!(audit.trim(entries[0].at()).await.unwrap(), 0);
    assert_eq!(audit.trim(entries[2].at()).await.unwrap(), 2);

    let verified = audit.verify().await.unwrap();
    assert!(verified.whole, "{verified:?}");
    assert_eq!((verified.first, verified.last), (3, 3));
    assert_eq!(audit.trim(bench.clock.now()).await.unwrap(), 1, "also when nothing is left");
    assert!(audit.verify().await.unwrap().whole);
    let id = audit.begin(&asks("provision", "j")).await.unwrap();
    audit.finish(id, &AuditResult::default()).await.unwrap();
    assert_eq!(audit.link(bench.clock.now()).await.unwrap(), 1);
    assert_eq!(audit.verify().await.unwrap().last, 4, "numbers go on");
}

pub(crate) async fn replicas_that_link_at_once_leave_no_gap(bench: OnDatabase) {
    let audit = AuditLog::new(bench.store.clone());
    for _ in 0..40 {
        let id = audit.begin(&asks("update", "i")).await.unwrap();
        audit.finish(id, &AuditResult { accepted: true, ..Default::default() }).await.unwrap();
    }
    let now = bench.clock.now();

    let linked = futures::future::join_all((0..4).map(|_| audit.link(now))).await;

    let linked: usize = linked.into_iter().map(Result::unwrap).sum();
    let verified = audit.verify().await.unwrap();
    assert!(verified.whole, "{verified:?}");
    assert_eq!((linked, verified.last), (40, 40));
}

pub(crate) async fn the_audit_is_paged_newest_first_and_filtered(bench: OnDatabase) {
    let audit = three(&bench).await;
    let other = NewAuditEntry { subject: "al".into(), ..asks("update", "k") };
    audit.begin(&other).await.unwrap();
    let all = AuditFilter { most: 3, ..AuditFilter::default() };
    let actions = async |filter: &AuditFilter| {
        let page = audit.page(filter).await.unwrap();
        let actions: Vec<String> = page.entries.iter().map(|it| it.action.clone()).collect();
        (actions, page.next)
    };

    let (first, next) = actions(&all).await;
    assert_eq!(first, ["update", "deprovision", "provision"]);
    let (second, last) = actions(&AuditFilter { before: next, ..all.clone() }).await;
    assert_eq!((second, last), (vec!["provision".to_owned()], None));

    let of = |change: fn(&mut AuditFilter)| {
        let mut filter = all.clone();
        change(&mut filter);
        filter
    };
    assert_eq!(actions(&of(|it| it.instance = "k".into())).await.0, ["update"]);
    assert_eq!(actions(&of(|it| it.subject = "al".into())).await.0, ["update"]);
    assert_eq!(actions(&of(|it| it.action = "provision".into())).await.0.len(), 2);
    assert_eq!(actions(&of(|it| it.result = "refused".into())).await.0, ["provision"]);
    assert!(actions(&of(|it| it.operation = Some(uuid::Uuid::nil()))).await.0.is_empty());
    assert!(actions(&of(|it| it.subject = "a\0l".into())).await.0.is_empty());
}
