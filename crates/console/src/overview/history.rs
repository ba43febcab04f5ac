//! How many operations ended, over time: a chart that the server draws.

use broker::operations::view::{Snapshot, State};
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use crate::words::span;

const COLUMNS: usize = 48;
const HEIGHT: usize = 84;
/// The spans that a chart may have, from the shortest.
const SPANS: [i64; 6] = [24 * 60, 60 * 60, 8 * 3_600, 48 * 3_600, 12 * 86_400, 48 * 86_400];

/// Ended operations, counted in columns of equal time; the last one ends now.
pub(super) struct History {
    columns: [(usize, usize); COLUMNS],
    length: SignedDuration,
}

impl History {
    /// Counts these, over the shortest span that has them all, or over the longest.
    pub(super) fn of(operations: &[Snapshot], now: Timestamp) -> Self {
        let ended = |it: &Snapshot| {
            let good = match it.state {
                State::Succeeded => true,
                State::Failed => false,
                _ => return None,
            };
            Some((now.duration_since(it.ended_at?).as_secs().max(0), good))
        };
        let ended: Vec<(i64, bool)> = operations.iter().filter_map(ended).collect();
        let oldest = ended.iter().map(|(age, _)| *age).max().unwrap_or_default();
        let longest = SPANS[SPANS.len() - 1];
        let length = SPANS.into_iter().find(|length| oldest < *length).unwrap_or(longest);
        let mut columns = [(0, 0); COLUMNS];
        let width = length / i64::try_from(COLUMNS).unwrap_or(1);
        for (age, good) in ended {
            let back = usize::try_from(age / width).unwrap_or(COLUMNS);
            let Some(at) = (COLUMNS - 1).checked_sub(back) else { continue };
            if good { columns[at].0 += 1 } else { columns[at].1 += 1 }
        }
        Self { columns, length: SignedDuration::from_secs(length) }
    }

    pub(super) fn card(&self) -> Markup {
        let most = self.columns.iter().map(|(good, bad)| good + bad).max().unwrap_or(0).max(1);
        let (good, bad) = self.columns.iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let told = format!(
            "{good} operations succeeded and {bad} failed in the last {}",
            span(self.length)
        );
        html! {
            section.card aria-labelledby="history" {
                header { h2 #history { "Operations that ended" } span { "last " (span(self.length)) " · the highest column is " (most) } }
                div.body {
                    svg.chart viewBox="0 0 960 112" preserveAspectRatio="none" role="img" aria-label=(told) {
                        line x1="0" x2="960" y1="100" y2="100" {}
                        @for (at, (good, bad)) in self.columns.iter().enumerate() {
                            @let (tall, taller) = (good * HEIGHT / most, bad * HEIGHT / most);
                            @if *good > 0 {
                                rect.good x=(at * 20 + 3) y=(99 - tall.max(2)) width="14" height=(tall.max(2)) rx="2" {}
                            }
                            @if *bad > 0 {
                                rect.bad x=(at * 20 + 3) y=(97usize.saturating_sub(tall + taller.max(2))) width="14" height=(taller.max(2)) rx="2" {}
                            }
                        }
                    }
                    p.small.faint { (good) " succeeded · " (bad) " failed" }
                }
            }
        }
    }
}
