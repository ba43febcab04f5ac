//! Finding runtimes.
//!
//! What a reader would get wrong: names are in sealed rows, so that no database finds them. Ids, accounts and Shoots are looked up among
//! all runtimes; parts of names among the newest ones only, and the page says how many.

use broker::runtimes::{Detail, LARGEST_PAGE, Page, Runtime, RuntimesQuery};

use super::{RuntimesPageQuery, states};
use crate::{Console, access::Person, error::PageError, names};

const PAGE: u32 = 50;
/// How many pages of the largest size are searched for names.
const SEARCHED: u32 = 10;

/// A page of runtimes, newest first.
pub(super) struct SearchResult {
    pub(super) runtimes: Vec<Runtime>,
    /// How many fit the filters, whatever was searched for.
    pub(super) total: u64,
    /// Which page it is, from 1.
    pub(super) page: u32,
    pub(super) pages: u32,
    /// Among how many the name was searched; none without a search.
    pub(super) searched: Option<u64>,
}

pub(super) async fn find(
    console: &Console,
    person: &Person,
    wanted: &RuntimesPageQuery,
) -> Result<SearchResult, PageError> {
    let ask = RuntimesQuery {
        states: states(wanted)?,
        plans: Some(wanted.plan.clone()).filter(|plan| !plan.is_empty()).into_iter().collect(),
        detail: Detail::Last,
        ..RuntimesQuery::default()
    };
    if wanted.q.is_empty() {
        let mut number = wanted.page;
        let mut page = newest(console, person, &ask, number, PAGE).await?;
        let pages =
            u32::try_from(page.total_count.div_ceil(PAGE.into())).unwrap_or(u32::MAX).max(1);
        if number > pages {
            number = pages;
            page = newest(console, person, &ask, number, PAGE).await?;
        }
        let Page { data: runtimes, total_count: total, .. } = page;
        return Ok(SearchResult { runtimes, total, page: number, pages, searched: None });
    }
    let mut runtimes = looked_up(console, person, &ask, &wanted.q).await?;
    let words = wanted.q.to_lowercase();
    let (mut searched, mut total) = (0, 0);
    for number in 1..=SEARCHED {
        let page = newest(console, person, &ask, number, LARGEST_PAGE).await?;
        (searched, total) = (searched + page.count, page.total_count);
        for runtime in page.data.into_iter().filter(|it| fits(it, &words)) {
            if runtimes.iter().all(|known| known.instance_id != runtime.instance_id) {
                runtimes.push(runtime);
            }
        }
        if u64::from(number * LARGEST_PAGE) >= total {
            break;
        }
    }
    Ok(SearchResult { runtimes, total, page: 1, pages: 1, searched: Some(searched) })
}

async fn newest(
    console: &Console,
    person: &Person,
    ask: &RuntimesQuery,
    page: u32,
    page_size: u32,
) -> Result<Page, PageError> {
    let ask = RuntimesQuery { page, page_size, ..ask.clone() };
    Ok(console.parts().broker.newest_runtimes(&person.caller(), &ask).await?)
}

/// Runtimes that are found by a whole id, account or name of a Shoot.
async fn looked_up(
    console: &Console,
    person: &Person,
    ask: &RuntimesQuery,
    words: &str,
) -> Result<Vec<Runtime>, PageError> {
    if !words.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        return Ok(vec![]);
    }
    let word = || vec![words.to_owned()];
    let mut asks = vec![
        RuntimesQuery { instances: word(), ..ask.clone() },
        RuntimesQuery { accounts: word(), ..ask.clone() },
    ];
    // What was removed is found by these two only.
    if ask.states.iter().all(|state| !broker_knows_only_ids(*state)) {
        asks.push(RuntimesQuery { subaccounts: word(), ..ask.clone() });
        // Anything else in the name of a Shoot is a pattern, which all runtimes would be compared with.
        if words.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            asks.push(RuntimesQuery { shoots: word(), ..ask.clone() });
        }
        asks.push(RuntimesQuery { runtimes: word(), ..ask.clone() });
    }
    let mut found: Vec<Runtime> = Vec::new();
    for ask in asks {
        for runtime in console.parts().broker.runtimes(&person.caller(), &ask).await?.data {
            if found.iter().all(|known| known.instance_id != runtime.instance_id) {
                found.push(runtime);
            }
        }
    }
    Ok(found)
}

fn broker_knows_only_ids(state: broker::runtimes::StateWord) -> bool {
    "deprovisioned".parse() == Ok(state)
}

fn fits(runtime: &Runtime, words: &str) -> bool {
    let name = names::of(runtime);
    [
        &name,
        &runtime.shoot_name,
        &runtime.global_account_id,
        &runtime.sub_account_id,
        &runtime.instance_id,
        &runtime.runtime_id,
        &runtime.user_id,
    ]
    .into_iter()
    .any(|text| text.to_lowercase().contains(words))
}
