//! Pages of instances, oldest first, by key: the last page costs what the first one costs.
//!
//! There is one text for each way in, because an index serves only a condition that is always there. Where
//! instances are named one by one, they are all read and put in order here: there are few of them.

mod all;
mod fitting;
mod marks;
mod merged;
mod newest;

use base::failure::chain;
use jiff::Timestamp;
use tracing::error;
use uuid::Uuid;

use super::{BrokerStore, Instance, rows::Row, standing::Standing};
use crate::{
    Error, Moment,
    sql::{Text, ids, list, sql},
};
use merged::MOST_LISTS;

/// Which instances to list. What is empty does not choose; what has several values means any of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceFilter {
    /// Global accounts.
    pub accounts: Vec<String>,
    /// Subaccounts.
    pub subaccounts: Vec<String>,
    /// Names of plans.
    pub plans: Vec<String>,
    /// The provider's regions.
    pub regions: Vec<String>,
    /// Names of Shoots.
    pub shoots: Vec<String>,
    /// Runtimes.
    pub runtimes: Vec<Uuid>,
    /// Ids of instances.
    pub ids: Vec<String>,
    /// Only those of which something is left over, or only the others.
    pub deleted: Option<bool>,
    /// Only those that have expired, or only the others.
    pub expired: Option<bool>,
    /// How they stand; `None`: however. Those of which something is left over are asked for with
    /// [`InstanceFilter::or_left_over`] as well.
    pub standings: Option<Vec<Standing>>,
    /// With standings: also those of which something is left over, however they stand.
    pub or_left_over: bool,
    /// Only those after this one: where the page before ended.
    pub after: Option<PageKey>,
    /// How many of them to pass over; each one costs. For pages that are asked for by number.
    pub skip: u32,
    /// How many at most.
    pub most: u32,
}

/// Where a page ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageKey {
    /// When its last instance was accepted.
    pub created_at: Timestamp,
    /// Its last instance.
    pub id: String,
}

/// Some instances, and where to go on.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The instances, oldest first.
    pub instances: Vec<Instance>,
    /// The ids of instances that belong here and cannot be read.
    pub unreadable: Vec<String>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<PageKey>,
}

/// A statement with all conditions: its first words, the condition that is always there, the end.
macro_rules! chosen {
    ($what:tt, $way:tt, $end:tt) => {
        sql!(
            "SELECT " $what " FROM instances WHERE " $way "
             AND (" (unset "$1") " OR " (any "global_account" "$1") ")
             AND (" (unset "$2") " OR " (any "subaccount" "$2") ")
             AND (" (unset "$3") " OR " (any "plan_name" "$3") ")
             AND (" (unset "$4") " OR " (any "region" "$4") ")
             AND (" (unset "$5") " OR " (any "shoot_name" "$5") ")
             AND (" (unset "$6") " OR " (any_id "runtime_id" "$6") ")
             AND (" (unset "$7") " OR " (any "id" "$7") ")
             AND COALESCE((deleted_at IS NOT NULL) = $8, true)
             AND COALESCE((expired_at IS NOT NULL) = $9, true)
             AND (" (unset "$10") " OR (deleted_at IS NOT NULL AND $11) OR " (any "standing" "$10") ")" $end
        )
    };
}
/// A page, how many there are on all pages, the names of Shoots by which some are chosen afterwards, the keys from the newest back, and
/// where every so many instances end.
macro_rules! pages {
    ($way:tt) => {
        Pages {
            page: chosen!(
                instance_columns,
                $way,
                " AND (created_at, id) > ($12, $13) ORDER BY created_at, id LIMIT $14 OFFSET $15"
            ),
            total: chosen!(
                "count(*) FROM (SELECT 1",
                $way,
                " AND (created_at, id) > ($12, $13) ORDER BY created_at, id LIMIT $14) counted"
            ),
            names: chosen!(
                "created_at, id, shoot_name",
                $way,
                " AND (created_at, id) > ($12, $13) ORDER BY created_at, id LIMIT $14"
            ),
            newest: chosen!(
                "created_at, id, shoot_name",
                $way,
                " AND (created_at, id) < ($12, $13) ORDER BY created_at DESC, id DESC LIMIT $14"
            ),
            marks: chosen!(
                "created_at, id FROM (
                 SELECT created_at, id, row_number() OVER (ORDER BY created_at, id) AS number",
                $way,
                " AND (created_at, id) > ($12, $13)) numbered WHERE number % $14 = 0"
            ),
        }
    };
}

