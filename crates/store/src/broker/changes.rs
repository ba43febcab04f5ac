//! Changes that a step makes to its instance, inside the commit of the step's result.
//!
//! A change does not name the instance: it is the one that the operation works on.

mod body;

use base::Clock;
use futures::future::BoxFuture;
use uuid::Uuid;

use self::body::{Body, State};
use super::{
    creations,
    rows::{seal_details, seal_order},
    states::{self, Written},
};
use crate::{
    Connection, Error, Moment, Sealer,
    engine::{Applied, ApplyChange, instance_of},
};

/// The topic of changes to instances. Their body is an object, every field of it optional: `details` and
/// `order` (a JSON value that is stored as its bytes; a string is base64 of the bytes), `runtime_id` (null
/// takes it away), `provider`, `region`, `dashboard_url`, `deleted` (`true` marks that something is left
/// over), `removed` (`true` takes the row away, whatever else is asked for), `runtime_state`
/// (`{"payload": …, "holds": ["cluster-setup"], "runtime_id": …}`; without a runtime, the instance's), `created`
/// (the id of a creation whose result this commit keeps).
pub const TOPIC: &str = "instance";

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
        revision = revision + 1,
        updated_at = $2
    WHERE id = $1";
const REMOVE: &str = "DELETE FROM instances WHERE id = $1";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(APPLY, ""), (REMOVE, "")];

/// Applies changes of [`TOPIC`].
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
        applied: Applied<'a>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(self.change(connection, applied))
    }
}

impl Changes {
    async fn change(
        &self,
        mut connection: Connection<'_>,
        applied: Applied<'_>,
    ) -> Result<(), Error> {
        let body = Body::read(applied.body)?;
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
        connection: Connection<'_>,
        instance: &str,
        body: &Body,
        now: Moment,
    ) -> Result<(), Error> {
        let details = body.details.as_deref();
        let details = details.map(|details| seal_details(&self.sealer, instance, details));
        let order = body.order.as_deref();
        let order = order.map(|order| seal_order(&self.sealer, instance, order));
        let changed = on!(connection, |connection| {
            sqlx::query(APPLY)
                .bind(instance)
                .bind(now)
                .bind(details)
                .bind(order)
                .bind(body.runtime.changes())
                .bind(body.runtime.id())
                .bind(body.provider.as_deref())
                .bind(body.region.as_deref())
                .bind(body.dashboard_url.as_deref())
                .bind(body.deleted)
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        if changed == 1 {
            return Ok(());
        }
        Err(Error::Refused(format!("there is no instance \"{instance}\" to change")))
    }

    async fn record(
        &self,
        connection: Connection<'_>,
        instance: &str,
        operation: Uuid,
        state: &State,
        now: Moment,
    ) -> Result<(), Error> {
        let written = Written {
            instance,
            runtime: state.runtime_id,
            operation,
            holds: &state.holds,
            payload: &state.payload,
        };
        if states::add(connection, &self.sealer, &written, now).await? {
            return Ok(());
        }
        Err(Error::Refused(format!("instance \"{instance}\" has no runtime to keep a state of")))
    }
}
