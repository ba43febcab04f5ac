//! Pages of instances, newest first: what was accepted just now is on the first one, whatever was counted before.

use jiff::Timestamp;

use super::{
    BY_ID, BrokerStore, InstanceFilter, ListStrategy, Page, PageKey, bound, fitting::NamedShoot,
    list,
};
use crate::{Error, Moment, sql::Text};

impl InstanceFilter {
    /// Where to begin from the newest: every instance is older.
    fn end(&self) -> (Moment, &str) {
        let end = self.after.as_ref().map(|after| (after.created_at, after.id.as_str()));
        let (created_at, id) = end.unwrap_or((Timestamp::MAX, ""));
        (created_at.into(), id)
    }
}

impl BrokerStore {
    /// A page of instances, newest first; [`InstanceFilter::after`] is where the page before ended. Keys are read of what is passed over.
    pub async fn newest(&self, filter: &InstanceFilter) -> Result<Page, Error> {
        let (skip, most) = (filter.skip as usize, filter.most as usize);
        let wanted = skip.saturating_add(most).saturating_add(1);
        let unbounded = InstanceFilter { after: None, ..filter.clone() };
        let lists = match filter.way() {
            ListStrategy::Paged(_) => vec![filter.clone()],
            ListStrategy::Merged(lists) => lists,
            ListStrategy::Few(text) => {
                let mut rows = self.few(&unbounded, text).await?;
                rows.retain(|row| (row.created_at, row.id.as_str()) < filter.end());
                rows.reverse();
                let more = rows.len() >= wanted;
                let page: Vec<_> = rows.into_iter().skip(skip).take(most).collect();
                let last = page.last().filter(|_| more);
                let next = last.map(|row| key(row.created_at, &row.id));
                return Ok(Page { next, ..self.opened(page) });
            }
        };
        let mut keys = Vec::new();
        for list in &lists {
            let ListStrategy::Paged(pages) = list.way() else { continue };
            keys.extend(self.newest_keys(list, pages.newest, wanted).await?);
        }
        keys.sort_by(|one, other| (other.created_at, &other.id).cmp(&(one.created_at, &one.id)));
        keys.dedup_by(|one, other| one.id == other.id);
        let more = keys.len() >= wanted;
        let page: Vec<_> = keys.into_iter().skip(skip).take(most).collect();
        let next = page.last().filter(|_| more).map(|last| key(last.created_at, &last.id));
        let ids: Vec<String> = page.into_iter().map(|key| key.id).collect();
        if ids.is_empty() {
            return Ok(Page::default());
        }
        let mut rows = self.few(&InstanceFilter { ids, ..unbounded }, BY_ID).await?;
        rows.reverse();
        Ok(Page { next, ..self.opened(rows) })
    }

    async fn newest_keys(
        &self,
        filter: &InstanceFilter,
        text: Text,
        most: usize,
    ) -> Result<Vec<NamedShoot>, Error> {
        let (created_at, id) = filter.end();
        let keys = on!(self.database().reader(), text, |text, pool| {
            bound!(sqlx::query_as(text), filter)
                .bind(created_at)
                .bind(id)
                .bind(i64::try_from(most).unwrap_or(i64::MAX))
                .fetch_all(pool)
                .await
        })?;
        Ok(keys)
    }
}

fn key(created_at: Moment, id: &str) -> PageKey {
    PageKey { created_at: created_at.into(), id: id.to_owned() }
}
