//! The list of runtimes for operators: pages with their operations.
//!
//! What a reader would get wrong: the number of statements does not depend on how many runtimes are on a page. Rows,
//! operations, what operations know and configurations are read for all of them together.

pub(crate) mod configs;
mod csv;
mod export;
mod info;
mod item;
mod newest;
mod operations;
mod page_marks;
mod query;
mod shoots;
mod status;
mod view;

use std::collections::HashMap;

use uuid::Uuid;

use crate::instances::{Broker, Caller, Error, Reader};
use configs::Configs;
use item::{ItemContext, RuntimeRecord};
use operations::{OperationRecord, is_upgrade, worth_opening};
use shoots::Shoots;
use store::broker::InstanceFilter;

pub use csv::{csv_head, csv_rows};
pub use export::Export;
pub use info::RuntimeInfo;
pub(crate) use page_marks::PageMarks;
pub use query::{Detail, LARGEST_PAGE, RuntimesQuery, StateWord};
pub use view::{Group, OperationItem, Page, Runtime, Status};

/// All operations of one instance, oldest first.
type Operations = HashMap<String, Vec<OperationRecord>>;

impl Broker {
    /// A page of runtimes, oldest first; behind them those whose rows are gone, where they are asked for.
    pub async fn runtimes(&self, caller: &Caller, ask: &RuntimesQuery) -> Result<Page, Error> {
        let Some(filter) = ask.filter(caller)? else { return Ok(Page::default()) };
        let store = &self.parts().store;
        let (page, mut total) = match Shoots::read(&ask.shoots)? {
            Shoots::Named(shoots) => {
                let filter = InstanceFilter { shoots, ..filter.clone() };
                self.numbered_page(&filter).await?
            }
            Shoots::Fitting(pattern, prefixes) => {
                store.list_fitting(&filter, &prefixes, |name| pattern.is_match(name)).await?
            }
        };
        let more = page.next.is_some();
        let mut known = RuntimeRecord::of_page(page);
        if !ask.asks_for_removed() && !known.is_empty() {
            // The total may be older than the rows. Readers stop when they have as many as it says.
            total = total.max(u64::from(filter.skip) + known.len() as u64 + u64::from(more));
        }
        if ask.asks_for_removed() {
            // The total may be older than the rows. Rows behind it would take the places of removed runtimes, which the next page
            // passes over.
            let left = total.saturating_sub(filter.skip.into());
            known.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        }
        if ask.asks_for_removed() {
            let skip = u64::from(filter.skip).saturating_sub(total);
            let room = filter.most.saturating_sub(u32::try_from(known.len()).unwrap_or(u32::MAX));
            let (mut removed, more) = self.numbered_removed(&filter, skip, room).await?;
            // Its row may have gone since the rows were read.
            removed.retain(|it| known.iter().all(|known| known.instance() != it.instance));
            known.extend(removed.into_iter().map(RuntimeRecord::from_removed));
            total += more;
        }
        // A caller with access to all tenants is an operator.
        let reader = if caller.any_tenant { Reader::Operator } else { Reader::Customer };
        let data = self.runtime_items(ask, known, reader).await?;
        Ok(Page { count: data.len() as u64, data, total_count: total })
    }

    /// The instance that a runtime is of, while the instance is there.
    pub async fn instance_of(&self, runtime: Uuid) -> Result<Option<String>, Error> {
        let found = self.parts().store.find_by_runtime(runtime).await?;
        Ok(found.map(|instance| instance.id))
    }

    async fn runtime_items(
        &self,
        ask: &RuntimesQuery,
        known: Vec<RuntimeRecord>,
        reader: Reader,
    ) -> Result<Vec<Runtime>, Error> {
        let mut operations = self.operations_of(&known, ask.detail).await?;
        let configs = Configs::read(&self.parts().store, ask, &known).await?;
        let items = known.into_iter().map(|known| {
            let own = operations.remove(known.instance()).unwrap_or_default();
            known.into_item(ItemContext { broker: self, ask, configs: &configs, reader }, &own)
        });
        Ok(items.collect())
    }

    /// The operations of these instances, with the fields that are listed of them.
    async fn operations_of(
        &self,
        known: &[RuntimeRecord],
        detail: Detail,
    ) -> Result<Operations, Error> {
        let (rows, store) = (&self.parts().store, &self.parts().operations);
        let ids: Vec<&str> = known.iter().map(RuntimeRecord::instance).collect();
        let all = store.of_instances(&ids).await?;
        let upgrades: Vec<Uuid> =
            all.iter().filter(|operation| is_upgrade(operation)).map(|it| it.id).collect();
        let dry_runs = rows.dry_runs(&upgrades).await?.into_iter().collect();
        let mut grouped = Operations::new();
        for operation in all {
            let own = grouped.entry(operation.instance.clone()).or_default();
            own.push(OperationRecord::new(operation, &dry_runs));
        }
        let opened = known.iter().filter_map(|known| {
            let all = detail == Detail::All || known.is_removed();
            Some(worth_opening(grouped.get(known.instance())?, all))
        });
        let opened: Vec<&OperationRecord> = opened.flatten().collect();
        let ids = |records: &[&OperationRecord]| -> Vec<Uuid> {
            records.iter().map(|it| it.snapshot.id).collect()
        };
        let with_input: Vec<_> =
            opened.iter().copied().filter(|it| it.has_listed_input()).collect();
        let contents = store.readable_data(&ids(&opened), &ids(&with_input)).await?;
        let mut contents: HashMap<Uuid, _> =
            contents.into_iter().map(|content| (content.operation, content)).collect();
        for operation in grouped.values_mut().flatten() {
            if let Some(content) = contents.remove(&operation.snapshot.id) {
                operation.open(content);
            }
        }
        Ok(grouped)
    }
}
