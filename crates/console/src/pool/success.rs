//! How operations of each plan ended, by day: numbers, and a column for each day that the server draws.

use std::collections::BTreeMap;

use broker::operations::view::Success;
use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use maud::{Markup, html};

use super::DAYS;
use crate::{
    marks::{Tone, pill},
    runtimes::or_dash,
    words::kind,
};

const WIDTH: usize = 360;
const HEIGHT: i64 = 22;

/// How operations of a plan and kind ended.
#[derive(Default)]
struct Endings {
    succeeded: i64,
    failed: i64,
    canceled: i64,
    /// By day, the oldest first: succeeded and failed.
    days: Vec<(i64, i64)>,
}

pub(super) fn card(success: &[Success], days: u32, now: Timestamp) -> Markup {
    let rows = rows(success, days, TimeZone::UTC.to_datetime(now).date());
    html! {
        section.card aria-labelledby="success" {
            header { h2 #success { "Success by plan and day" } span { "today on the right, days in UTC" } }
            nav.chips.inside aria-label="Days" {
                @for some in DAYS {
                    a href={ "/console/pool?days=" (some) } aria-current=[(some == days).then_some("true")] { (some) " days" }
                }
            }
            @if rows.is_empty() {
                p.hint { "Nothing ended in these days." }
            } @else {
                table {
                    thead { tr {
                        th { "Plan" } th { "Success" } th.right.wide { "Succeeded" } th.right { "Failed" } th.right.wide { "Canceled" } th.wide { "By day" }
                    } }
                    tbody { @for ((plan, word), endings) in &rows { tr {
                        td { b { (or_dash(plan)) } div.small.faint { (kind(word)) } }
                        td.tight { (rate(endings)) }
                        td.right.wide { (endings.succeeded) }
                        td.right.bad[endings.failed > 0] { (endings.failed) }
                        td.right.wide { (endings.canceled) }
                        td.wide { (columns(endings)) }
                    } } }
                }
            }
        }
    }
}

/// One for each plan and kind, in this order.
fn rows(success: &[Success], days: u32, today: Date) -> BTreeMap<(String, String), Endings> {
    let length = days as usize;
    let first = today.saturating_sub(i64::from(days.saturating_sub(1)).days());
    let mut rows: BTreeMap<(String, String), Endings> = BTreeMap::new();
    for it in success {
        let row = rows
            .entry((it.plan.clone(), it.kind.clone()))
            .or_insert_with(|| Endings { days: vec![(0, 0); length], ..Endings::default() });
        row.succeeded += it.succeeded;
        row.failed += it.failed;
        row.canceled += it.canceled;
        let age = it.day.duration_since(first).as_hours() / 24;
        if let Some(day) = usize::try_from(age).ok().and_then(|at| row.days.get_mut(at)) {
            day.0 += it.succeeded;
            day.1 += it.failed;
        }
    }
    rows
}

fn rate(endings: &Endings) -> Markup {
    let all = endings.succeeded + endings.failed;
    let tone = match endings.failed {
        0 => Tone::Good,
        failed if failed * 20 <= all => Tone::Slow,
        _ => Tone::Bad,
    };
    html! {
        @if all == 0 { span.faint { "–" } } @else if endings.failed == 0 { (pill(tone, "100 %")) } @else {
            (pill(tone, &format!("{}.{} %", endings.succeeded * 100 / all, endings.succeeded * 1000 / all % 10)))
        }
    }
}

/// A column for each day: what failed stands on what succeeded.
fn columns(endings: &Endings) -> Markup {
    let most = endings.days.iter().map(|(good, bad)| good + bad).max().unwrap_or(0).max(1);
    let step = WIDTH / endings.days.len().max(1);
    let wide = step.saturating_sub(1).clamp(1, 14);
    let label = format!(
        "{} succeeded and {} failed in {} days, at most {most} on one day",
        endings.succeeded,
        endings.failed,
        endings.days.len()
    );
    html! {
        svg.days viewBox={ "0 0 " (WIDTH) " 24" } preserveAspectRatio="none" role="img" aria-label=(label) {
            line x1="0" x2=(WIDTH) y1="23.5" y2="23.5" {}
            @for (at, (good, bad)) in endings.days.iter().enumerate() {
                @let tall = (good * HEIGHT / most).max(i64::from(*good > 0) * 2);
                @let taller = (bad * HEIGHT / most).max(i64::from(*bad > 0) * 2);
                @if *good > 0 { rect.good x=(at * step) y=(23 - tall) width=(wide) height=(tall) {} }
                @if *bad > 0 { rect.bad x=(at * step) y=((23 - tall - taller).max(0)) width=(wide) height=(taller) {} }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(day: &str, plan: &str, succeeded: i64, failed: i64) -> Success {
        let (day, kind, plan) = (day.parse().unwrap(), "provision".into(), plan.into());
        Success { day, kind, plan, succeeded, failed, canceled: 1 }
    }

    #[test]
    fn endings_are_added_by_plan_and_stand_in_the_column_of_their_day() {
        let success = [
            ended("2026-01-07", "aws", 3, 1),
            ended("2026-01-01", "aws", 2, 0),
            ended("2025-12-31", "aws", 1, 0),
            ended("2026-01-06", "azure", 0, 4),
        ];

        let rows = rows(&success, 7, "2026-01-07".parse().unwrap());

        let aws = &rows[&("aws".into(), "provision".into())];
        assert_eq!((aws.succeeded, aws.failed, aws.canceled), (6, 1, 3));
        assert_eq!((aws.days[0], aws.days[6], aws.days.len()), ((2, 0), (3, 1), 7));
        let azure = &rows[&("azure".into(), "provision".into())];
        assert_eq!(azure.days[5], (0, 4));
    }

    #[test]
    fn a_plan_without_a_failure_is_whole_and_one_failure_in_four_is_bad() {
        let of = |succeeded, failed| {
            rate(&Endings { succeeded, failed, ..Endings::default() }).into_string()
        };

        assert!(of(3, 0).contains("100 %") && of(3, 0).contains("good"));
        assert!(of(3, 1).contains("75.0 %") && of(3, 1).contains("bad"));
        assert!(of(99, 1).contains("99.0 %") && of(99, 1).contains("slow"));
        assert!(of(0, 0).contains('–'));
    }
}
