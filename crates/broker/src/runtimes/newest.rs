//! Runtimes from the newest back, for people.
//!
//! What a reader would get wrong: the first pages are read from the newest row and not from a place that was counted. What was ordered
//! just now is on the first page, however old the count of a long list is. Pages far behind are found by the marks of that count.

use store::broker::InstanceFilter;

use super::{Page, RuntimesQuery, item::RuntimeRecord, shoots::Shoots};
use crate::instances::{Broker, Caller, Error, Reader};

/// How many runtimes may be passed over from the newest. Each one costs.
const NEAR: u64 = 1_000;

impl Broker {
    /// A page of runtimes, newest first; before them those whose rows are gone, where they are asked for. Shoots are chosen by name alone.
    pub async fn newest_runtimes(
        &self,
        caller: &Caller,
        ask: &RuntimesQuery,
    ) -> Result<Page, Error> {
        let Some(filter) = ask.filter(caller)? else { return Ok(Page::default()) };
        let Shoots::Named(shoots) = Shoots::read(&ask.shoots)? else {
            return Err(Error::Bad("shoot: patterns are not read from the newest".into()));
        };
        let mut filter = InstanceFilter { shoots, ..filter };
        let (mut known, mut total) = (Vec::new(), 0);
        if ask.asks_for_removed() {
            let (removed, all) = self.newest_removed(&filter).await?;
            filter.skip =
                u32::try_from(u64::from(filter.skip).saturating_sub(all)).unwrap_or_default();
            filter.most =
                filter.most.saturating_sub(u32::try_from(removed.len()).unwrap_or(u32::MAX));
            (known, total) = (removed, all);
        }
        let (mut rows, all) = self.newest_rows(&filter).await?;
        // Its row may have gone since the removed ones were read.
        rows.retain(|it| {
            known.iter().all(|known: &RuntimeRecord| known.instance() != it.instance())
        });
        known.extend(rows);
        total += all;
        let reader = if caller.any_tenant { Reader::Operator } else { Reader::Customer };
        let data = self.runtime_items(ask, known, reader).await?;
        Ok(Page { count: data.len() as u64, data, total_count: total })
    }

    async fn newest_rows(
        &self,
        filter: &InstanceFilter,
    ) -> Result<(Vec<RuntimeRecord>, u64), Error> {
        let total = self.numbered_total(filter).await?;
        let page = if u64::from(filter.skip) < NEAR {
            self.parts().store.newest(filter).await?
        } else {
            let (skip, most) = from_the_oldest(total, filter);
            let (mut page, _) =
                self.numbered_page(&InstanceFilter { skip, most, ..filter.clone() }).await?;
            page.instances.reverse();
            page
        };
        Ok((RuntimeRecord::of_page(page), total))
    }

    async fn newest_removed(
        &self,
        filter: &InstanceFilter,
    ) -> Result<(Vec<RuntimeRecord>, u64), Error> {
        let total = self.numbered_removed(filter, 0, 0).await?.1;
        let InstanceFilter { accounts, ids, skip, most, .. } = filter;
        let removed = if ids.is_empty() && u64::from(*skip) < NEAR {
            self.parts().store.removed_newest(accounts, *skip, *most).await?
        } else {
            let (skip, most) = from_the_oldest(total, filter);
            let mut page = self.numbered_removed(filter, skip.into(), most).await?.0;
            page.reverse();
            page
        };
        Ok((removed.into_iter().map(RuntimeRecord::from_removed).collect(), total))
    }
}

/// Where a page that is counted from the newest begins from the oldest, and how many are on it.
fn from_the_oldest(total: u64, page: &InstanceFilter) -> (u32, u32) {
    let end = total.saturating_sub(page.skip.into());
    let begin = end.saturating_sub(page.most.into());
    let number = |it: u64| u32::try_from(it).unwrap_or(u32::MAX);
    (number(begin), number(end - begin))
}
