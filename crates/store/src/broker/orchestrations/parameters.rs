//! Changes of an orchestration's parameters.
//!
//! What a reader would get wrong: the fields are put into what is stored behind a lock of the row, and not into what the caller has
//! read: other fields may have changed concurrently.

use serde_json::Value;
use uuid::Uuid;

use crate::{Error, Moment, Transaction, broker::BrokerStore, sql::sql};

sql!(LOCK = "SELECT description, parameters FROM orchestrations WHERE id = $1" wait);
const WORKERS: &str =
    "UPDATE orchestrations SET workers = $2, parameters = $3, updated_at = $4 WHERE id = $1";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(in crate::broker) const TEXTS: &[(&str, &str)] = &[(WORKERS, "")];

/// Fields with their new values, each under the names that lead to it.
pub type Fields<'a> = [(&'a [&'a str], Value)];

/// The columns of a row that is locked until the transaction ends.
#[derive(Debug, sqlx_macros::FromRow)]
pub(super) struct LockedRow {
    pub(super) description: String,
    pub(super) parameters: String,
}

impl BrokerStore {
    /// Runs so many at a time from now on; `fields` of the parameters tell the same. `false`: there is no such orchestration.
    pub async fn change_workers(
        &self,
        id: Uuid,
        workers: i64,
        fields: &Fields<'_>,
    ) -> Result<bool, Error> {
        let mut transaction = self.database().begin().await?;
        let Some(locked) = self.lock_orchestration(&mut transaction, id).await? else {
            transaction.rollback().await?;
            return Ok(false);
        };
        let parameters = with_fields(&locked.parameters, fields)?;
        let now = Moment::from(self.clock.now());
        on!(transaction.connection(), |connection| {
            let query = sqlx::query(WORKERS).bind(id).bind(workers).bind(parameters).bind(now);
            query.execute(connection).await.map(drop)
        })?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Locks the row until the transaction ends; later statements see everything that was written before.
    pub(super) async fn lock_orchestration(
        &self,
        transaction: &mut Transaction,
        id: Uuid,
    ) -> Result<Option<LockedRow>, Error> {
        let locked = on!(transaction.connection(), LOCK, |text, connection| {
            sqlx::query_as(text).bind(id).fetch_optional(connection).await
        })?;
        Ok(locked)
    }
}

/// The parameters with other values in these fields.
pub(super) fn with_fields(parameters: &str, fields: &Fields<'_>) -> Result<String, Error> {
    let unreadable = || Error::Unreadable("the parameters of an orchestration".into());
    let mut changed: Value = serde_json::from_str(parameters).map_err(|_| unreadable())?;
    for (names, value) in fields {
        let mut place = &mut changed;
        for name in *names {
            if place.is_null() {
                *place = Value::Object(serde_json::Map::new());
            }
            let object = place.as_object_mut().ok_or_else(unreadable)?;
            place = object.entry(*name).or_insert(Value::Null);
        }
        place.clone_from(value);
    }
    Ok(changed.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_named_fields_change_and_missing_places_are_made() {
        let fields: &Fields<'_> = &[(&["a", "b"], json!(1)), (&["c", "d", "e"], json!([2]))];

        let changed = with_fields(r#"{"a":{"b":0,"x":5},"c":{}}"#, fields).unwrap();

        let changed: Value = serde_json::from_str(&changed).unwrap();
        assert_eq!(changed, json!({ "a": { "b": 1, "x": 5 }, "c": { "d": { "e": [2] } } }));
        assert!(with_fields(r#"{"a":7}"#, fields).is_err());
        assert!(with_fields("no JSON", fields).is_err());
    }
}
