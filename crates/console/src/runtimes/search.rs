//! Finding runtimes.
//!
//! What a reader would get wrong: names are in sealed rows, so that no database finds them. Ids, accounts and Shoots are looked up among
//! all runtimes; parts of names among the newest ones only, and the page says how many.

use broker::runtimes::{Ask, Detail, LARGEST_PAGE, Runtime};

use super::{Wanted, states};
use crate::{Console, access::Person, error::Refused, names};

const PAGE: u32 = 50;
/// How many pages of the largest size are searched for names.
const SEARCHED: u32 = 10;

/// A page of runtimes, newest first.
pub(super) struct Found {
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
    wanted: &Wanted,
) -> Result<Found, Refused> {
    let ask = Ask {
        states: states(wanted)?,
        plans: Some(wanted.plan.clone()).filter(|plan| !plan.is_empty()).into_iter().collect(),
        detail: Detail::Last,
        ..Ask::default()
    };
    let total = count(console, person, &ask).await?;
    if wanted.q.is_empty() {
        let pages = pages(total, PAGE);
        let runtimes = newest(console, person, &ask, PAGE, (wanted.page, pages)).await?;
        return Ok(Found { runtimes, total, pages, searched: None });
    }
    let mut runtimes = looked_up(console, person, &ask, &wanted.q).await?;
    let mut searched = 0;
    let pages = pages(total, LARGEST_PAGE);
    for page in 1..=pages.min(SEARCHED) {
        let some = newest(console, person, &ask, LARGEST_PAGE, (page, pages)).await?;
        searched += some.len() as u64;
        let fits = |it: &Runtime| fits(it, &wanted.q.to_lowercase());
        for runtime in some.into_iter().filter(fits) {
            if runtimes.iter().all(|known| known.instance_id != runtime.instance_id) {
                runtimes.push(runtime);
            }
        }
    }
    Ok(Found { runtimes, total, pages: 1, searched: Some(searched) })
}

/// How many runtimes fit the filters. One row comes along, which is the fewest that can be asked for.
async fn count(console: &Console, person: &Person, ask: &Ask) -> Result<u64, Refused> {
    let ask = Ask { page_size: 1, ..ask.clone() };
    Ok(console.parts().broker.runtimes(&person.caller(), &ask).await?.total_count)
}

fn pages(total: u64, size: u32) -> u32 {
    u32::try_from(total.div_ceil(u64::from(size))).unwrap_or(u32::MAX).max(1)
}

/// A page counted from the newest. The store counts from the oldest, so that it is the newest page that may be short.
async fn newest(
    console: &Console,
    person: &Person,
    ask: &Ask,
    size: u32,
    (page, pages): (u32, u32),
) -> Result<Vec<Runtime>, Refused> {
    let from_oldest = (pages + 1).saturating_sub(page).max(1);
    let ask = Ask { page: from_oldest, page_size: size, ..ask.clone() };
    let mut runtimes = console.parts().broker.runtimes(&person.caller(), &ask).await?.data;
    runtimes.reverse();
    Ok(runtimes)
}

/// What is found by the whole of an id, an account or the name of a Shoot.
async fn looked_up(
    console: &Console,
    person: &Person,
    ask: &Ask,
    words: &str,
) -> Result<Vec<Runtime>, Refused> {
    if !words.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        return Ok(vec![]);
    }
    let word = || vec![words.to_owned()];
    let mut asks =
        vec![Ask { instances: word(), ..ask.clone() }, Ask { accounts: word(), ..ask.clone() }];
    // What was removed is found by these two only.
    if ask.states.iter().all(|state| !broker_knows_only_ids(*state)) {
        asks.push(Ask { subaccounts: word(), ..ask.clone() });
        // Anything else in the name of a Shoot is a pattern, which all runtimes would be compared with.
        if words.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            asks.push(Ask { shoots: word(), ..ask.clone() });
        }
        if let Ok(id) = words.parse() {
            asks.push(Ask { runtimes: vec![id], ..ask.clone() });
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
