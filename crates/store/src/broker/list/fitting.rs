//! Instances whose Shoot has a name that fits. What fits is found out here, over names alone and some at a time: no database has the
//! same patterns as another.

use super::{
    BY_ID, BY_PREFIX, BrokerStore, InstanceFilter, ListStrategy, Page, PageKey, bound, list,
};
use crate::{Error, Moment, sql::Text};

/// How many names of Shoots are read at a time.
const NAMES: usize = 1_000;
/// How many names with a prefix are read at once; where there are more, the list is read by age.
const WITH_PREFIX: usize = 5_000;

#[derive(sqlx_macros::FromRow)]
pub(super) struct NamedShoot {
    pub(super) created_at: Moment,
    pub(super) id: String,
    shoot_name: String,
}

/// Counts what fits.
struct PageCounter {
    skip: u64,
    most: usize,
    total: u64,
}

impl PageCounter {
    /// Whether the next one that fits is on the page.
    fn is_on_the_page(&mut self) -> bool {
        let at = self.total;
        self.total += 1;
        (self.skip..self.skip.saturating_add(self.most as u64)).contains(&at)
    }
}

impl BrokerStore {
    /// The page of instances whose Shoot has a name that fits, and how many there are in all. What fits is found out here, over
    /// names alone and some at a time: no database has the same patterns as another. With letters that every fitting name begins
    /// with, and few names that do, only these are read; several mean that it begins with any of them, none that they are not known.
    pub async fn list_fitting(
        &self,
        filter: &InstanceFilter,
        prefixes: &[String],
        fits: impl Fn(&str) -> bool + Send,
    ) -> Result<(Page, u64), Error> {
        let mut counted =
            PageCounter { skip: filter.skip.into(), most: filter.most as usize, total: 0 };
        if let ListStrategy::Few(text) = filter.way() {
            let mut rows = self.few(filter, text).await?;
            rows.retain(|row| fits(&row.shoot_name));
            rows.retain(|_| counted.is_on_the_page());
            return Ok((self.opened(rows), counted.total));
        }
        let (mut ids, mut from) = (Vec::new(), filter.clone());
        let (mut names, mut more) = match self.names_with_any(filter, prefixes).await? {
            Some(names) => (names, false),
            None => (self.keys(&from, NAMES).await?, true),
        };
        loop {
            let fitting = names.iter().filter(|name| fits(&name.shoot_name));
            ids.extend(fitting.filter(|_| counted.is_on_the_page()).map(|name| name.id.clone()));
            more = more && names.len() == NAMES;
            let Some(last) = names.last().filter(|_| more) else { break };
            from.after = Some(PageKey { created_at: last.created_at.into(), id: last.id.clone() });
            names = self.keys(&from, NAMES).await?;
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
        if let ListStrategy::Few(text) = filter.way() {
            let mut rows = self.few(filter, text).await?;
            rows.retain(|row| fits(&row.shoot_name));
            return Ok((rows.into_iter().map(|row| row.id).collect(), None));
        }
        let names = self.keys(filter, NAMES).await?;
        let last = names.last().filter(|_| names.len() == NAMES);
        let next =
            last.map(|last| PageKey { created_at: last.created_at.into(), id: last.id.clone() });
        let fitting = names.into_iter().filter(|name| fits(&name.shoot_name));
        Ok((fitting.map(|name| name.id).collect(), next))
    }

    /// The first names of Shoots of a list.
    pub(super) async fn names(
        &self,
        filter: &InstanceFilter,
        text: Text,
        most: usize,
    ) -> Result<Vec<NamedShoot>, Error> {
        let (created_at, id) = filter.start();
        let names = on!(self.database().reader(), text, |text, pool| {
            bound!(sqlx::query_as(text), filter)
                .bind(created_at)
                .bind(id)
                .bind(i64::try_from(most).unwrap_or(i64::MAX))
                .fetch_all(pool)
                .await
        })?;
        Ok(names)
    }

    /// The names that begin with any of these, by age; none when there are too many, or nothing to begin with.
    async fn names_with_any(
        &self,
        filter: &InstanceFilter,
        prefixes: &[String],
    ) -> Result<Option<Vec<NamedShoot>>, Error> {
        if prefixes.is_empty() {
            return Ok(None);
        }
        let mut names = Vec::new();
        for prefix in prefixes {
            let Some(found) = self.names_with(filter, prefix).await? else { return Ok(None) };
            names.extend(found);
            if names.len() > WITH_PREFIX {
                return Ok(None);
            }
        }
        let start = filter.start();
        names.retain(|name| (name.created_at, name.id.as_str()) > start);
        names.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        // One may begin with two of them.
        names.dedup_by(|one, other| one.id == other.id);
        Ok(Some(names))
    }

    /// The names that begin with these letters; none when there are too many.
    async fn names_with(
        &self,
        filter: &InstanceFilter,
        prefix: &str,
    ) -> Result<Option<Vec<NamedShoot>>, Error> {
        let Some(end) = end_of(prefix) else { return Ok(None) };
        let most = i64::try_from(WITH_PREFIX + 1).unwrap_or(i64::MAX);
        let names: Vec<NamedShoot> = on!(self.database().reader(), BY_PREFIX, |text, pool| {
            let query = bound!(sqlx::query_as(text), filter).bind(prefix);
            query.bind(end.as_str()).bind(most).fetch_all(pool).await
        })?;
        Ok((names.len() <= WITH_PREFIX).then_some(names))
    }
}

/// The first text behind all that begin with these ASCII letters.
fn end_of(prefix: &str) -> Option<String> {
    let last = prefix.chars().last().filter(char::is_ascii)?;
    let next = char::from(u8::try_from(last).ok()?.checked_add(1)?);
    Some(format!("{}{next}", &prefix[..prefix.len() - 1]))
}
