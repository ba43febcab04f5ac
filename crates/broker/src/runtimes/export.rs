//! All runtimes that are asked for, a few at a time: for exports.
//!
//! What a reader would get wrong: it is no snapshot. What is ordered meanwhile may be in it or not; everything else is in it once,
//! but for what is removed meanwhile, which may be listed twice where removed runtimes are asked for. Nothing is left out: a row that
//! cannot be read is an error.

use std::collections::VecDeque;

use regex::Regex;
use store::broker::{InstanceFilter, Page, RemovedInstance};

use super::{LARGEST_PAGE, Runtime, RuntimesQuery, item::RuntimeRecord, shoots::Shoots};
use crate::instances::{Broker, Caller, Error, Reader};

/// Runtimes, page by page; between two pages it holds no connection and at most a thousand ids.
pub struct Export {
    broker: Broker,
    ask: RuntimesQuery,
    reader: Reader,
    filter: InstanceFilter,
    section: Section,
}

/// The section that is read next.
enum Section {
    /// Rows.
    Rows,
    /// Rows whose Shoot has a name that fits: those that were found, and whether there may be more.
    Fitting {
        pattern: Regex,
        found: VecDeque<String>,
        more: bool,
    },
    /// Removed instances, after this one.
    Removed(Option<RemovedInstance>),
    End,
}

impl Broker {
    /// Everything that [`Broker::runtimes`] would list on all its pages. Nothing is read yet.
    pub fn export(&self, caller: &Caller, ask: RuntimesQuery) -> Result<Export, Error> {
        let ask = RuntimesQuery { page: 1, page_size: LARGEST_PAGE, ..ask };
        let (mut filter, mut section) = match ask.filter(caller)? {
            Some(filter) => (filter, Section::Rows),
            None => (InstanceFilter::default(), Section::End),
        };
        match Shoots::read(&ask.shoots)? {
            Shoots::Named(shoots) => filter.shoots = shoots,
            Shoots::Fitting(pattern, _) if matches!(section, Section::Rows) => {
                section = Section::Fitting { pattern, found: VecDeque::new(), more: true };
            }
            Shoots::Fitting(..) => {}
        }
        let reader = if caller.any_tenant { Reader::Operator } else { Reader::Customer };
        Ok(Export { broker: self.clone(), ask, reader, filter, section })
    }
}

impl Export {
    /// The next runtimes; none at the end. An error ends it.
    pub async fn next(&mut self) -> Result<Option<Vec<Runtime>>, Error> {
        loop {
            let known = match &self.section {
                Section::Rows => self.rows().await?,
                Section::Fitting { .. } => self.fitting().await?,
                Section::Removed(_) => self.removed().await?,
                Section::End => return Ok(None),
            };
            if !known.is_empty() {
                return self.broker.runtime_items(&self.ask, known, self.reader).await.map(Some);
            }
        }
    }

    async fn rows(&mut self) -> Result<Vec<RuntimeRecord>, Error> {
        let page = self.broker.parts().store.list(&self.filter).await?;
        let next = page.next.clone();
        let known = readable(page)?;
        match next {
            Some(next) => self.filter.after = Some(next),
            None => self.section = self.behind_rows(),
        }
        Ok(known)
    }

    async fn fitting(&mut self) -> Result<Vec<RuntimeRecord>, Error> {
        let Section::Fitting { pattern, found, more } = &mut self.section else {
            return Ok(vec![]);
        };
        let store = &self.broker.parts().store;
        if found.is_empty() && *more {
            let (ids, next) =
                store.ids_fitting(&self.filter, |name| pattern.is_match(name)).await?;
            found.extend(ids);
            *more = next.is_some();
            self.filter.after = next;
        }
        let room = found.len().min(LARGEST_PAGE as usize);
        let ids: Vec<String> = found.range(..room).cloned().collect();
        let known = if ids.is_empty() {
            vec![]
        } else {
            let filter = InstanceFilter { ids, after: None, ..self.filter.clone() };
            readable(store.list(&filter).await?)?
        };
        found.drain(..room);
        if found.is_empty() && !*more {
            self.section = self.behind_rows();
        }
        Ok(known)
    }

    async fn removed(&mut self) -> Result<Vec<RuntimeRecord>, Error> {
        let Section::Removed(after) = &self.section else { return Ok(vec![]) };
        let store = &self.broker.parts().store;
        let InstanceFilter { accounts, ids, .. } = &self.filter;
        let (found, last) = if ids.is_empty() {
            let after = after.as_ref().map(RemovedInstance::key);
            let page = store.removed_page(accounts, after, 0, LARGEST_PAGE).await?;
            let last = page.last().filter(|_| page.len() == LARGEST_PAGE as usize).cloned();
            (page, last)
        } else {
            (store.removed_among(accounts, ids).await?, None)
        };
        self.section = last.map_or(Section::End, |last| Section::Removed(Some(last)));
        Ok(found.into_iter().map(RuntimeRecord::from_removed).collect())
    }

    fn behind_rows(&self) -> Section {
        if self.ask.asks_for_removed() { Section::Removed(None) } else { Section::End }
    }
}

fn readable(page: Page) -> Result<Vec<RuntimeRecord>, Error> {
    if let Some(id) = page.unreadable.first() {
        return Err(store::Error::Unreadable(format!("instance \"{id}\" of an export")).into());
    }
    Ok(page.instances.into_iter().map(RuntimeRecord::from_row).collect())
}
