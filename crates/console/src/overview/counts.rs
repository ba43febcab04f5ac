//! The numbers at the top of the overview: counted by the store, however many operations there are.

use broker::{
    answers::plan_of,
    operations::view::{OperationCount, Present, Snapshot, StandingCounts, Success},
};
use maud::{Markup, html};

use crate::{
    Console,
    error::PageError,
    marks::standing,
    words::{count, kind},
};

/// How many days of ended operations are counted.
const DAYS: u32 = 7;

/// How many operations there are.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Unfinished operations by kind, the most first.
    kinds: Vec<(String, u64)>,
    waiting: u64,
    retrying: u64,
    /// In the last days, today included.
    succeeded: u64,
    failed: u64,
}

impl Counts {
    /// Counts; `active` are all operations in progress, unless there are so many that the `present` work was counted by the store.
    pub(super) async fn read(
        console: &Console,
        active: &[Snapshot],
        present: Option<&Present>,
    ) -> Result<Self, PageError> {
        let operations = &console.parts().operations;
        // What has ended just now is counted as well. Of many, or where that fails, the background task adds the rest.
        let _ = operations.count_ended(plan_of).await;
        let unfinished = operations.unfinished().await?;
        let ended = operations.success(DAYS).await?;
        let counts = Self::of(&unfinished, &ended);
        Ok(counts.with_standing(active, present.map(|present| present.standing)))
    }

    /// With how many wait and are retried, counted by the store where not all operations are here.
    fn with_standing(self, active: &[Snapshot], present: Option<StandingCounts>) -> Self {
        let of = |word| active.iter().filter(|it| standing(it).1 == word).count() as u64;
        let (waiting, retrying) = present.map_or_else(
            || (of("waiting"), of("retrying")),
            |present| (present.waiting, present.failing),
        );
        Self { waiting, retrying, ..self }
    }

    fn of(unfinished: &[OperationCount], ended: &[Success]) -> Self {
        let mut kinds: Vec<(String, u64)> = Vec::new();
        for one in unfinished {
            match kinds.iter_mut().find(|(kind, _)| *kind == one.kind) {
                Some((_, number)) => *number += one.operations,
                None => kinds.push((one.kind.clone(), one.operations)),
            }
        }
        kinds.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
        let sum =
            |number: fn(&Success) -> i64| ended.iter().map(number).sum::<i64>().unsigned_abs();
        let (succeeded, failed) = (sum(|it| it.succeeded), sum(|it| it.failed));
        Self { kinds, succeeded, failed, ..Self::default() }
    }

    fn unfinished(&self) -> u64 {
        self.kinds.iter().map(|(_, number)| number).sum()
    }

    /// One sentence.
    pub(super) fn summary(&self) -> String {
        let all = plural(self.unfinished());
        match (self.unfinished(), self.retrying) {
            (0, _) => "Nothing is being worked on.".into(),
            (_, 0) => format!("{all} in progress, {} of them waiting.", self.waiting),
            (_, some) => format!("{all} in progress, {some} retrying after an error."),
        }
    }

    /// The first three cards.
    pub(super) fn cards(&self) -> Markup {
        let Self { retrying, succeeded, failed, .. } = self;
        let ended = succeeded + failed;
        html! {
            div.card.number { span { a href="/console/operations?state=in+progress" { "Working now" } } b { (self.unfinished()) } span { (self.by_kind()) } }
            div.card.number {
                span { a href="/console/operations?state=failed" { "Need attention" } }
                b.bad[failed + retrying > 0] { (failed + retrying) }
                span { (failed) " failed in " (DAYS) " days · " (retrying) " retrying" }
            }
            div.card.number {
                span { a href="/console/pool" { "Succeeded" } }
                b { (share(*succeeded, ended)) }
                span { (succeeded) " of " (plural(ended)) " in " (DAYS) " days" }
            }
        }
    }

    fn by_kind(&self) -> String {
        if self.kinds.is_empty() {
            return "nothing to do".into();
        }
        let words = self.kinds.iter().map(|(word, number)| {
            // Only the first letter: Kyma is a name.
            let mut name = kind(word);
            if let Some(first) = name.get_mut(..1) {
                first.make_ascii_lowercase();
            }
            format!("{number} {name}")
        });
        words.collect::<Vec<_>>().join(" · ")
    }
}

fn plural(number: u64) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), "operation")
}

/// A part in percent, cut and not rounded: one failure never looks like none.
fn share(part: u64, all: u64) -> String {
    match all {
        0 => "–".to_owned(),
        _ if all == part => "100 %".to_owned(),
        _ => format!("{}.{} %", part * 100 / all, part * 1000 / all % 10),
    }
}

#[cfg(test)]
mod tests {
    use broker::operations::view::State;

    use super::*;
    use crate::testing::{at, operation};

    #[test]
    fn counts_are_those_of_the_store_and_not_of_what_is_listed() {
        let unfinished =
            |kind: &str, state, operations| OperationCount { kind: kind.into(), state, operations };
        let ended = |day: &str, plan: &str, succeeded, failed| Success {
            day: day.parse().unwrap(),
            kind: "provision".into(),
            plan: plan.into(),
            succeeded,
            failed,
            canceled: 5,
        };

        let counts = Counts::of(
            &[
                unfinished("update", State::InProgress, 7),
                unfinished("provision", State::InProgress, 900),
                unfinished("provision", State::Pending, 100),
            ],
            &[ended("2026-01-01", "aws", 2_000, 0), ended("2026-01-02", "azure", 0, 1)],
        );

        let kinds = [("provision".to_owned(), 1_000), ("update".to_owned(), 7)];
        assert_eq!((&counts.kinds[..], counts.unfinished()), (&kinds[..], 1_007));
        assert_eq!((counts.succeeded, counts.failed), (2_000, 1));
        assert_eq!(share(counts.succeeded, 2_001), "99.9 %");
        assert_eq!(counts.summary(), "1007 operations in progress, 0 of them waiting.");
        let retrying = Counts { retrying: 3, ..counts };
        assert_eq!(retrying.summary(), "1007 operations in progress, 3 retrying after an error.");
    }

    #[test]
    fn what_waits_and_what_is_retried_is_counted_by_the_store_where_not_all_is_listed() {
        let waiting = operation("Check_Runtime");
        let retrying =
            Snapshot { waiting_since: None, failing_since: Some(at(5)), ..waiting.clone() };
        let listed = [waiting.clone(), waiting, retrying];
        let stored = StandingCounts { running: 1, due: 2, queued: 3, waiting: 40, failing: 50 };

        let few = Counts::default().with_standing(&listed, None);
        let many = Counts::default().with_standing(&listed, Some(stored));

        assert_eq!((few.waiting, few.retrying), (2, 1));
        assert_eq!((many.waiting, many.retrying), (40, 50));
    }
}
