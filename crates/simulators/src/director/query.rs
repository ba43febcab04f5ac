//! What can be asked of the Director.

#![expect(clippy::unused_async, reason = "the derive asks for async functions")]

use async_graphql::{Context, ID, Object, Result};

use super::{
    access::Visitor,
    error::Refusal,
    rules,
    types::{LabelFilter, PageCursor, PageInfo, RuntimePage, View},
};

/// How many runtimes a page holds at most.
const LARGEST_PAGE: i32 = 200;

pub(super) struct Query;

#[Object]
impl Query {
    /// One runtime; `null` if there is none.
    async fn runtime(&self, cx: &Context<'_>, id: ID) -> Result<Option<View>> {
        let (director, tenant) = Visitor::reading(cx)?;
        Ok(director.runtimes.read(|known| known.of(tenant, &id).cloned()).map(View))
    }

    /// The tenant's runtimes that fit every filter.
    async fn runtimes(
        &self,
        cx: &Context<'_>,
        filter: Option<Vec<LabelFilter>>,
        #[graphql(default = 200)] first: i32,
        after: Option<PageCursor>,
    ) -> Result<RuntimePage> {
        let (director, tenant) = Visitor::reading(cx)?;
        if !(1..=LARGEST_PAGE).contains(&first) {
            let problem = "must be between 1 and 200";
            return Err(
                Refusal::InvalidData { input: "page", field: "first".into(), problem }.into()
            );
        }
        let filter = filter.unwrap_or_default();
        let found = director.runtimes.read(|known| {
            let mut found = Vec::new();
            for runtime in known.by_id.values().filter(|runtime| runtime.tenant == tenant) {
                let mut fits = true;
                for one in &filter {
                    fits &= rules::fits(&runtime.labels, &one.key, one.query.as_deref())?;
                }
                if fits {
                    found.push(runtime.clone());
                }
            }
            Ok::<_, Refusal>(found)
        })?;

        let total_count = found.len();
        let after = after.map(|cursor| cursor.0).unwrap_or_default();
        let mut rest = found.into_iter().filter(|runtime| runtime.id > after);
        let data: Vec<View> =
            rest.by_ref().take(usize::try_from(first).unwrap_or_default()).map(View).collect();
        let end = data.last().map(|view| view.0.id.clone()).unwrap_or_default();
        let page_info = PageInfo {
            start_cursor: PageCursor(after.clone()),
            end_cursor: PageCursor(end),
            has_next_page: rest.next().is_some(),
        };
        Ok(RuntimePage { data, page_info, total_count })
    }
}
