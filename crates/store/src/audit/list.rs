//! Pages of the audit, newest first.
//!
//! What a reader would get wrong: the order is that of the ids, which begin with the time. They are the primary key, so that a page costs the
//! same wherever it is; the chain's numbers would leave out what is not linked yet.

use uuid::Uuid;

use super::{AuditEntry, AuditLog, columns};
use crate::{Error, sql::Text};

/// Which entries to list. What is empty fits all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only those with this action.
    pub action: String,
    /// Only those of this caller.
    pub subject: String,
    /// Only those about this instance.
    pub instance: String,
    /// Only those about this operation.
    pub operation: Option<Uuid>,
    /// `accepted`, `refused` or `unknown`.
    pub result: String,
    /// Only those that are older than this one.
    pub before: Option<Uuid>,
    /// How many at most.
    pub most: u32,
}

/// Some entries, newest first, and where to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditPage {
    /// The entries.
    pub entries: Vec<AuditEntry>,
    /// The `before` of the next page; `None` on the last one.
    pub next: Option<Uuid>,
}

// One text for each way in: an index serves only a condition that is always there.
macro_rules! page {
    ($more:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM audit WHERE id < $1 AND ($4 = '' OR result = $4) AND ",
            $more,
            " ORDER BY id DESC LIMIT $7"
        )
    };
}

const OF_ALL: Text = Text {
    postgres: page!("$2 = '' AND $3 = '' AND $5::text IS NOT NULL AND $6::uuid IS NULL"),
    sqlite: page!("$2 = '' AND $3 = '' AND $5 IS NOT NULL AND $6 IS NULL"),
};
const OF_ACTION: Text = Text {
    postgres: page!(
        "action = $2 AND ($3 = '' OR subject = $3) AND $5::text IS NOT NULL AND $6::uuid IS NULL"
    ),
    sqlite: page!("action = $2 AND ($3 = '' OR subject = $3) AND $5 IS NOT NULL AND $6 IS NULL"),
};
// Callers are many and actions are few: where both choose, the caller does it better.
const OF_SUBJECT: Text = Text {
    postgres: page!(
        "subject = $3 AND ($2 = '' OR action = $2) AND $5::text IS NOT NULL AND $6::uuid IS NULL"
    ),
    sqlite: page!("subject = $3 AND ($2 = '' OR action = $2) AND $5 IS NOT NULL AND $6 IS NULL"),
};
const OF_INSTANCE: Text = Text {
    postgres: page!(
        "instance = $5 AND ($2 = '' OR action = $2) AND ($3 = '' OR subject = $3) AND ($6::uuid IS NULL OR operation_id = $6)"
    ),
    sqlite: page!(
        "instance = $5 AND ($2 = '' OR action = $2) AND ($3 = '' OR subject = $3) AND ($6 IS NULL OR operation_id = $6)"
    ),
};
const OF_OPERATION: Text = Text {
    postgres: page!(
        "operation_id = $6 AND ($2 = '' OR action = $2) AND ($3 = '' OR subject = $3) AND $5::text IS NOT NULL"
    ),
    sqlite: page!(
        "operation_id = $6 AND ($2 = '' OR action = $2) AND ($3 = '' OR subject = $3) AND $5 IS NOT NULL"
    ),
};

/// Every statement with the index it goes by, where that is not the primary key.
#[cfg(test)]
pub(crate) const LISTS: &[(Text, &str)] = &[
    (OF_ALL, ""),
    (OF_ACTION, "audit_of_action_by_id"),
    (OF_SUBJECT, "audit_of_subject_by_id"),
    (OF_INSTANCE, "audit_of_instance_by_id"),
    (OF_OPERATION, "audit_of_operation_by_id"),
];

impl AuditLog {
    /// One page, newest first.
    pub async fn page(&self, filter: &AuditFilter) -> Result<AuditPage, Error> {
        let text = match (filter.instance.as_str(), filter.operation) {
            ("", None) if !filter.subject.is_empty() => OF_SUBJECT,
            ("", None) if !filter.action.is_empty() => OF_ACTION,
            ("", None) => OF_ALL,
            ("", Some(_)) => OF_OPERATION,
            _ => OF_INSTANCE,
        };
        // No column can hold what no text can hold.
        let texts = [&filter.action, &filter.subject, &filter.instance, &filter.result];
        if texts.iter().any(|text| text.contains('\0')) {
            return Ok(AuditPage { entries: Vec::new(), next: None });
        }
        let mut entries: Vec<AuditEntry> = on!(self.0.database().reader(), text, |text, pool| {
            sqlx::query_as(text)
                .bind(filter.before.unwrap_or(Uuid::max()))
                .bind(&filter.action)
                .bind(&filter.subject)
                .bind(&filter.result)
                .bind(&filter.instance)
                .bind(filter.operation)
                .bind(i64::from(filter.most) + 1)
                .fetch_all(pool)
                .await
        })?;
        let more = entries.len() > filter.most as usize;
        entries.truncate(filter.most as usize);
        let next = entries.last().map(|entry| entry.id).filter(|_| more);
        Ok(AuditPage { entries, next })
    }
}
