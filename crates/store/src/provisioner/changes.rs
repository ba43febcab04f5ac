//! Changes that a step makes to its runtime, inside the commit of the step's result.
//!
//! A change does not name the runtime: it is the one that the operation works on.

use base::Clock;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{
    Kubeconfig,
    rows::{seal_document, seal_kubeconfig},
};
use crate::{
    Connection, Error, Moment, Sealer,
    engine::{Applied, ApplyChange, bytes_of, instance_of},
};

/// The topic of changes to runtimes. Their body is an object, every field of it optional:
/// `document` (a JSON value that is stored as its bytes; a string is base64 of the bytes),
/// `kubeconfig` (`{"text": …, "until": …}`), `shoot_uid` (a text), `provisioned` and `deleted` (`true`).
pub const TOPIC: &str = "runtime";

// $6 provisioned, $7 deleted.
const APPLY: &str = "
    UPDATE runtimes
    SET document = COALESCE($3, document),
        kubeconfig = CASE WHEN $7 OR deleted_at IS NOT NULL THEN NULL
                          ELSE COALESCE($4, kubeconfig) END,
        kubeconfig_until = CASE WHEN $7 OR deleted_at IS NOT NULL THEN NULL
                                ELSE COALESCE($5, kubeconfig_until) END,
        provisioned_at = CASE WHEN $6 THEN COALESCE(provisioned_at, $2) ELSE provisioned_at END,
        deleted_at = CASE WHEN $7 THEN COALESCE(deleted_at, $2) ELSE deleted_at END,
        shoot_uid = COALESCE($8, shoot_uid),
        revision = revision + 1
    WHERE id = $1";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(APPLY, "")];

/// Applies changes of [`TOPIC`].
pub(super) struct Changes {
    pub(super) sealer: Sealer,
    pub(super) clock: Clock,
}

/// What a change asks for.
#[derive(Default)]
struct Body {
    document: Option<Vec<u8>>,
    kubeconfig: Option<Kubeconfig>,
    shoot_uid: Option<String>,
    provisioned: bool,
    deleted: bool,
}

impl Body {
    /// Refuses what it does not know: a step that means to change something shall learn that nothing
    /// did. Only the field is named, because what is in it may be a secret.
    fn read(body: &Value) -> Result<Self, Error> {
        let refused = |what: &str| Error::Refused(format!("a change to a runtime has {what}"));
        let fields = body.as_object().ok_or_else(|| refused("no fields"))?;
        let mut read = Self::default();
        for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            let understood = match name.as_str() {
                "document" => bytes_of(value).map(|bytes| read.document = Some(bytes)),
                "kubeconfig" => Kubeconfig::deserialize(value)
                    .ok()
                    .map(|kubeconfig| read.kubeconfig = Some(kubeconfig)),
                "shoot_uid" => value
                    .as_str()
                    .filter(|uid| !uid.is_empty())
                    .map(|uid| read.shoot_uid = Some(uid.to_owned())),
                "provisioned" => value.as_bool().map(|provisioned| read.provisioned = provisioned),
                "deleted" => value.as_bool().map(|deleted| read.deleted = deleted),
                _ => None,
            };
            understood.ok_or_else(|| refused(&format!("a field \"{name}\" that means nothing")))?;
        }
        Ok(read)
    }
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
        let runtime = runtime_of(connection.lend(), applied.operation).await?;

        let document =
            body.document.map(|document| seal_document(&self.sealer, runtime, &document));
        let kubeconfig = body.kubeconfig.as_ref();
        let until = kubeconfig.map(|kubeconfig| Moment::from(kubeconfig.until));
        let kubeconfig =
            kubeconfig.map(|kubeconfig| seal_kubeconfig(&self.sealer, runtime, kubeconfig));
        let now = Moment::from(self.clock.now());
        let changed = on!(connection, |connection| {
            sqlx::query(APPLY)
                .bind(runtime)
                .bind(now)
                .bind(document)
                .bind(kubeconfig)
                .bind(until)
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
