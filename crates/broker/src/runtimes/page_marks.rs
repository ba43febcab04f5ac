//! Pages by number of long lists: how many runtimes there are and where every thousand of them end is remembered for a short while, so
//! that a page far from the beginning costs what the first one costs.
//!
//! What a reader would get wrong: short lists are counted each time, so that what was ordered just now is counted. The total of a long
//! one may be as old as [`USABLE`]: it is counted anew in the background from [`FRESH`] on, by one request of a replica at a time, and
//! only the first request for a list waits, and one that finds fewer runtimes than the total says: that total is wrong. Pages by number
//! are no snapshot: where rows go between two requests, behind the mark or before a mark that is counted anew, the next page begins so
//! many rows later, and passes over as many runtimes. An export goes by key, and passes over none.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base::failure::chain;
use store::broker::{InstanceFilter, Page, PageKey, RemovedInstance, RemovedKey};

use crate::instances::{Broker, Error};

/// From how many runtimes on a list is long.
const LONG: u32 = 1_000;
/// How many runtimes lie between two marks.
const EVERY: u32 = 1_000;
/// How old totals and marks may be before they are counted anew.
const FRESH: Duration = Duration::from_secs(10);
/// How old they may be while they are counted anew.
const USABLE: Duration = Duration::from_mins(1);
/// How many lists are kept.
const LISTS: usize = 32;

/// What is remembered of long lists, the one that was asked for last at the end.
#[derive(Default)]
pub(crate) struct PageMarks(Mutex<Vec<Arc<LongList>>>);

/// What is on a list.
#[derive(PartialEq, Eq)]
enum Content {
    /// Runtimes with rows; the filter is without a page.
    Rows(Box<InstanceFilter>),
    /// Runtimes of these accounts whose rows are gone.
    Removed(Vec<String>),
}

impl Content {
    /// The list that has this page of rows.
    fn of(page: &InstanceFilter) -> Self {
        Self::Rows(Box::new(InstanceFilter { after: None, skip: 0, most: 0, ..page.clone() }))
    }
}

/// Where every thousand runtimes of a list end.
enum Marks {
    Rows(Vec<PageKey>),
    Removed(Vec<RemovedKey>),
}

impl Marks {
    fn count(&self) -> usize {
        match self {
            Self::Rows(marks) => marks.len(),
            Self::Removed(marks) => marks.len(),
        }
    }
}

/// A long list.
struct LongList {
    content: Content,
    counted: Mutex<Option<Arc<CachedCount>>>,
    /// Held while it is counted. A request that goes away lets the next one count.
    counting: tokio::sync::Mutex<()>,
}

/// What was counted.
struct CachedCount {
    total: u64,
    /// None while only the total was asked for.
    marks: Option<Marks>,
    at: Duration,
}

impl PageMarks {
    fn find(&self, content: &Content) -> Option<Arc<LongList>> {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = lists.iter().position(|list| list.content == *content)?;
        lists[at..].rotate_left(1);
        lists.last().cloned()
    }

    fn find_or_add(&self, content: Content) -> Arc<LongList> {
        if let Some(list) = self.find(&content) {
            return list;
        }
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.len() == LISTS {
            lists.remove(0);
        }
        let list = Arc::new(LongList {
            content,
            counted: Mutex::default(),
            counting: tokio::sync::Mutex::default(),
        });
        lists.push(list.clone());
        list
    }

    fn forget(&self, list: &Arc<LongList>) {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.retain(|known| !Arc::ptr_eq(known, list));
    }
}

impl LongList {
    /// What was counted last, with marks where they are needed, and how old it is.
    fn last(&self, deep: bool, now: Duration) -> Option<(Arc<CachedCount>, Duration)> {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let age = now.saturating_sub(counted.at);
        (!deep || counted.marks.is_some()).then_some((counted, age))
    }

    fn keep(&self, counted: Arc<CachedCount>) {
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = Some(counted);
    }
}

