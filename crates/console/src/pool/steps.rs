//! Steps of the operations that ended in the last seven days: how long they took, how often they failed.

use std::time::Duration;

use broker::operations::view::StepReport;
use jiff::SignedDuration;
use maud::{Markup, html};

use super::STEPS;
use crate::words::{kind, span};

pub(super) fn card(key: &str, title: &str, reports: &[StepReport]) -> Markup {
    let of_failures = key == "failing";
    let wanted = |it: &&StepReport| it.step.is_some() && (!of_failures || it.failures > 0);
    let steps: Vec<&StepReport> = reports.iter().filter(wanted).take(STEPS).collect();
    html! {
        section.card aria-labelledby=(key) {
            header { h2 id=(key) { (title) } span { "last 7 days" } }
            @if steps.is_empty() {
                p.hint { @if of_failures { "No step has failed." } @else { "Nothing has ended yet." } }
            } @else {
                table {
                    thead { tr { th { "Step" } th.right { "Median" } th.right { "95 of 100" } th.right { "Failed runs" } } }
                    tbody { @for step in steps { (row(step)) } }
                }
            }
        }
    }
}

fn row(report: &StepReport) -> Markup {
    html! {
        tr {
            td {
                code { (report.step.as_deref().unwrap_or_default()) }
                div.small.faint { (kind(&report.kind)) " · " (report.operations) " operations" }
            }
            td.right.tight { (seconds(report.median_seconds)) }
            td.right.tight { (seconds(report.p95_seconds)) }
            td.right.tight { @if report.failures > 0 { span.bad { (report.failures) } " of " (report.runs) } @else { "0" } }
        }
    }
}

fn seconds(seconds: Option<f64>) -> String {
    let time = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
    let time = time.and_then(|it| SignedDuration::try_from(it).ok());
    time.map_or_else(|| "–".to_owned(), span)
}
