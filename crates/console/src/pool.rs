//! The pool of accounts, and what operators ask about many operations: how long the free accounts last, what is stuck, how operations
//! of each plan end, which steps are slow or fail.
//!
//! What a reader would get wrong: nothing is counted here. The numbers are those of `/answers`, and the garden is read at most twice
//! a minute, however many people look.

mod accounts;
mod steps;
mod stuck;
mod success;

use axum::extract::State;
use base::failure::chain;
use broker::{
    answers::Error,
    operations::view::{MOST_HOURS, StepOrder},
};
use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    Console,
    access::{OPERATIONS_READ, Person},
    error::PageError,
    layout::{self, Frame, Live, Section},
    names,
    query::Query,
    words::count,
};

/// How often the page looks again, in milliseconds: as often as the pool is read.
const PACE: u32 = 30_000;
/// For how many days it can be asked.
const DAYS: [u32; 3] = [7, 30, 90];
/// How many steps each list has.
const STEPS: usize = 10;

#[derive(Deserialize, Default)]
pub(crate) struct PoolQuery {
    days: Option<u32>,
}

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Query(wanted): Query<PoolQuery>,
) -> Result<Markup, PageError> {
    person.must_operate(OPERATIONS_READ)?;
    let days = wanted.days.unwrap_or(DAYS[0]);
    if !DAYS.contains(&days) {
        return Err(PageError::Bad(format!("days: {days} is none of 7, 30, 90.")));
    }
    let (answers, operations) = (&console.parts().answers, &console.parts().operations);
    let accounts = accounts::card(answers).await?;
    let present = answers.present().await?;
    let success = operations.success(days).await?;
    // Operations as a whole are among the reports, and they are the slowest.
    let most = STEPS * 2;
    let slow = operations.steps(MOST_HOURS, None, StepOrder::Slowest, most).await?;
    let failing = operations.steps(MOST_HOURS, None, StepOrder::Failing, most).await?;
    let stuck = present.stuck.iter().take(stuck::SHOWN).map(|it| it.instance.as_str());
    let names = names::by_instance(&console, &person, stuck).await;
    let now = console.now();
    let body = html! {
        div.title { h1 { "Pool and success" } }
        p.sub {
            span { "How long the accounts last, and how operations go" }
            span { (count(present.stuck_operations, "operation")) " stuck" }
        }
        div.stack {
            (accounts)
            (stuck::card(&present.stuck, &names, now))
            (success::card(&success, days, now))
            div.halves {
                (steps::card("slow", "Slowest steps", &slow))
                (steps::card("failing", "Steps that fail most", &failing))
            }
        }
    };
    let frame =
        Frame { title: "Pool and success", section: Section::Pool, live: Live::Every(PACE) };
    Ok(layout::page(&console, &person, &frame, &body))
}

impl From<Error> for PageError {
    fn from(error: Error) -> Self {
        match error {
            Error::Operations(error) => error.into(),
            Error::Jobs(error) => error.into(),
            Error::Store(_) | Error::Garden(_) => {
                tracing::warn!(error = chain(&error), "answers cannot be shown");
                Self::Unavailable("The database did not answer. Try again in a moment.".into())
            }
        }
    }
}
