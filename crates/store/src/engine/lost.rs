//! What a replica has in hand and does not own any more: an operator has abandoned it.

use ::engine::{OperationId, ReplicaId};

use sqlx::PgExecutor;

use super::rows::written;
use crate::{
    Error,
    database::{Backend, Pool},
};

// The places of what is lost in the list: almost always none.
const POSTGRES: &str = "
    SELECT h.place - 1
    FROM unnest($2::uuid[], $3::bigint[]) WITH ORDINALITY AS h(id, epoch, place)
    WHERE NOT EXISTS (
        SELECT 1 FROM operations o WHERE o.id = h.id AND o.epoch = h.epoch AND o.owner = $1)";
const SQLITE: &str = "
    SELECT h.key FROM json_each($2) h
    WHERE NOT EXISTS (
        SELECT 1 FROM operations o
        WHERE o.id = unhex(json_extract(h.value, '$[0]'))
          AND o.epoch = json_extract(h.value, '$[1]') AND o.owner = $1)";

/// On this connection, or on one of this pool.
pub(super) async fn on_postgres(
    executor: impl PgExecutor<'_>,
    replica: ReplicaId,
    in_hand: &[(OperationId, i64)],
) -> Result<Vec<(OperationId, i64)>, Error> {
    let (ids, epochs): (Vec<OperationId>, Vec<i64>) = in_hand.iter().copied().unzip();
    let places = sqlx::query_scalar(POSTGRES)
        .bind(replica)
        .bind(ids)
        .bind(epochs)
        .fetch_all(executor)
        .await?;
    Ok(at(places, in_hand))
}

fn at(places: Vec<i64>, in_hand: &[(OperationId, i64)]) -> Vec<(OperationId, i64)> {
    let lost = |place: i64| usize::try_from(place).ok().and_then(|place| in_hand.get(place));
    places.into_iter().filter_map(lost).copied().collect()
}

/// On a connection of this pool.
pub(super) async fn on_pool(
    pool: &Pool,
    replica: ReplicaId,
    in_hand: &[(OperationId, i64)],
) -> Result<Vec<(OperationId, i64)>, Error> {
    match pool {
        Backend::Postgres(pool) => on_postgres(pool, replica, in_hand).await,
        Backend::Sqlite(pool) => {
            let listed: Vec<(String, i64)> =
                in_hand.iter().map(|(id, epoch)| (id.simple().to_string(), *epoch)).collect();
            let places = sqlx::query_scalar(SQLITE)
                .bind(replica)
                .bind(written(&listed)?)
                .fetch_all(pool)
                .await?;
            Ok(at(places, in_hand))
        }
    }
}
