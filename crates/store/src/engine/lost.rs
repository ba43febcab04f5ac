//! What a replica has in hand and does not own any more: an operator has abandoned it.

use ::engine::{OperationId, ReplicaId};

use super::{heart::EngineHeart, rows::written};
use crate::{Error, database::Backend};

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

impl EngineHeart {
    pub(super) async fn not_owned(
        &mut self,
        replica: ReplicaId,
        in_hand: &[(OperationId, i64)],
    ) -> Result<Vec<(OperationId, i64)>, Error> {
        let places: Vec<i64> = if let Backend::Sqlite(pool) = self.store.database.reader() {
            let listed: Vec<(String, i64)> =
                in_hand.iter().map(|(id, epoch)| (id.simple().to_string(), *epoch)).collect();
            let query = sqlx::query_scalar(SQLITE).bind(replica).bind(written(&listed)?);
            query.fetch_all(pool).await?
        } else {
            let (ids, epochs): (Vec<OperationId>, Vec<i64>) = in_hand.iter().copied().unzip();
            let mut connection = self.take().await?;
            let query = sqlx::query_scalar(POSTGRES).bind(replica).bind(ids).bind(epochs);
            let places = query.fetch_all(&mut connection).await?;
            self.keep(connection);
            places
        };
        let lost = |place: i64| usize::try_from(place).ok().and_then(|place| in_hand.get(place));
        Ok(places.into_iter().filter_map(lost).copied().collect())
    }
}
