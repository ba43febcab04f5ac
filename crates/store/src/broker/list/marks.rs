//! Where every so many instances of a list end, so that a page far from its beginning need not pass over all before it.

use super::{BrokerStore, InstanceFilter, PageKey, bound, list};
use crate::{Error, Moment};

#[derive(sqlx_macros::FromRow)]
struct Mark {
    created_at: Moment,
    id: String,
}

impl BrokerStore {
    /// The last of each `every` instances, all of the list; none where instances are named one by one. It costs what
    /// [`BrokerStore::total`] costs.
    pub async fn marks(&self, filter: &InstanceFilter, every: u32) -> Result<Vec<PageKey>, Error> {
        let Ok(pages) = filter.way().pages() else { return Ok(Vec::new()) };
        let (created_at, id) = filter.start();
        let mut marks: Vec<Mark> = on!(self.database().reader(), pages.marks, |text, pool| {
            bound!(sqlx::query_as(text), filter)
                .bind(created_at)
                .bind(id)
                .bind(i64::from(every))
                .fetch_all(pool)
                .await
        })?;
        // Few, and in this order already as a rule: a statement that says so would sort them once more.
        marks.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        let key = |mark: Mark| PageKey { created_at: mark.created_at.into(), id: mark.id };
        Ok(marks.into_iter().map(key).collect())
    }
}
