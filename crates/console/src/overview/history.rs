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
    /// The time that one column stands for.
    column: SignedDuration,
}

impl History {
    /// Counts these, over the shortest span that has them all, or over the longest. `more` are older than these and not among them: then only
    /// the time since the oldest of these is known.
    pub(super) fn of(operations: &[Snapshot], more: bool, now: Timestamp) -> Self {
        let age = |at: Timestamp| now.duration_since(at).max(SignedDuration::ZERO);
        let ended = |it: &Snapshot| {
            let good = match it.state {
                State::Succeeded => true,
                State::Failed => false,
                _ => return None,
            };
            Some((age(it.ended_at?), good))
        };
        let ended: Vec<(SignedDuration, bool)> = operations.iter().filter_map(ended).collect();
        let spans = SPANS.map(SignedDuration::from_secs);
        let oldest = ended.iter().map(|(age, _)| *age).max().unwrap_or_default();
        let known = operations.iter().map(|it| age(it.created_at)).max().filter(|_| more);
        let whole = spans.into_iter().find(|length| oldest < *length);
        let whole = whole.unwrap_or(spans[SPANS.len() - 1]);
        let length = known.unwrap_or(whole).min(whole).max(SignedDuration::from_secs(1));
        let mut columns = [(0, 0); COLUMNS];
        let width = (length.as_millis() / i128::try_from(COLUMNS).unwrap_or(1)).max(1);
        for (age, good) in ended {
            let back = usize::try_from(age.as_millis() / width).unwrap_or(COLUMNS);
            let Some(at) = (COLUMNS - 1).checked_sub(back) else { continue };
            if good { columns[at].0 += 1 } else { columns[at].1 += 1 }
        }
        let column = SignedDuration::from_millis(i64::try_from(width).unwrap_or(i64::MAX));
        Self { columns, length, column }
    }

    pub(super) fn card(&self) -> Markup {
        let most = self.columns.iter().map(|(good, bad)| good + bad).max().unwrap_or(0).max(1);
        let (good, bad) = self.columns.iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let length = span(self.length);
        let label = format!("{good} operations succeeded and {bad} failed in the last {length}");
        html! {
            section.card aria-labelledby="history" {
                header { h2 #history { "Throughput and success" } span { (good) " succeeded · " (bad) " failed" } }
                div.body {
                    svg.chart viewBox="0 0 960 104" preserveAspectRatio="none" role="img" aria-label=(label) {
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
                    p.ends { span { (length) " ago" } span { "at most " (most) " in " (span(self.column)) } span { "now" } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, operation};

    fn ended(created: i64, ended: i64, state: State) -> Snapshot {
        let (created_at, ended_at) = (at(created), Some(at(ended)));
        Snapshot { created_at, ended_at, state, ..operation("Step") }
    }

    #[test]
    fn what_ended_is_counted_in_the_column_of_its_time() {
        let operations = [
            ended(-20, -10, State::Succeeded),
            ended(-20, -10, State::Failed),
            ended(-900, -720, State::Succeeded),
            ended(-900, -1, State::Canceled),
            operation("Step"),
        ];

        let history = History::of(&operations, false, at(0));

        assert_eq!(history.length, SignedDuration::from_mins(24));
        assert_eq!(history.column, SignedDuration::from_secs(30));
        assert_eq!((history.columns[47], history.columns[23]), ((1, 1), (1, 0)));
        let all = history.columns.iter().fold(0, |sum, (good, bad)| sum + good + bad);
        assert_eq!(all, 3);
    }

    #[test]
    fn a_list_that_was_cut_off_is_not_shown_as_a_time_in_which_nothing_ended() {
        let operations = [ended(-96, -90, State::Succeeded), ended(-50, -48, State::Succeeded)];

        let history = History::of(&operations, true, at(0));

        assert_eq!(history.length, SignedDuration::from_secs(96));
        assert_eq!((history.columns[2], history.columns[23]), ((1, 0), (1, 0)));
    }
}
