//! Which fields of an entry the chain covers: all of them.

use sqlx::AssertSqlSafe;
use store::{
    audit::{AuditLog, AuditResult},
    database::Backend,
};

use super::whole;
use crate::bench::OnDatabase;

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
