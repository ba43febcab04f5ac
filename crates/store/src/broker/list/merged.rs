//! Lists of several states: one list for each, by its index, put together by age. What is in none of the states is not read.

use super::{ALL, BY_ID, BrokerStore, InstanceFilter, Pages, Row, Way};
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

impl Way {
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
    /// One more than a page, if there are so many. Only keys are read of what is passed over.
    pub(super) async fn merged(
        &self,
        filter: &InstanceFilter,
        lists: &[InstanceFilter],
    ) -> Result<Vec<Row>, Error> {
        let (skip, most) = (filter.skip as usize, (filter.most as usize).saturating_add(1));
        let mut keys = Vec::new();
        for list in lists {
            let Ok(pages) = list.way().pages() else { continue };
            keys.extend(self.names(list, pages.names, skip.saturating_add(most)).await?);
        }
        keys.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        let ids: Vec<String> = keys.into_iter().skip(skip).take(most).map(|key| key.id).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.few(&InstanceFilter { ids, ..filter.clone() }, BY_ID).await
    }

    pub(super) async fn merged_total(&self, lists: &[InstanceFilter]) -> Result<u64, Error> {
        let mut total = 0;
        for list in lists {
            total += Box::pin(self.total(list)).await?;
        }
        Ok(total)
    }
}
