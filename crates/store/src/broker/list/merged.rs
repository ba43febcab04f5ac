//! Lists of several states: one list for each, by its index, put together by age. What is in none of the states is not read.

use super::{ALL, BY_ID, BrokerStore, InstanceFilter, ListStrategy, PageKey, Pages, Row};
use crate::{Error, broker::Standing};

impl InstanceFilter {
    /// One list for each state, where several choose and none of them is that of most instances; no instance is in two of them.
    pub(super) fn by_standing(&self) -> Option<Vec<Self>> {
        let standings = self.standings.as_deref()?;
        if standings.contains(&Standing::Succeeded) || self.deleted.is_some() {
            return None;
        }
        let mut lists: Vec<Self> = Vec::new();
        for standing in standings {
            let list = Self {
                standings: Some(vec![*standing]),
                deleted: self.or_left_over.then_some(false),
                or_left_over: false,
                ..self.clone()
            };
            if !lists.contains(&list) {
                lists.push(list);
            }
        }
        if self.or_left_over {
            let deleted = Some(true);
            lists.push(Self { standings: None, deleted, or_left_over: false, ..self.clone() });
        }
        (!lists.is_empty()).then_some(lists)
    }
}

impl ListStrategy {
    /// The pages of the list as it is, also where there is a shorter way to its first ones.
    pub(super) fn pages(self) -> Result<Pages, crate::sql::Text> {
        match self {
            Self::Paged(pages) => Ok(pages),
            Self::Merged(_) => Ok(ALL),
            Self::Few(text) => Err(text),
        }
    }
}

impl BrokerStore {
    /// A page, and where the next one begins. Only keys are read of what is passed over.
    ///
    /// The keys say whether there is a next page, and not the rows: an instance whose state changes between the two is on neither list for a
    /// moment, and the list does not end there.
    pub(super) async fn merged(
        &self,
        filter: &InstanceFilter,
        lists: &[InstanceFilter],
    ) -> Result<(Vec<Row>, Option<PageKey>), Error> {
        let (skip, most) = (filter.skip as usize, filter.most as usize);
        let wanted = skip.saturating_add(most).saturating_add(1);
        let mut keys = Vec::new();
        for list in lists {
            let Ok(pages) = list.way().pages() else { continue };
            keys.extend(self.names(list, pages.names, wanted).await?);
        }
        keys.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        keys.dedup_by(|one, other| one.id == other.id);
        let more = keys.len() >= wanted;
        let page: Vec<_> = keys.into_iter().skip(skip).take(most).collect();
        let next = page.last().filter(|_| more);
        let next =
            next.map(|last| PageKey { created_at: last.created_at.into(), id: last.id.clone() });
        let ids: Vec<String> = page.into_iter().map(|key| key.id).collect();
        if ids.is_empty() {
            return Ok((Vec::new(), None));
        }
        Ok((self.few(&InstanceFilter { ids, ..filter.clone() }, BY_ID).await?, next))
    }

    pub(super) async fn merged_total(
        &self,
        lists: &[InstanceFilter],
        most: u32,
    ) -> Result<u64, Error> {
        let mut total = 0;
        for list in lists {
            let left = most.saturating_sub(u32::try_from(total).unwrap_or(u32::MAX));
            if left > 0 {
                total += Box::pin(self.total_up_to(list, left)).await?;
            }
        }
        Ok(total)
    }
}