#[derive(Clone, Copy)]
struct Pages {
    page: Text,
    total: Text,
    names: Text,
    newest: Text,
    marks: Text,
}

const ALL: Pages = pages!("true");
const LEFT_OVER: Pages = pages!("deleted_at IS NOT NULL");
const EXPIRED: Pages = pages!("expired_at IS NOT NULL");
const OF_ACCOUNT: Pages = pages!((first "global_account" "$1"));
const OF_SUBACCOUNT: Pages = pages!((first "subaccount" "$2"));
const OF_PLAN: Pages = pages!((first "plan_name" "$3"));
const OF_REGION: Pages = pages!((first "region" "$4"));
// Most have succeeded: they are not in that index.
const OF_STANDING: Pages = pages!((first_besides "standing" "succeeded" "$10"));

const BY_ID: Text = chosen!(instance_columns, (any "id" "$7"), "");
const BY_RUNTIME: Text = chosen!(instance_columns, (any_id "runtime_id" "$6"), "");
const BY_PREFIX: Text =
    chosen!("created_at, id, shoot_name", (between "shoot_name" "$12" "$13"), " LIMIT $14");
const BY_SHOOT: Text = chosen!(instance_columns, (any "shoot_name" "$5"), "");

/// Every statement, with the index it goes by.
#[cfg(test)]
pub(super) const LISTS: &[(Text, &str)] = &[
    (ALL.page, "instances_by_age"),
    (ALL.total, "instances_by_age"),
    (ALL.names, "instances_by_age"),
    (ALL.newest, "instances_by_age"),
    (ALL.marks, "instances_by_age"),
    (LEFT_OVER.page, "instances_left_over"),
    (LEFT_OVER.total, "instances_left_over"),
    (LEFT_OVER.names, "instances_left_over"),
    (LEFT_OVER.newest, "instances_left_over"),
    (LEFT_OVER.marks, "instances_left_over"),
    (EXPIRED.page, "instances_expired"),
    (EXPIRED.total, "instances_expired"),
    (EXPIRED.names, "instances_expired"),
    (EXPIRED.newest, "instances_expired"),
    (EXPIRED.marks, "instances_expired"),
    (OF_ACCOUNT.page, "instances_of_account"),
    (OF_ACCOUNT.total, "instances_of_account"),
    (OF_ACCOUNT.names, "instances_of_account"),
    (OF_ACCOUNT.newest, "instances_of_account"),
    (OF_ACCOUNT.marks, "instances_of_account"),
    (OF_SUBACCOUNT.page, "instances_of_subaccount"),
    (OF_SUBACCOUNT.total, "instances_of_subaccount"),
    (OF_SUBACCOUNT.names, "instances_of_subaccount"),
    (OF_SUBACCOUNT.newest, "instances_of_subaccount"),
    (OF_SUBACCOUNT.marks, "instances_of_subaccount"),
    (OF_PLAN.page, "instances_of_plan_name"),
    (OF_PLAN.total, "instances_of_plan_name"),
    (OF_PLAN.names, "instances_of_plan_name"),
    (OF_PLAN.newest, "instances_of_plan_name"),
    (OF_PLAN.marks, "instances_of_plan_name"),
    (OF_REGION.page, "instances_of_region"),
    (OF_REGION.total, "instances_of_region"),
    (OF_REGION.names, "instances_of_region"),
    (OF_REGION.newest, "instances_of_region"),
    (OF_REGION.marks, "instances_of_region"),
    (OF_STANDING.page, "instances_of_standing"),
    (OF_STANDING.total, "instances_of_standing"),
    (OF_STANDING.names, "instances_of_standing"),
    (OF_STANDING.newest, "instances_of_standing"),
    (OF_STANDING.marks, "instances_of_standing"),
    (all::ALL, ""),
    (all::OF_STANDINGS, "instances_of_standing"),
    (BY_ID, "instances"),
    (BY_RUNTIME, "instances_one_per_runtime"),
    (BY_SHOOT, "instances_of_shoot"),
    (BY_PREFIX, "instances_of_shoot"),
];

