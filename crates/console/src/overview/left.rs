//! What removals have left, and what may exist outside: nothing works on it until an operator does.
//!
//! What a reader would get wrong: every call that makes something is on the list of what may exist until its answer is stored. What an
//! operation in progress has called for is therefore not counted.

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
    /// Objects that may exist, counted up to one more than [`may_exist::LISTED`].
    may_exist: u64,
}

impl Left {
    /// Counts.
    pub(super) async fn read(console: &Console, person: &Person) -> Result<Self, PageError> {
        let runtimes = if person.may(RUNTIMES_READ) {
            runtimes::incomplete(console, person).await?
        } else {
            0
        };
        let broker = &console.parts().broker;
        let may_exist = broker.may_exist_count(may_exist::LISTED + 1).await?;
        Ok(Self { runtimes, may_exist })
    }

    /// One line for each; nothing when nothing is left.
    pub(super) fn lines(self) -> Markup {
        let listed = u64::from(may_exist::LISTED);
        let (objects, more) = (self.may_exist.min(listed), self.may_exist > listed);
        let in_words =
            |number: u64, name| count(usize::try_from(number).unwrap_or(usize::MAX), name);
        let removed = in_words(self.runtimes, "runtime");
        html! {
            @if self.runtimes + objects > 0 {
                div.said.slow role="status" #left {
                    (Tone::Slow.shape())
                    div {
                        @if self.runtimes > 0 {
                            p { a href=(runtimes::incomplete_address()) { (removed) " removed with leftovers" } ": deleting again tries what is left." }
                        }
                        @if objects > 0 {
                            p { a href="/console/may-exist" { @if more { "at least " } (in_words(objects, "object")) " may exist outside" } " after a lost answer: look there, then settle what is listed." }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_counted_with_the_way_to_it_and_nothing_is_no_line() {
        let left = Left { runtimes: 2, may_exist: 1 };
        let shown = left.lines().into_string();

        for part in [
            "href=\"/console/runtimes?state=deprovisionincomplete\"",
            "2 runtimes removed with leftovers",
            "href=\"/console/may-exist\"",
            "1 object may exist outside",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let many = Left { runtimes: 0, may_exist: u64::from(may_exist::LISTED) + 1 };
        assert!(many.lines().into_string().contains("at least 100 objects may exist outside"));
        assert_eq!(Left::default().lines().into_string(), "");
    }
}
