//! Changes that a step makes to its instance, inside the commit of the step's result.
//!
//! A change does not name the instance: it is the one that the operation works on.

use std::collections::BTreeMap;

use ::engine::storage::NewOperation;
use base::Clock;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{
    creations,
    rows::{open_order, seal_details, seal_order},
    states::{self, StateRecord},
};
use crate::{
    Connection, Error, Moment, Sealer,
    engine::{AppliedChange, ApplyChange, Document, change::text, instance_of, read_change},
};

/// The topic of [`InstanceChange`].
pub const TOPIC: &str = "instance";

/// A change to the instance that an operation works on. What is not set stays as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InstanceChange {
    /// The details of the instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Document>,
    /// The order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Document>,
    /// Parts of the order, by their JSON pointers: each is replaced, whatever else has changed in the order since it was read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub order_fields: BTreeMap<String, Document>,
    /// Fields of `order_fields` that keep a newer value: they are replaced only while their revision is the known one, or lower.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub revised_fields: BTreeMap<String, FieldRevision>,
    /// The plan that it is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<InstancePlan>,
    /// Its runtime.
    #[serde(skip_serializing_if = "RuntimeId::is_unchanged")]
    pub runtime_id: RuntimeId,
    /// The provider of its cluster.
    #[serde(deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The provider's region.
    #[serde(deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Where its owner manages the cluster.
    #[serde(deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub dashboard_url: Option<String>,
    /// Marks that it is removed, with something left over.
    pub deleted: bool,
    /// Deletes the row, whatever else is set.
    pub removed: bool,
    /// A record of what was sent for the runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_state: Option<StateChange>,
    /// The creation whose result this commit stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Uuid>,
}

/// The number of a value of the order, which is in the order too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldRevision {
    /// Where the number is: a JSON pointer. Zero if there is none.
    pub at: String,
    /// The number of the value that the change replaces.
    pub known: u64,
}

impl FieldRevision {
    fn is_outdated(&self, order: &Value) -> bool {
        order.pointer(&self.at).and_then(Value::as_u64).unwrap_or_default() > self.known
    }
}

/// The plan that an instance is of, as its row has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstancePlan {
    /// The id that orders name.
    pub id: String,
    pub name: String,
}

/// A record of what was sent for a runtime, to be stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateChange {
    /// The runtime; `None` for the instance's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_id: Option<Uuid>,
    /// The parts of the payload, as lower-case words with hyphens: `cluster-setup`.
    #[serde(default)]
    pub holds: Vec<String>,
    /// The payload that was sent.
    pub payload: Document,
}

/// A change of an instance's runtime id.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<Uuid>", into = "Option<Uuid>")]
pub enum RuntimeId {
    /// It stays as it is.
    #[default]
    Unchanged,
    /// It is set to null.
    Cleared,
    /// It is set.
    Set(Uuid),
}

impl RuntimeId {
    fn is_unchanged(&self) -> bool {
        *self == Self::Unchanged
    }
}

impl From<Option<Uuid>> for RuntimeId {
    fn from(id: Option<Uuid>) -> Self {
        id.map_or(Self::Cleared, Self::Set)
    }
}

impl From<RuntimeId> for Option<Uuid> {
    fn from(id: RuntimeId) -> Self {
        if let RuntimeId::Set(id) = id { Some(id) } else { None }
    }
}

impl ::engine::RowChange for InstanceChange {
    fn topic(&self) -> &str {
        TOPIC
    }
}

// $5: the runtime is set, or taken away. $10: something is left over.
const APPLY: &str = "
    UPDATE instances
    SET details = COALESCE($3, details),
        ordered = COALESCE($4, ordered),
        runtime_id = CASE WHEN $5 THEN $6 ELSE runtime_id END,
        provider = COALESCE($7, provider),
        region = COALESCE($8, region),
        dashboard_url = COALESCE($9, dashboard_url),
        deleted_at = CASE WHEN $10 THEN COALESCE(deleted_at, $2) ELSE deleted_at END,
        plan_id = COALESCE($11, plan_id),
        plan_name = COALESCE($12, plan_name),
        revision = revision + 1,
        updated_at = $2
    WHERE id = $1";
// Locks the row until the commit: nobody changes the order meanwhile.
const LOCK: &str = "UPDATE instances SET revision = revision WHERE id = $1 RETURNING ordered";
const ORDER: &str = "SELECT ordered FROM instances WHERE id = $1";
const REMOVE: &str = "DELETE FROM instances WHERE id = $1";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(APPLY, ""), (LOCK, ""), (ORDER, ""), (REMOVE, "")];

/// Applies instance changes.
pub(super) struct Changes {
    pub(super) sealer: Sealer,
    pub(super) clock: Clock,
}

impl ApplyChange for Changes {
    fn topic(&self) -> &'static str {
        TOPIC
    }

    fn apply<'a>(
        &'a self,
        connection: Connection<'a>,
        applied: AppliedChange<'a>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(self.change(connection, applied))
    }

    fn continued_input<'a>(
        &'a self,
        connection: Connection<'a>,
        new: &'a NewOperation,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, Error>> {
        Box::pin(self.with_present_order(connection, new))
    }
}

