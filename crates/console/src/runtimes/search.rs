//! Finding runtimes.
//!
//! What a reader would get wrong: names are in sealed rows, so that no database finds them. Ids, accounts and Shoots are looked up among
//! all runtimes; parts of names among the newest ones only, and the page says how many.

use std::ops::Range;

use broker::runtimes::{Detail, LARGEST_PAGE, Runtime, RuntimesQuery};

use super::{RuntimesPageQuery, states};
use crate::{Console, access::Person, error::PageError, names, pages};

const PAGE: u32 = 50;
/// How many pages of the largest size are searched for names.
const SEARCHED: u32 = 10;

/// A page of runtimes, newest first.
pub(super) struct SearchResult {
    pub(super) runtimes: Vec<Runtime>,
    /// How many fit the filters, whatever was searched for.
    pub(super) total: u64,
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
    let total = count(console, person, &ask).await?;
    if wanted.q.is_empty() {
        let pages = u32::try_from(total.div_ceil(u64::from(PAGE))).unwrap_or(u32::MAX).max(1);
        let rows = pages::newest(total, wanted.page.min(pages), PAGE);
        let runtimes = read(console, person, &ask, rows, PAGE).await?;
        return Ok(SearchResult { runtimes, total, pages, searched: None });
    }
    let mut runtimes = looked_up(console, person, &ask, &wanted.q).await?;
    let rows = pages::newest(total, 1, SEARCHED * LARGEST_PAGE);
    let newest = read(console, person, &ask, rows, LARGEST_PAGE).await?;
    let searched = newest.len() as u64;
    let words = wanted.q.to_lowercase();
    for runtime in newest.into_iter().filter(|it| fits(it, &words)) {
        if runtimes.iter().all(|known| known.instance_id != runtime.instance_id) {
            runtimes.push(runtime);
        }
    }
    Ok(SearchResult { runtimes, total, pages: 1, searched: Some(searched) })
}

/// How many runtimes fit the filters. One row comes along, which is the fewest that can be asked for.
async fn count(console: &Console, person: &Person, ask: &RuntimesQuery) -> Result<u64, PageError> {
    let ask = RuntimesQuery { page_size: 1, ..ask.clone() };
    Ok(console.parts().broker.runtimes(&person.caller(), &ask).await?.total_count)
}

/// Rows by their places from the oldest, newest first, read in the store's pages of this size.
async fn read(
    console: &Console,
    person: &Person,
    ask: &RuntimesQuery,
    rows: Range<u64>,
    size: u32,
) -> Result<Vec<Runtime>, PageError> {
    let mut runtimes = Vec::new();
    for piece in pages::pieces(rows, size) {
        let ask = RuntimesQuery { page: piece.page, page_size: size, ..ask.clone() };
        let page = console.parts().broker.runtimes(&person.caller(), &ask).await?;
        runtimes.extend(piece.cut(page.data));
    }
    Ok(runtimes)
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
        if let Ok(id) = words.parse() {
            asks.push(RuntimesQuery { runtimes: vec![id], ..ask.clone() });
        }
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
