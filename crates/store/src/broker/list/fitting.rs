//! Instances whose Shoot has a name that fits. What fits is found out here, over names alone and some at a time: no database has the
//! same patterns as another.

use super::{BY_ID, BrokerStore, InstanceFilter, Page, PageKey, Way, bound, list};
use crate::{Error, Moment, sql::Text};

/// How many names of Shoots are read at a time.
const NAMES: u32 = 1_000;

#[derive(sqlx_macros::FromRow)]
struct NamedShoot {
    created_at: Moment,
    id: String,
    shoot_name: String,
}

/// Counts what fits.
struct Counted {
    skip: u64,
    most: usize,
    total: u64,
}

impl Counted {
    /// Whether the next one that fits is on the page.
    fn is_on_the_page(&mut self) -> bool {
        let at = self.total;
        self.total += 1;
        (self.skip..self.skip.saturating_add(self.most as u64)).contains(&at)
    }
}

impl BrokerStore {
    /// The page of instances whose Shoot has a name that fits, and how many there are in all. What fits is found out here, over
    /// names alone and some at a time: no database has the same patterns as another.
    pub async fn list_fitting(
        &self,
        filter: &InstanceFilter,
        fits: impl Fn(&str) -> bool + Send,
    ) -> Result<(Page, u64), Error> {
        let mut counted =
            Counted { skip: filter.skip.into(), most: filter.most as usize, total: 0 };
        let pages = match filter.way() {
            Way::Paged(pages) => pages,
            Way::Few(text) => {
                let mut rows = self.few(filter, text).await?;
                rows.retain(|row| fits(&row.shoot_name));
                rows.retain(|_| counted.is_on_the_page());
                return Ok((self.opened(rows), counted.total));
            }
        };
        let (mut ids, mut from) = (Vec::new(), filter.clone());
        loop {
            let names = self.names(&from, pages.names).await?;
            let fitting = names.iter().filter(|name| fits(&name.shoot_name));
            ids.extend(fitting.filter(|_| counted.is_on_the_page()).map(|name| name.id.clone()));
            match names.last() {
                Some(last) if names.len() == NAMES as usize => {
                    let (created_at, id) = (last.created_at.into(), last.id.clone());
                    from.after = Some(PageKey { created_at, id });
                }
                _ => break,
            }
        }
        if ids.is_empty() {
            return Ok((Page::default(), counted.total));
        }
        let rows = self.few(&InstanceFilter { ids, ..filter.clone() }, BY_ID).await?;
        Ok((self.opened(rows), counted.total))
    }

    /// The ids of instances whose Shoot has a name that fits, out of the next thousand, and where to go on. For lists that are
    /// read to their end: each call costs the same.
    pub async fn ids_fitting(
        &self,
        filter: &InstanceFilter,
        fits: impl Fn(&str) -> bool + Send,
    ) -> Result<(Vec<String>, Option<PageKey>), Error> {
        let pages = match filter.way() {
            Way::Paged(pages) => pages,
            Way::Few(text) => {
                let mut rows = self.few(filter, text).await?;
                rows.retain(|row| fits(&row.shoot_name));
                return Ok((rows.into_iter().map(|row| row.id).collect(), None));
            }
        };
        let names = self.names(filter, pages.names).await?;
        let last = names.last().filter(|_| names.len() == NAMES as usize);
        let next =
            last.map(|last| PageKey { created_at: last.created_at.into(), id: last.id.clone() });
        let fitting = names.into_iter().filter(|name| fits(&name.shoot_name));
        Ok((fitting.map(|name| name.id).collect(), next))
    }

    /// Some names of Shoots.
    async fn names(&self, filter: &InstanceFilter, text: Text) -> Result<Vec<NamedShoot>, Error> {
        let (created_at, id) = filter.start();
        let names = on!(self.database().reader(), text, |text, pool| {
            bound!(sqlx::query_as(text), filter)
                .bind(created_at)
                .bind(id)
                .bind(i64::from(NAMES))
                .fetch_all(pool)
                .await
        })?;
        Ok(names)
    }
}