/// How to come to the instances.
enum ListStrategy {
    /// Page by page.
    Paged(Pages),
    /// All at once.
    Few(Text),
    /// Page by page, from several lists that have no instance in common.
    Merged(Vec<InstanceFilter>),
}

/// The lists to bind.
struct Lists([Option<String>; 7]);

impl InstanceFilter {
    fn way(&self) -> ListStrategy {
        let chooses = |values: &[String]| (1..=MOST_LISTS).contains(&values.len());
        match () {
            () if !self.ids.is_empty() => ListStrategy::Few(BY_ID),
            () if !self.runtimes.is_empty() => ListStrategy::Few(BY_RUNTIME),
            () if !self.shoots.is_empty() => ListStrategy::Few(BY_SHOOT),
            () if chooses(&self.subaccounts) => {
                self.by_value(&self.subaccounts, OF_SUBACCOUNT, |list, one| list.subaccounts = one)
            }
            () if chooses(&self.accounts) => {
                self.by_value(&self.accounts, OF_ACCOUNT, |list, one| list.accounts = one)
            }
            () if self.deleted == Some(true) => ListStrategy::Paged(LEFT_OVER),
            () if self.expired == Some(true) => ListStrategy::Paged(EXPIRED),
            // Few stand so; a region or a plan may have most instances.
            () if self.is_of_one_standing() => ListStrategy::Paged(OF_STANDING),
            () if self.is_of_rare_standings() => ListStrategy::Merged(self.by_standing()),
            () if chooses(&self.regions) => {
                self.by_value(&self.regions, OF_REGION, |list, one| list.regions = one)
            }
            () if chooses(&self.plans) => {
                self.by_value(&self.plans, OF_PLAN, |list, one| list.plans = one)
            }
            () => ListStrategy::Paged(ALL),
        }
    }

    /// Whether one standing chooses that is not the one of most.
    fn is_of_one_standing(&self) -> bool {
        let one = matches!(self.standings.as_deref(), Some([one]) if *one != Standing::Succeeded);
        one && !self.or_left_over
    }

    fn lists(&self) -> Lists {
        let texts = |values: &[String]| (!values.is_empty()).then(|| list(values));
        Lists([
            texts(&self.accounts),
            texts(&self.subaccounts),
            texts(&self.plans),
            texts(&self.regions),
            texts(&self.shoots),
            (!self.runtimes.is_empty()).then(|| ids(&self.runtimes)),
            texts(&self.ids),
        ])
    }

    /// Where to begin: no instance is as old, none has an empty id.
    fn start(&self) -> (Moment, &str) {
        let start = self.after.as_ref().map(|after| (after.created_at, after.id.as_str()));
        let (created_at, id) = start.unwrap_or((Timestamp::UNIX_EPOCH, ""));
        (created_at.into(), id)
    }
}

/// The conditions, bound.
macro_rules! bound {
    ($query:expr, $filter:expr) => {{
        let mut query = $query;
        for list in $filter.lists().0 {
            query = query.bind(list);
        }
        let standings = $filter.standings.as_deref().map(|chosen| {
            list(&chosen.iter().map(|standing| standing.as_str()).collect::<Vec<_>>())
        });
        query.bind($filter.deleted).bind($filter.expired).bind(standings).bind($filter.or_left_over)
    }};
}
use bound;

