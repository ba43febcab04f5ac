//! What removals have left, and what may exist outside: nothing works on it until an operator does.
//!
//! What a reader would get wrong: every call that makes something is on the list of what may exist until its answer is stored. What an
//! operation in progress has called for is therefore not counted.

use std::collections::BTreeSet;

use broker::operations::view::{OperationId, Snapshot};
use futures::future::join_all;
use maud::{Markup, html};

use crate::{
    Console,
    access::{Person, RUNTIMES_READ},
    error::PageError,
    marks::Tone,
    may_exist, runtimes,
    words::count,
};

/// How much is left.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Left {
    /// Runtimes that were removed, with leftovers.
    runtimes: u64,
    /// Objects that may exist; at most [`may_exist::LISTED`], and whether there are more.
    may_exist: (usize, bool),
}

impl Left {
    /// Counts; `active` are operations in progress.
    pub(super) async fn read(
        console: &Console,
        person: &Person,
        active: &[Snapshot],
    ) -> Result<Self, PageError> {
        let runtimes = if person.may(RUNTIMES_READ) {
            runtimes::incomplete(console, person).await?
        } else {
            0
        };
        let listed = console.parts().broker.may_exist(None, may_exist::LISTED).await?;
        let callers: BTreeSet<OperationId> =
            listed.may_exist.iter().map(|it| it.operation).collect();
        let open = open(console, &callers, active).await;
        let left = listed.may_exist.iter().filter(|it| !open.contains(&it.operation)).count();
        Ok(Self { runtimes, may_exist: (left, listed.next.is_some()) })
    }

    /// One line for each; nothing when nothing is left.
    pub(super) fn lines(self) -> Markup {
        let (objects, more) = self.may_exist;
        let removed = count(usize::try_from(self.runtimes).unwrap_or(usize::MAX), "runtime");
        html! {
            @if self.runtimes + objects as u64 > 0 {
                div.said.slow role="status" #left {
                    (Tone::Slow.shape())
                    div {
                        @if self.runtimes > 0 {
                            p { a href=(runtimes::incomplete_address()) { (removed) " removed with leftovers" } ": deleting again tries what is left." }
                        }
                        @if objects > 0 {
                            p { a href="/console/may-exist" { @if more { "at least " } (count(objects, "object")) " may exist outside" } " after a lost answer: look there, then settle what is listed." }
                        }
                    }
                }
            }
        }
    }
}

/// Those of the operations that are in progress; `active` are known to be.
async fn open(
    console: &Console,
    operations: &BTreeSet<OperationId>,
    active: &[Snapshot],
) -> BTreeSet<OperationId> {
    let mut open: BTreeSet<OperationId> = active.iter().map(|it| it.id).collect();
    let view = &console.parts().operations;
    let look = |id: OperationId| async move { view.find(id).await.ok() };
    let others: Vec<OperationId> = operations.difference(&open).copied().collect();
    let found = join_all(others.into_iter().map(look)).await;
    open.extend(found.into_iter().flatten().filter(|it| !it.state.is_final()).map(|it| it.id));
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_counted_with_the_way_to_it_and_nothing_is_no_line() {
        let left = Left { runtimes: 2, may_exist: (1, false) };
        let shown = left.lines().into_string();

        for part in [
            "href=\"/console/runtimes?state=deprovisionincomplete\"",
            "2 runtimes removed with leftovers",
            "href=\"/console/may-exist\"",
            "1 object may exist outside",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert_eq!(Left::default().lines().into_string(), "");
    }
}
