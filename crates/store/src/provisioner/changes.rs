//! Changes that a step makes to its runtime, inside the commit of the step's result.
//!
//! A change does not name the runtime: it is the one that the operation works on.

use base::Clock;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::rows::seal_document;
use crate::{
    Connection, Error, Moment, Sealer,
    engine::{AppliedChange, ApplyChange, Document, change::text, instance_of, read_change},
};

/// The topic of [`RuntimeChange`].
pub const TOPIC: &str = "runtime";

/// A change to the runtime that an operation works on. What is not set stays as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuntimeChange {
    /// Its configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
    /// Gardener's uid of the Shoot that was made for it.
    #[serde(deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub shoot_uid: Option<String>,
    /// Marks that the cluster is there.
    pub provisioned: bool,
    /// Marks that the cluster is gone; its kubeconfig goes with it.
    pub deleted: bool,
}

impl ::engine::RowChange for RuntimeChange {
    fn topic(&self) -> &str {
        TOPIC
    }
}

// $4 provisioned, $5 deleted.
const APPLY: &str = "
    UPDATE runtimes
    SET document = COALESCE($3, document),
        kubeconfig = CASE WHEN $5 OR deleted_at IS NOT NULL THEN NULL ELSE kubeconfig END,
        kubeconfig_until = CASE WHEN $5 OR deleted_at IS NOT NULL THEN NULL
                                ELSE kubeconfig_until END,
        provisioned_at = CASE WHEN $4 THEN COALESCE(provisioned_at, $2) ELSE provisioned_at END,
        deleted_at = CASE WHEN $5 THEN COALESCE(deleted_at, $2) ELSE deleted_at END,
        shoot_uid = COALESCE($6, shoot_uid),
        revision = revision + 1
    WHERE id = $1";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(APPLY, "")];

/// Applies runtime changes.
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
}

impl Changes {
    async fn change(
        &self,
        mut connection: Connection<'_>,
        applied: AppliedChange<'_>,
    ) -> Result<(), Error> {
        let body: RuntimeChange = read_change("a runtime change", applied.body)?;
        if body.shoot_uid.as_deref() == Some("") {
            return Err(Error::Refused("a runtime change has an empty \"shoot_uid\"".into()));
        }
        let runtime = runtime_of(connection.lend(), applied.operation).await?;
        let document = body.document.as_ref();
        let document =
            document.map(|document| seal_document(&self.sealer, runtime, document.bytes()));
        let now = Moment::from(self.clock.now());
        let changed = on!(connection, |connection| {
            sqlx::query(APPLY)
                .bind(runtime)
                .bind(now)
                .bind(document)
                .bind(body.provisioned)
                .bind(body.deleted)
                .bind(body.shoot_uid)
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        if changed == 1 {
            return Ok(());
        }
        Err(Error::Refused(format!("there is no runtime {runtime} to change")))
    }
}

/// The runtime that an operation works on.
async fn runtime_of(connection: Connection<'_>, operation: Uuid) -> Result<Uuid, Error> {
    let instance = instance_of(connection, operation).await?;
    Uuid::try_parse(&instance)
        .map_err(|_| Error::Refused(format!("operation {operation} works on no runtime")))
}