impl BrokerStore {
    /// A page of instances, oldest first.
    pub async fn list(&self, filter: &InstanceFilter) -> Result<Page, Error> {
        let most = filter.most as usize;
        let mut rows = match filter.way() {
            ListStrategy::Paged(pages) => self.page(filter, pages.page).await?,
            ListStrategy::Merged(lists) => {
                let (rows, next) = self.merged(filter, &lists).await?;
                return Ok(Page { next, ..self.opened(rows) });
            }
            ListStrategy::Few(text) => {
                let rows = self.few(filter, text).await?.into_iter();
                rows.skip(filter.skip as usize).take(most.saturating_add(1)).collect()
            }
        };
        let more = rows.len() > most;
        rows.truncate(most);
        let next = rows.last().filter(|_| more);
        let next =
            next.map(|last| PageKey { created_at: last.created_at.into(), id: last.id.clone() });
        Ok(Page { next, ..self.opened(rows) })
    }

    /// The readable rows of these, without a next page.
    fn opened(&self, rows: Vec<Row>) -> Page {
        let mut page = Page::default();
        for row in rows {
            let id = row.id.clone();
            match row.open(&self.sealer) {
                Ok(instance) => page.instances.push(instance),
                Err(error) => {
                    error!(instance.id = %id, error = %chain(&error), "instance cannot be read, leaving it out of a list");
                    page.unreadable.push(id);
                }
            }
        }
        page
    }

    /// How many instances there are on the pages after [`InstanceFilter::after`], all of them together.
    pub async fn total(&self, filter: &InstanceFilter) -> Result<u64, Error> {
        self.total_up_to(filter, u32::MAX).await
    }

    /// The same, counted until there are so many: what is more than that is not read.
    pub async fn total_up_to(&self, filter: &InstanceFilter, most: u32) -> Result<u64, Error> {
        let total = match filter.way() {
            ListStrategy::Paged(_) if most == u32::MAX && filter.is_all_but_some() => {
                self.all_but(filter.standings.as_deref()).await?
            }
            ListStrategy::Paged(pages) => self.count_up_to(filter, pages.total, most).await?,
            ListStrategy::Few(text) => self.few(filter, text).await?.len() as u64,
            ListStrategy::Merged(lists) => self.merged_total(&lists, most).await?,
        };
        Ok(total.min(most.into()))
    }

    async fn count_up_to(
        &self,
        filter: &InstanceFilter,
        text: Text,
        most: u32,
    ) -> Result<u64, Error> {
        let (created_at, id) = filter.start();
        let total: i64 = on!(self.database().reader(), text, |text, pool| {
            bound!(sqlx::query_scalar(text), filter)
                .bind(created_at)
                .bind(id)
                .bind(i64::from(most))
                .fetch_one(pool)
                .await
        })?;
        Ok(total.unsigned_abs())
    }

    /// One more than a page, if there are so many.
    async fn page(&self, filter: &InstanceFilter, text: Text) -> Result<Vec<Row>, Error> {
        let (created_at, id) = filter.start();
        let rows = on!(self.database().reader(), text, |text, pool| {
            bound!(sqlx::query_as(text), filter)
                .bind(created_at)
                .bind(id)
                .bind(i64::from(filter.most) + 1)
                .bind(i64::from(filter.skip))
                .fetch_all(pool)
                .await
        })?;
        Ok(rows)
    }

    /// All of a few, in order.
    async fn few(&self, filter: &InstanceFilter, text: Text) -> Result<Vec<Row>, Error> {
        let mut rows: Vec<Row> = on!(self.database().reader(), text, |text, pool| {
            bound!(sqlx::query_as(text), filter).fetch_all(pool).await
        })?;
        let start = filter.start();
        rows.retain(|row| (row.created_at, row.id.as_str()) > start);
        rows.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        Ok(rows)
    }
}
