//! Pages by number of long lists: how many runtimes there are and where every thousand of them end is remembered for a short while, so
//! that a page far from the beginning costs what the first one costs.
//!
//! What a reader would get wrong: short lists are counted each time, so that what was ordered just now is counted. Of long ones the
//! total may be as old as [`FRESH`]. Rows that go meanwhile make a page begin earlier, never later: no runtime is passed over.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use store::broker::{InstanceFilter, Page, PageKey};

use crate::instances::{Broker, Error};

/// From how many runtimes on a list is long.
const LONG: u64 = 10_000;
/// How many runtimes lie between two marks.
const EVERY: u32 = 1_000;
/// How long marks and totals are used.
const FRESH: Duration = Duration::from_secs(10);
/// Of how many lists they are remembered.
const LISTS: usize = 32;

/// What is remembered of long lists, the newest last.
#[derive(Default)]
pub(crate) struct Numbered(Mutex<Vec<Arc<Marked>>>);

/// A long list.
struct Marked {
    /// What chooses its runtimes, without a page.
    filter: InstanceFilter,
    total: u64,
    marks: Vec<PageKey>,
    read_at: Duration,
}

impl Numbered {
    fn find(&self, filter: &InstanceFilter, now: Duration) -> Option<Arc<Marked>> {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.retain(|list| now.saturating_sub(list.read_at) < FRESH);
        lists.iter().rfind(|list| list.filter == *filter).cloned()
    }

    fn keep(&self, marked: Arc<Marked>) {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.retain(|list| list.filter != marked.filter);
        if lists.len() == LISTS {
            lists.remove(0);
        }
        lists.push(marked);
    }
}

impl Marked {
    /// The same page, from the last mark before it.
    fn near(&self, page: &InstanceFilter) -> InstanceFilter {
        let before = usize::try_from(page.skip / EVERY).unwrap_or(usize::MAX).min(self.marks.len());
        let Some(mark) = before.checked_sub(1).and_then(|at| self.marks.get(at)) else {
            return page.clone();
        };
        let passed = EVERY.saturating_mul(u32::try_from(before).unwrap_or(u32::MAX));
        let skip = page.skip.saturating_sub(passed);
        InstanceFilter { after: Some(mark.clone()), skip, ..page.clone() }
    }
}

impl Broker {
    /// A page by its number, and how many there are on all pages.
    pub(super) async fn numbered_page(&self, page: &InstanceFilter) -> Result<(Page, u64), Error> {
        let (store, now) = (&self.parts().store, self.parts().clock.monotonic());
        let filter = InstanceFilter { after: None, skip: 0, most: 0, ..page.clone() };
        let marked = match self.numbered().find(&filter, now) {
            Some(marked) => marked,
            None => {
                let total = store.total(&filter).await?;
                if total < LONG {
                    return Ok((store.list(page).await?, total));
                }
                let marks = store.marks(&filter, EVERY).await?;
                let marked = Arc::new(Marked { filter, total, marks, read_at: now });
                self.numbered().keep(marked.clone());
                marked
            }
        };
        Ok((store.list(&marked.near(page)).await?, marked.total))
    }
}