impl CachedCount {
    /// How many marks lie before a page that passes over so many, and how many are left to pass over behind the last of them.
    fn passed(&self, skip: u64) -> (usize, u32) {
        let marks = self.marks.as_ref().map_or(0, Marks::count);
        let before = usize::try_from(skip / u64::from(EVERY)).unwrap_or(usize::MAX).min(marks);
        let left = skip - u64::from(EVERY) * before as u64;
        (before, u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// Whether so many rows behind those that a page passes over are fewer than there should be.
    fn lacks(&self, skip: u64, rows: usize, most: u32) -> bool {
        rows < most as usize && skip + (rows as u64) < self.total
    }

    /// The same page of rows, from the last mark before it.
    fn near(&self, page: &InstanceFilter) -> InstanceFilter {
        let (before, skip) = self.passed(page.skip.into());
        let mark = match (&self.marks, before.checked_sub(1)) {
            (Some(Marks::Rows(marks)), Some(at)) => marks.get(at).cloned(),
            _ => None,
        };
        InstanceFilter { after: mark, skip, ..page.clone() }
    }

    /// The last mark of removed runtimes before a page, and how many to pass over behind it.
    fn near_removed(&self, skip: u64) -> (Option<RemovedKey>, u32) {
        let (before, left) = self.passed(skip);
        match (&self.marks, before.checked_sub(1)) {
            (Some(Marks::Removed(marks)), Some(at)) => (marks.get(at).copied(), left),
            _ => (None, left),
        }
    }
}

impl Broker {
    /// A page by its number, and how many there are on all pages.
    pub(super) async fn numbered_page(&self, page: &InstanceFilter) -> Result<(Page, u64), Error> {
        let store = &self.parts().store;
        let (list, counted) = match self.sized(Content::of(page), page.skip.into()).await? {
            Size::Short(total) => return Ok((store.list(page).await?, total)),
            Size::Long(list, counted) => (list, counted),
        };
        let found = store.list(&counted.near(page)).await?;
        let rows = found.instances.len() + found.unreadable.len();
        if !counted.lacks(page.skip.into(), rows, page.most) {
            return Ok((found, counted.total));
        }
        let counted = self.counted_anew(&list, &counted).await?;
        Ok((store.list(&counted.near(page)).await?, counted.total))
    }

    /// How many runtimes with rows are on all pages.
    pub(super) async fn numbered_total(&self, page: &InstanceFilter) -> Result<u64, Error> {
        Ok(match self.sized(Content::of(page), 0).await? {
            Size::Short(total) => total,
            Size::Long(_, counted) => counted.total,
        })
    }

    /// Some of the removed runtimes of a list, and how many there are.
    pub(super) async fn numbered_removed(
        &self,
        filter: &InstanceFilter,
        skip: u64,
        most: u32,
    ) -> Result<(Vec<RemovedInstance>, u64), Error> {
        let (store, InstanceFilter { accounts, ids, .. }) = (&self.parts().store, filter);
        if !ids.is_empty() {
            let all = store.removed_among(accounts, ids).await?;
            let (total, skip) = (all.len() as u64, usize::try_from(skip).unwrap_or(usize::MAX));
            return Ok((all.into_iter().skip(skip).take(most as usize).collect(), total));
        }
        let (list, counted) = match self.sized(Content::Removed(accounts.clone()), skip).await? {
            Size::Long(list, counted) => (list, counted),
            Size::Short(total) => {
                let skip = u32::try_from(skip).unwrap_or(u32::MAX);
                return Ok((store.removed_page(accounts, None, skip, most).await?, total));
            }
        };
        let (after, left) = counted.near_removed(skip);
        let found = store.removed_page(accounts, after, left, most).await?;
        if !counted.lacks(skip, found.len(), most) {
            return Ok((found, counted.total));
        }
        let counted = self.counted_anew(&list, &counted).await?;
        let (after, left) = counted.near_removed(skip);
        Ok((store.removed_page(accounts, after, left, most).await?, counted.total))
    }

    /// How long a list is, with marks where a page passes over many.
    async fn sized(&self, content: Content, skip: u64) -> Result<Size, Error> {
        let list = match self.numbered().find(&content) {
            Some(list) => list,
            None => {
                let total = self.total_of(&content, None, LONG).await?;
                if total < u64::from(LONG) {
                    return Ok(Size::Short(total));
                }
                self.numbered().find_or_add(content)
            }
        };
        let counted = self.counted(&list, skip >= u64::from(EVERY)).await?;
        Ok(Size::Long(list, counted))
    }

    /// What is known of a long list; with marks where a page is deep in it.
    async fn counted(&self, list: &Arc<LongList>, deep: bool) -> Result<Arc<CachedCount>, Error> {
        match list.last(deep, self.parts().clock.monotonic()) {
            Some((counted, age)) if age < FRESH => Ok(counted),
            Some((counted, age)) if age < USABLE => {
                let (broker, list) = (self.clone(), list.clone());
                tokio::spawn(async move {
                    // Another request counts it already.
                    let Ok(_one) = list.counting.try_lock() else { return };
                    if let Err(error) = broker.count_held(&list, deep).await {
                        tracing::warn!(error = chain(&error), "runtimes cannot be counted");
                    }
                });
                Ok(counted)
            }
            _ => {
                let _one = list.counting.lock().await;
                self.count_held(list, deep).await
            }
        }
    }

    /// Counts a long list, unless another request has just done so. The caller holds its `counting`.
    async fn count_held(
        &self,
        list: &Arc<LongList>,
        deep: bool,
    ) -> Result<Arc<CachedCount>, Error> {
        let now = self.parts().clock.monotonic();
        if let Some((counted, _)) = list.last(deep, now).filter(|(_, age)| *age < FRESH) {
            return Ok(counted);
        }
        self.count(list, deep).await
    }

    /// Counts a long list whose total is wrong, however old that is, unless another request has just done so.
    async fn counted_anew(
        &self,
        list: &Arc<LongList>,
        wrong: &Arc<CachedCount>,
    ) -> Result<Arc<CachedCount>, Error> {
        let (_one, deep) = (list.counting.lock().await, wrong.marks.is_some());
        match list.last(deep, self.parts().clock.monotonic()) {
            Some((counted, _)) if !Arc::ptr_eq(&counted, wrong) => Ok(counted),
            _ => self.count(list, deep).await,
        }
    }

    /// Counts a long list. The caller holds its `counting`.
    async fn count(&self, list: &Arc<LongList>, deep: bool) -> Result<Arc<CachedCount>, Error> {
        let now = self.parts().clock.monotonic();
        // Marks that other requests still use are counted anew and not lost.
        let marked = deep || list.last(true, now).is_some_and(|(_, age)| age < USABLE);
        let marks = if marked { Some(self.marks_of(&list.content).await?) } else { None };
        // What lies before the last mark is counted.
        let before = marks.as_ref().map_or(0, Marks::count);
        let rest = self.total_of(&list.content, marks.as_ref(), u32::MAX).await?;
        let total = u64::from(EVERY) * before as u64 + rest;
        if total < u64::from(LONG) {
            self.numbered().forget(list);
        }
        let counted = Arc::new(CachedCount { total, marks, at: now });
        list.keep(counted.clone());
        Ok(counted)
    }

    async fn marks_of(&self, content: &Content) -> Result<Marks, Error> {
        let store = &self.parts().store;
        Ok(match content {
            Content::Rows(filter) => Marks::Rows(store.marks(filter, EVERY).await?),
            Content::Removed(accounts) => {
                Marks::Removed(store.removed_marks(accounts, EVERY).await?)
            }
        })
    }

    /// How many there are behind the last mark, counted until there are so many.
    async fn total_of(
        &self,
        content: &Content,
        marks: Option<&Marks>,
        most: u32,
    ) -> Result<u64, Error> {
        let store = &self.parts().store;
        Ok(match (content, marks) {
            (Content::Rows(filter), Some(Marks::Rows(marks))) => {
                let after = marks.last().cloned();
                store.total_up_to(&InstanceFilter { after, ..(**filter).clone() }, most).await?
            }
            (Content::Rows(filter), _) => store.total_up_to(filter, most).await?,
            (Content::Removed(accounts), Some(Marks::Removed(marks))) => {
                store.removed_total(accounts, marks.last().copied(), most).await?
            }
            (Content::Removed(accounts), _) => store.removed_total(accounts, None, most).await?,
        })
    }
}

/// How long a list is.
enum Size {
    /// Counted just now.
    Short(u64),
    Long(Arc<LongList>, Arc<CachedCount>),
}

#[cfg(test)]
mod tests;
