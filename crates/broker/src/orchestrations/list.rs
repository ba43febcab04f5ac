//! Orchestrations and their operations, page by page.
//!
//! What a reader would get wrong: a request for failed operations has one page, whatever its size, with the failed ones behind those in other
//! states. Known clients leave the word out of the requests for the pages that follow, and stop once they have as many as the newest
//! answer counts. What failed and was tried again has not failed.

use serde::Serialize;
use store::broker::MemberFilter;

use super::{OperationDetail, OperationItem, Orchestrations, StatusItem, parameters, view::item};
use crate::instances::Error;

/// The most on one page.
pub const LARGEST_PAGE: u32 = 100;
/// More operations than an orchestration has.
const ALL: u32 = 1_000_000;
const FAILED: &str = "failed";

/// Which page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// From 1.
    pub page: u32,
    /// How many are on a page.
    pub page_size: u32,
    /// In these states; in any when there is none.
    pub states: Vec<String>,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { page: 1, page_size: LARGEST_PAGE, states: Vec::new() }
    }
}

impl PageRequest {
    fn skip(&self) -> u32 {
        self.page.saturating_sub(1).saturating_mul(self.page_size)
    }
}

/// One page.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageOf<T> {
    /// The items of the page.
    pub data: Vec<T>,
    /// How many those are.
    pub count: u64,
    /// How many there are on all pages.
    pub total_count: u64,
}

impl<T> PageOf<T> {
    fn new(data: Vec<T>, total_count: u64) -> Self {
        Self { count: data.len() as u64, data, total_count }
    }
}

impl Orchestrations {
    /// A page of orchestrations, oldest first.
    pub async fn list(&self, request: &PageRequest) -> Result<PageOf<StatusItem>, Error> {
        let (rows, total) =
            self.store().orchestrations(&request.states, request.skip(), request.page_size).await?;
        let items: Result<Vec<_>, _> =
            rows.into_iter().map(|row| self.0.status(row, None)).collect();
        Ok(PageOf::new(items?, total))
    }

    /// One orchestration, with how many runtimes are how far.
    pub async fn get(&self, id: &str) -> Result<StatusItem, Error> {
        let row = self.find(id, "getting").await?;
        let counts = self.store().orchestration_counts(row.id).await?;
        self.0.status(row, Some(&counts))
    }

    /// A page of the operations of an orchestration, in their order.
    pub async fn operations(
        &self,
        id: &str,
        request: &PageRequest,
    ) -> Result<PageOf<OperationItem>, Error> {
        let row = self.find(id, "getting").await?;
        let dry_run = parameters(&row)?.dry_run;
        let filter = |states, current, skip, most| MemberFilter {
            orchestration: row.id,
            states,
            current,
            skip,
            most,
        };
        let asks_for_failed = request.states.iter().any(|state| state == FAILED);
        let others: Vec<String> =
            request.states.iter().filter(|state| *state != FAILED).cloned().collect();
        let (skip, most) = match (asks_for_failed, request.page) {
            (true, 1) => (0, ALL),
            (true, _) => (0, 0),
            _ => (request.skip(), request.page_size),
        };
        let (mut members, mut total) = (Vec::new(), 0);
        if !(asks_for_failed && others.is_empty()) {
            let page = self.store().members(&filter(others, false, skip, most)).await?;
            (members, total) = (page.members, page.total);
        }
        if asks_for_failed {
            let failed = self.store().members(&filter(vec![FAILED.into()], true, 0, most)).await?;
            members.extend(failed.members);
            total += failed.total;
        }
        Ok(PageOf::new(members.into_iter().map(|member| item(member, dry_run)).collect(), total))
    }

    /// One operation of an orchestration.
    pub async fn operation(&self, id: &str, operation: &str) -> Result<OperationDetail, Error> {
        let row = self.find(id, "getting").await?;
        let found = match operation.parse() {
            Ok(operation) => self.store().member(operation).await?,
            Err(_) => None,
        };
        let member = found.filter(|member| member.orchestration == row.id).ok_or_else(|| {
            Error::NotFound(format!(
                "while getting upgrade operation {operation}: orchestration {id} has no such operation"
            ))
        })?;
        self.0.detail(&row, member).await
    }
}
