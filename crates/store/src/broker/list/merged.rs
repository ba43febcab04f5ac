//! Lists of several states, accounts, subaccounts, regions or plans: one list for each, by its index, put together by age. What is in none
//! of them is not read.

use super::{
    BY_ID, BrokerStore, InstanceFilter, ListStrategy, PageKey, Pages, Row, fitting::NamedShoot,
};
use crate::{Error, broker::Standing};

/// Of how many lists one is put together at most: each of them is a statement.
pub(super) const MOST_LISTS: usize = 100;

impl InstanceFilter {
    /// One list for each of these values of a column, by its index.
    pub(super) fn by_value(
        &self,
        values: &[String],
        of_one: Pages,
        set: impl Fn(&mut Self, Vec<String>),
    ) -> ListStrategy {
        // What no column can hold chooses nobody.
        let mut known: Vec<&String> = values.iter().filter(|one| !one.contains('\0')).collect();
        known.sort_unstable();
        known.dedup();
        if known.len() == 1 {
            return ListStrategy::Paged(of_one);
        }
        let list = |one: &String| {
            let mut list = self.clone();
            set(&mut list, vec![one.clone()]);
            list
        };
        ListStrategy::Merged(known.into_iter().map(list).collect())
    }

    /// Whether states choose, and none of them is that of most instances.
    pub(super) fn is_of_rare_standings(&self) -> bool {
        let rare = |standings: &Vec<Standing>| !standings.contains(&Standing::Succeeded);
        self.standings.as_ref().is_some_and(rare) && !(self.or_left_over && self.deleted.is_some())
    }

    /// One list for each state; no instance is in two of them.
    pub(super) fn by_standing(&self) -> Vec<Self> {
        let mut lists: Vec<Self> = Vec::new();
        for standing in self.standings.iter().flatten() {
            let list = Self {
                standings: Some(vec![*standing]),
                deleted: if self.or_left_over { Some(false) } else { self.deleted },
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
        lists
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
        let keys = self.merged_keys(lists, wanted).await?;
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

    /// The first keys of a list, with the names of Shoots, by age.
    pub(super) async fn keys(
        &self,
        filter: &InstanceFilter,
        most: usize,
    ) -> Result<Vec<NamedShoot>, Error> {
        match filter.way() {
            ListStrategy::Paged(pages) => self.names(filter, pages.names, most).await,
            ListStrategy::Merged(lists) => self.merged_keys(&lists, most).await,
            ListStrategy::Few(_) => Ok(Vec::new()),
        }
    }

    async fn merged_keys(
        &self,
        lists: &[InstanceFilter],
        most: usize,
    ) -> Result<Vec<NamedShoot>, Error> {
        let mut keys = Vec::new();
        for list in lists {
            let ListStrategy::Paged(pages) = list.way() else { continue };
            keys.extend(self.names(list, pages.names, most).await?);
        }
        keys.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        keys.dedup_by(|one, other| one.id == other.id);
        keys.truncate(most);
        Ok(keys)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::list::LISTS;

    /// The indexes that a list goes by, one for each list that it is put together from.
    fn indexes(filter: &InstanceFilter) -> Vec<&'static str> {
        match filter.way() {
            ListStrategy::Paged(pages) => {
                let mut all = LISTS.iter();
                let known = all.find(|(text, _)| text.postgres == pages.names.postgres);
                vec![known.unwrap().1]
            }
            ListStrategy::Merged(lists) => lists.iter().flat_map(indexes).collect(),
            ListStrategy::Few(_) => vec!["few"],
        }
    }

    #[test]
    fn several_values_of_one_filter_go_by_its_index_one_by_one() {
        let all = InstanceFilter::default;
        let texts = |values: &[&str]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        let two = || texts(&["a", "b", "a", "\0"]);
        let many: Vec<String> = (0..=MOST_LISTS).map(|number| number.to_string()).collect();
        let failed = || Some(vec![Standing::Failed, Standing::Error]);
        let upgrading = || Some(vec![Standing::Upgrading]);
        let most = || Some(vec![Standing::Upgrading, Standing::Succeeded]);

        for (filter, expected) in [
            (all(), &["instances_by_age"][..]),
            (InstanceFilter { accounts: two(), ..all() }, &["instances_of_account"; 2]),
            (InstanceFilter { subaccounts: two(), ..all() }, &["instances_of_subaccount"; 2]),
            (InstanceFilter { regions: two(), ..all() }, &["instances_of_region"; 2]),
            (InstanceFilter { plans: two(), ..all() }, &["instances_of_plan_name"; 2]),
            (InstanceFilter { standings: failed(), ..all() }, &["instances_of_standing"; 2]),
            (
                InstanceFilter { plans: two(), standings: upgrading(), ..all() },
                &["instances_of_standing"],
            ),
            (
                InstanceFilter { regions: two(), standings: failed(), ..all() },
                &["instances_of_standing"; 2],
            ),
            (
                InstanceFilter { standings: failed(), deleted: Some(false), ..all() },
                &["instances_of_standing"; 2],
            ),
            (
                InstanceFilter { plans: two(), standings: failed(), or_left_over: true, ..all() },
                &["instances_of_standing", "instances_of_standing", "instances_left_over"],
            ),
            (
                InstanceFilter { plans: texts(&["a"]), standings: most(), ..all() },
                &["instances_of_plan_name"],
            ),
            (
                InstanceFilter { accounts: texts(&["a"]), standings: upgrading(), ..all() },
                &["instances_of_account"],
            ),
            (InstanceFilter { standings: Some(vec![]), ..all() }, &[]),
            (InstanceFilter { accounts: texts(&["\0"]), ..all() }, &[]),
            (InstanceFilter { accounts: texts(&["a", "a"]), ..all() }, &["instances_of_account"]),
            (InstanceFilter { regions: texts(&[""]), ..all() }, &["instances_of_region"]),
            (InstanceFilter { expired: Some(true), ..all() }, &["instances_expired"]),
            (InstanceFilter { expired: Some(true), plans: two(), ..all() }, &["instances_expired"]),
            (
                InstanceFilter { expired: Some(true), accounts: two(), ..all() },
                &["instances_of_account"; 2],
            ),
            (
                InstanceFilter { plans: two(), regions: texts(&["a"]), ..all() },
                &["instances_of_region"],
            ),
            (
                InstanceFilter { accounts: many.clone(), plans: two(), ..all() },
                &["instances_of_plan_name"; 2],
            ),
            (InstanceFilter { accounts: many, ..all() }, &["instances_by_age"]),
        ] {
            assert_eq!(indexes(&filter), expected, "{filter:?}");
        }
    }
}
