//! Steps of the operations that ended in the last seven days: how long they took, how often they failed.

use broker::operations::view::StepReport;
use maud::{Markup, html};

use super::STEPS;
use crate::{
    usual,
    words::{count, kind, span},
};

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
                    thead { tr {
                        th { "Step" }
                        @if of_failures { th.right { "Failed runs" } th.right.wide { "Runs" } }
                        @else { th.right.wide { "Median" } th.right { "95 of 100" } }
                    } }
                    tbody { @for step in steps { tr {
                        td {
                            code { (step.step.as_deref().unwrap_or_default()) }
                            div.small.faint { (kind(&step.kind)) " · " (operations(step)) }
                        }
                        @if of_failures { td.right.tight.bad { (step.failures) } td.right.tight.wide { (step.runs) } }
                        @else { td.right.tight.wide { (seconds(step.median_seconds)) } td.right.tight { (seconds(step.p95_seconds)) } }
                    } } }
                }
            }
        }
    }
}

fn operations(report: &StepReport) -> String {
    count(usize::try_from(report.operations).unwrap_or_default(), "operation")
}

fn seconds(seconds: Option<f64>) -> String {
    seconds.and_then(usual::time).map_or_else(|| "–".to_owned(), span)
}