impl Changes {
    /// The input of a return from a suspension with the order that the instance has now: what the platform has said since the return failed
    /// is stored there alone.
    async fn with_present_order(
        &self,
        connection: Connection<'_>,
        new: &NewOperation,
    ) -> Result<Option<Vec<u8>>, Error> {
        let Ok(mut input) = serde_json::from_slice::<Value>(&new.input) else { return Ok(None) };
        if input["returning"] != true {
            return Ok(None);
        }
        let sealed: Option<Vec<u8>> = on!(connection, |connection| {
            sqlx::query_scalar(ORDER).bind(&new.instance).fetch_optional(connection).await
        })?;
        let Some(sealed) = sealed else { return Ok(None) };
        let order = open_order(&self.sealer, &new.instance, &sealed)?;
        input["order"] = serde_json::from_slice(&order).map_err(|_| {
            Error::Refused(format!("the order of \"{}\" cannot be read", new.instance))
        })?;
        Ok(Some(input.to_string().into_bytes()))
    }

    async fn change(
        &self,
        mut connection: Connection<'_>,
        applied: AppliedChange<'_>,
    ) -> Result<(), Error> {
        let body: InstanceChange = read_change("an instance change", applied.body)?;
        let instance = instance_of(connection.lend(), applied.operation).await?;
        if body.removed {
            // Removed twice is removed.
            on!(connection, |connection| {
                sqlx::query(REMOVE).bind(&instance).execute(connection).await.map(drop)
            })?;
            return Ok(());
        }
        if let Some(created) = body.created {
            on!(connection.lend(), |connection| {
                sqlx::query(creations::FORGET).bind(created).execute(connection).await.map(drop)
            })?;
        }
        let now = Moment::from(self.clock.now());
        self.write(connection.lend(), &instance, &body, now).await?;
        match &body.runtime_state {
            Some(state) => self.record(connection, &instance, applied.operation, state, now).await,
            None => Ok(()),
        }
    }

    async fn write(
        &self,
        mut connection: Connection<'_>,
        instance: &str,
        body: &InstanceChange,
        now: Moment,
    ) -> Result<(), Error> {
        let details = body.details.as_ref();
        let details = details.map(|details| seal_details(&self.sealer, instance, details.bytes()));
        let order = match &body.order {
            Some(order) => Some(order.bytes().to_vec()),
            None if body.order_fields.is_empty() => None,
            None => Some(self.changed_order(connection.lend(), instance, body).await?),
        };
        let order = order.map(|order| seal_order(&self.sealer, instance, &order));
        let changed = on!(connection, |connection| {
            sqlx::query(APPLY)
                .bind(instance)
                .bind(now)
                .bind(details)
                .bind(order)
                .bind(!body.runtime_id.is_unchanged())
                .bind(Option::<Uuid>::from(body.runtime_id))
                .bind(body.provider.as_deref())
                .bind(body.region.as_deref())
                .bind(body.dashboard_url.as_deref())
                .bind(body.deleted)
                .bind(body.plan.as_ref().map(|plan| plan.id.as_str()))
                .bind(body.plan.as_ref().map(|plan| plan.name.as_str()))
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        if changed == 1 {
            return Ok(());
        }
        Err(nothing_to_change(instance))
    }

    /// The stored order with other values in some of its fields.
    async fn changed_order(
        &self,
        connection: Connection<'_>,
        instance: &str,
        body: &InstanceChange,
    ) -> Result<Vec<u8>, Error> {
        let sealed: Option<Vec<u8>> = on!(connection, |connection| {
            sqlx::query_scalar(LOCK).bind(instance).fetch_optional(connection).await
        })?;
        let sealed = sealed.ok_or_else(|| nothing_to_change(instance))?;
        let refused = |why: &str| Error::Refused(format!("the order of \"{instance}\" {why}"));
        let order = open_order(&self.sealer, instance, &sealed)?;
        let mut order: Value =
            serde_json::from_slice(&order).map_err(|_| refused("cannot be read"))?;
        for (pointer, value) in &body.order_fields {
            if body.revised_fields.get(pointer).is_some_and(|it| it.is_outdated(&order)) {
                continue;
            }
            let (parent, field) = pointer.rsplit_once('/').unwrap_or_default();
            let parent = order.pointer_mut(parent).and_then(Value::as_object_mut);
            let parent = parent.ok_or_else(|| refused("has no place for a changed field"))?;
            let value = serde_json::from_slice(value.bytes());
            let value = value.map_err(|_| refused("has no place for what is not JSON"))?;
            parent.insert(field.to_owned(), value);
        }
        serde_json::to_vec(&order).map_err(|_| refused("cannot be written"))
    }

    async fn record(
        &self,
        connection: Connection<'_>,
        instance: &str,
        operation: Uuid,
        state: &StateChange,
        now: Moment,
    ) -> Result<(), Error> {
        let written = StateRecord {
            instance,
            runtime: state.runtime_id,
            operation,
            holds: &state.holds,
            payload: state.payload.bytes(),
        };
        if states::add(connection, &self.sealer, &written, now).await? {
            return Ok(());
        }
        Err(Error::Refused(format!("instance \"{instance}\" has no runtime to keep a state of")))
    }
}

fn nothing_to_change(instance: &str) -> Error {
    Error::Refused(format!("there is no instance \"{instance}\" to change"))
}
