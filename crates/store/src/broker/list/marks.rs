//! Where every so many instances of a list end, so that a page far from its beginning need not pass over all before it.

use super::{BrokerStore, InstanceFilter, ListStrategy, PageKey, bound, list};
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
        let pages = match filter.way() {
            ListStrategy::Paged(pages) => pages,
            ListStrategy::Merged(_) => return self.merged_marks(filter, every).await,
            ListStrategy::Few(_) => return Ok(Vec::new()),
        };
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

    /// The same of a list that is put together from others: it is read to its end.
    async fn merged_marks(
        &self,
        filter: &InstanceFilter,
        every: u32,
    ) -> Result<Vec<PageKey>, Error> {
        let (every, mut from) = (every as usize, filter.clone());
        let mut marks = Vec::new();
        loop {
            let keys = self.keys(&from, every).await?;
            let Some(last) = keys.last().filter(|_| keys.len() == every) else { return Ok(marks) };
            let mark = PageKey { created_at: last.created_at.into(), id: last.id.clone() };
            from.after = Some(mark.clone());
            marks.push(mark);
        }
    }
}
