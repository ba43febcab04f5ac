//! What runs, for operators: pages of runtimes with their operations.
//!
//! What a reader would get wrong: the number of statements does not depend on how many runtimes are on a page. Rows,
//! operations, what operations know and configurations are read for all of them together.

mod ask;
mod configs;
mod csv;
mod export;
mod info;
mod item;
mod numbered;
mod shoots;
mod status;
mod view;

use std::collections::HashMap;

use engine::storage::Snapshot;
use uuid::Uuid;

use crate::instances::{Broker, Caller, Error, Reader};
use configs::Configs;
use item::{Known, Telling};
use shoots::Shoots;
use store::broker::InstanceFilter;

pub use ask::{Ask, Detail, LARGEST_PAGE, StateWord};
pub use csv::{csv_head, csv_rows};
pub use export::Export;
pub use info::RuntimeInfo;
pub(crate) use numbered::Numbered;
pub use view::{Group, OperationItem, Page, Runtime, Status};

/// All operations of one instance, oldest first.
type Operations = HashMap<String, Vec<Snapshot>>;

impl Broker {
    /// A page of runtimes, oldest first; behind them those whose rows are gone, where they are asked for.
    pub async fn runtimes(&self, caller: &Caller, ask: &Ask) -> Result<Page, Error> {
        let Some(filter) = ask.filter(caller)? else { return Ok(Page::default()) };
        let store = &self.parts().store;
        let (page, mut total) = match Shoots::read(&ask.shoots)? {
            Shoots::Named(shoots) => {
                let filter = InstanceFilter { shoots, ..filter.clone() };
                self.numbered_page(&filter).await?
            }
            Shoots::Fitting(pattern, prefix) => {
                let prefix = prefix.as_deref();
                store.list_fitting(&filter, prefix, |name| pattern.is_match(name)).await?
            }
        };
        let mut known = page.instances.into_iter().map(Known::from_row).collect::<Vec<_>>();
        if ask.asks_for_removed() {
            let skip = u64::from(filter.skip).saturating_sub(total);
            let room = filter.most.saturating_sub(u32::try_from(known.len()).unwrap_or(u32::MAX));
            let (mut removed, more) =
                store.removed(&filter.accounts, &filter.ids, skip, room).await?;
            // Its row may have gone since the rows were read.
            removed.retain(|it| known.iter().all(|known| known.instance() != it.instance));
            known.extend(removed.into_iter().map(Known::from_removed));
            total += more;
        }
        // Those who see all tenants run the control plane.
        let reader = if caller.any_tenant { Reader::Operator } else { Reader::Customer };
        let data = self.runtimes_told(ask, known, reader).await?;
        Ok(Page { count: data.len() as u64, data, total_count: total })
    }

    /// The instance that a runtime is of, while the instance is there.
    pub async fn instance_of(&self, runtime: Uuid) -> Result<Option<String>, Error> {
        let found = self.parts().store.find_by_runtime(runtime).await?;
        Ok(found.map(|instance| instance.id))
    }

    async fn runtimes_told(
        &self,
        ask: &Ask,
        known: Vec<Known>,
        reader: Reader,
    ) -> Result<Vec<Runtime>, Error> {
        let mut operations = self.operations_of(&known).await?;
        let configs = Configs::read(&self.parts().store, ask, &known).await?;
        let told = known.into_iter().map(|known| {
            let own = operations.remove(known.instance()).unwrap_or_default();
            known.told(Telling { broker: self, ask, configs: &configs, reader }, &own)
        });
        Ok(told.collect())
    }

    /// The operations of these instances, with input and data where something of it is told.
    async fn operations_of(&self, known: &[Known]) -> Result<Operations, Error> {
        let store = &self.parts().operations;
        let ids: Vec<&str> = known.iter().map(Known::instance).collect();
        let mut grouped = Operations::new();
        for operation in store.of_instances(&ids).await? {
            grouped.entry(operation.instance.clone()).or_default().push(operation);
        }
        let told: Vec<Uuid> = grouped.values().flat_map(|own| status::read_closer(own)).collect();
        let contents = store.contents(&told).await?;
        let mut contents: HashMap<Uuid, _> =
            contents.into_iter().map(|content| (content.operation, content)).collect();
        for operation in grouped.values_mut().flatten() {
            if let Some(content) = contents.remove(&operation.id) {
                (operation.input, operation.data) = (content.input, content.data);
            }
        }
        Ok(grouped)
    }
}
