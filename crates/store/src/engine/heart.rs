//! Renews a lease and looks for lost operations, on a connection that nothing else uses: a full pool delays neither.

use std::time::Duration;

use ::engine::{
    OperationId, ReplicaId, StorageError,
    storage::{Beat, Heart},
};
use sqlx::{Connection as _, PgConnection};

use super::{EngineStore, join::microseconds, lost};
use crate::{Error, Moment, database::Backend};

const POSTGRES: &str = "
    WITH renewed AS (
        UPDATE replicas
        SET lease_until = COALESCE($1, statement_timestamp()) + $3 * interval '1 microsecond'
        WHERE id = $2 AND lease_until > COALESCE($1, statement_timestamp())
        RETURNING id
    )
    SELECT EXISTS (SELECT 1 FROM renewed), COALESCE($1, statement_timestamp())";
const SQLITE: &str = "
    UPDATE replicas SET lease_until = $1 + $3 WHERE id = $2 AND lease_until > $1 RETURNING $1";

/// Renews one lease.
pub struct EngineHeart {
    store: EngineStore,
    /// None on SQLite, and after it broke: the next beat opens another one.
    connection: Option<PgConnection>,
}

impl EngineHeart {
    pub(super) async fn open(store: EngineStore) -> Result<Self, Error> {
        let connection = connect(&store).await?;
        Ok(Self { store, connection })
    }

    async fn renew(&mut self, replica: ReplicaId, lease: Duration) -> Result<Beat, Error> {
        let now = self.store.now();
        if let Backend::Sqlite(pool) = self.store.database.writer() {
            let renewed: Option<Moment> = sqlx::query_scalar(SQLITE)
                .bind(now)
                .bind(replica)
                .bind(microseconds(lease))
                .fetch_optional(pool)
                .await?;
            let now = now.unwrap_or_else(|| self.store.local.now().into());
            return Ok(Beat { alive: renewed.is_some(), now: now.into() });
        }
        let mut connection = self.take().await?;
        let (alive, now): (bool, Moment) = sqlx::query_as(POSTGRES)
            .bind(now)
            .bind(replica)
            .bind(microseconds(lease))
            .fetch_one(&mut connection)
            .await?;
        self.connection = Some(connection);
        Ok(Beat { alive, now: now.into() })
    }

    async fn look(
        &mut self,
        replica: ReplicaId,
        in_hand: &[(OperationId, i64)],
    ) -> Result<Vec<(OperationId, i64)>, Error> {
        // On SQLite both share the writer: those who read may take all other connections for long.
        if self.store.database.is_sqlite() {
            return lost::on_pool(self.store.database.writer(), replica, in_hand).await;
        }
        let mut connection = self.take().await?;
        let found = lost::on_postgres(&mut connection, replica, in_hand).await?;
        self.connection = Some(connection);
        Ok(found)
    }

    /// Taken out while it is in use: a call that is dropped half-way leaves no half-read answer.
    async fn take(&mut self) -> Result<PgConnection, Error> {
        Ok(match self.connection.take() {
            Some(connection) => connection,
            None => connect(&self.store).await?.ok_or(sqlx::Error::PoolClosed)?,
        })
    }
}

async fn connect(store: &EngineStore) -> Result<Option<PgConnection>, Error> {
    match store.database.writer() {
        Backend::Postgres(pool) => {
            Ok(Some(PgConnection::connect_with(pool.connect_options().as_ref()).await?))
        }
        Backend::Sqlite(_) => Ok(None),
    }
}

impl Heart for EngineHeart {
    async fn beat(&mut self, replica: ReplicaId, lease: Duration) -> Result<Beat, StorageError> {
        Ok(self.renew(replica, lease).await?)
    }

    async fn lost(
        &mut self,
        replica: ReplicaId,
        in_hand: &[(OperationId, i64)],
    ) -> Result<Vec<(OperationId, i64)>, StorageError> {
        Ok(self.look(replica, in_hand).await?)
    }
}
