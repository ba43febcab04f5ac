//! Which steps take longest and fail most, from the journals of the newest operations that have ended.

use std::collections::HashMap;

use broker::operations::view::{Entry, EntryEvent, Outcome, Snapshot};
use jiff::SignedDuration;
use maud::{Markup, html};

use crate::{
    Console,
    words::{count, span},
};

/// How many journals are read.
const JOURNALS: usize = 20;
/// How many steps are shown.
const SHOWN: usize = 6;

/// Figures of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepSum {
    pub(super) name: String,
    /// How long it has taken in all, and in how many operations.
    pub(super) time: SignedDuration,
    pub(super) operations: usize,
    /// How many of its runs have failed.
    pub(super) failures: i64,
}

/// The steps of the newest operations, the slowest first. A journal that cannot be read is left out.
pub(super) async fn of(console: &Console, newest: &[Snapshot]) -> Vec<StepSum> {
    let ended = newest.iter().filter(|it| it.state.is_final()).take(JOURNALS);
    let ids: Vec<_> = ended.map(|it| it.id).collect();
    let mut journals = Vec::with_capacity(ids.len());
    // One after the other: the pool of connections is for orders first.
    for id in ids {
        journals.extend(console.parts().operations.journal(id).await.ok());
    }
    sums(journals.iter().map(Vec::as_slice))
}

fn sums<'a>(journals: impl Iterator<Item = &'a [Entry]>) -> Vec<StepSum> {
    let mut steps: HashMap<&str, StepSum> = HashMap::new();
    for journal in journals {
        let runs: Vec<&Entry> = journal.iter().filter(|it| it.event == EntryEvent::Run).collect();
        let mut met: Vec<&str> = Vec::new();
        for (at, run) in runs.iter().enumerate() {
            let Some(step) = run.step.as_deref() else { continue };
            let goes_on = matches!(run.outcome, Some(Outcome::Wait | Outcome::Transient));
            let until = match runs.get(at + 1) {
                Some(next) if goes_on => next.began_at,
                _ => run.ended_at,
            };
            let sum = steps.entry(step).or_insert_with(|| StepSum {
                name: step.to_owned(),
                time: SignedDuration::ZERO,
                operations: 0,
                failures: 0,
            });
            sum.time += until.duration_since(run.began_at);
            let failed = run.failure.is_some() && run.outcome != Some(Outcome::Wait);
            sum.failures += if failed { run.times } else { 0 };
            if !met.contains(&step) {
                met.push(step);
                sum.operations += 1;
            }
        }
    }
    let mut steps: Vec<StepSum> = steps.into_values().collect();
    steps.sort_by(|one, other| {
        (other.failures, other.mean(), &one.name).cmp(&(one.failures, one.mean(), &other.name))
    });
    steps
}

impl StepSum {
    fn mean(&self) -> SignedDuration {
        let operations = i32::try_from(self.operations.max(1)).unwrap_or(i32::MAX);
        self.time / operations
    }
}

pub(super) fn card(steps: &[StepSum]) -> Markup {
    let longest = steps.iter().map(|it| it.mean().as_millis()).max().unwrap_or(1).max(1);
    html! {
        section.card aria-labelledby="slowest" {
            header { h2 #slowest { "Failing and slow steps" } span { "newest " (JOURNALS) " that ended · " a href="/console/pool#slow" { "last 7 days" } } }
            @if steps.is_empty() {
                p.hint { "Nothing has ended yet." }
            } @else {
                table {
                    thead { tr { th { "Step" } th { "Mean time" } th.right { "Failed runs" } } }
                    tbody {
                        @for step in steps.iter().take(SHOWN) {
                            tr {
                                td { code { (step.name) } div.small.faint { "in " (count(step.operations, "operation")) } }
                                td {
                                    span.nowrap { (span(step.mean())) }
                                    svg.bar role="presentation" {
                                        rect width={ (step.mean().as_millis() * 100 / longest) "%" } height="6" rx="3" {}
                                    }
                                }
                                td.right.bad[step.failures > 0] { (step.failures) }
                            }
                        }
                    }
                }
            }
        }
    }
}
