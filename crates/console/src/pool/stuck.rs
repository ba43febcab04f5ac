//! Operations that make no progress for longer than they should.

use broker::operations::view::StuckOperation;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use crate::words::{kind, since, span};

/// How many are shown.
const SHOWN: usize = 10;

pub(super) fn card(stuck: &[StuckOperation], now: Timestamp) -> Markup {
    html! {
        section.card aria-labelledby="stuck" {
            header { h2 #stuck { "Stuck" } span { "longer than twice the usual time, or over a limit" } }
            @if stuck.is_empty() {
                p.hint { "Nothing is stuck." }
            } @else {
                table {
                    thead { tr { th { "Operation" } th { "Why" } th.wide { "Usually" } th.right { "For" } } }
                    tbody { @for it in stuck.iter().take(SHOWN) { (row(it, now)) } }
                }
                @if stuck.len() > SHOWN { p.hint { (stuck.len() - SHOWN) " more; all: " code { "kcp status -o json" } } }
            }
        }
    }
}

fn row(it: &StuckOperation, now: Timestamp) -> Markup {
    let seconds =
        |seconds: u64| SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
    html! {
        tr id={ "stuck-" (it.operation) } {
            td {
                b { a href={ "/console/operations/" (it.operation) } { (kind(&it.kind)) } }
                div.small.faint { code { (it.step.as_deref().unwrap_or("not begun")) } }
            }
            td { div.why { (it.reason) } }
            td.wide { @if let Some(usual) = it.usual_seconds { (span(seconds(usual))) } @else { "–" } }
            td.right.tight { (since(it.since, now)) }
        }
    }
}
