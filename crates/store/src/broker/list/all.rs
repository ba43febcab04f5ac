//! How many instances there are in all, but for those that stand in some ways: two counts that read indexes alone. A count with every
//! condition reads each row, which takes seconds for a million.

use super::{BrokerStore, InstanceFilter};
use crate::{
    Error,
    broker::Standing,
    sql::{Text, list, sql},
};

pub(super) const ALL: Text = sql!("SELECT count(*) FROM instances");
pub(super) const OF_STANDINGS: Text = sql!(
    "SELECT count(*) FROM instances WHERE standing <> 'succeeded' AND " (any "standing" "$1")
);

impl InstanceFilter {
    /// Whether it chooses by nothing but ways to stand, that of most instances among them.
    pub(super) fn is_all_but_some(&self) -> bool {
        let of_most = |standings: &[Standing]| standings.contains(&Standing::Succeeded);
        let (standings, most) = (self.standings.clone(), self.most);
        let nothing_else = Self { standings, most, ..Self::default() };
        *self == nothing_else && self.standings.as_deref().is_none_or(of_most)
    }
}

impl BrokerStore {
    /// How many instances stand so, that of most among them; `None`: however.
    pub(super) async fn all_but(&self, standings: Option<&[Standing]>) -> Result<u64, Error> {
        let all: i64 = on!(self.database().reader(), ALL, |text, pool| {
            sqlx::query_scalar(text).fetch_one(pool).await
        })?;
        let standings = standings.unwrap_or(&Standing::ALL);
        let others = Standing::ALL.into_iter().filter(|standing| !standings.contains(standing));
        let others: Vec<&str> = others.map(Standing::as_str).collect();
        if others.is_empty() {
            return Ok(all.unsigned_abs());
        }
        let others: i64 = on!(self.database().reader(), OF_STANDINGS, |text, pool| {
            sqlx::query_scalar(text).bind(list(&others)).fetch_one(pool).await
        })?;
        // The second count is younger, and the first one may lack what it has.
        Ok(all.saturating_sub(others).max(0).unsigned_abs())
    }
}
