//! Operations that make no progress for longer than they should.

use std::collections::HashMap;

use broker::operations::view::StuckOperation;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use crate::{
    names,
    words::{kind, since, span},
};

/// How many are shown.
pub(super) const SHOWN: usize = 10;

pub(super) fn card(
    stuck: &[StuckOperation],
    names: &HashMap<String, String>,
    now: Timestamp,
) -> Markup {
    html! {
        section.card aria-labelledby="stuck" {
            header { h2 #stuck { "Stuck" } span { "longer than twice the usual time, or over a limit" } }
            @if stuck.is_empty() {
                p.hint { "Nothing is stuck." }
            } @else {
                table {
                    thead { tr { th { "Runtime" } th { "Why" } th.wide { "Usually" } th.right { "For" } } }
                    tbody { @for it in stuck.iter().take(SHOWN) { (row(it, names, now)) } }
                }
                @if stuck.len() > SHOWN { p.hint { (stuck.len() - SHOWN) " more; all: " code { "kcp status -o json" } } }
            }
        }
    }
}

fn row(it: &StuckOperation, names: &HashMap<String, String>, now: Timestamp) -> Markup {
    let name = names.get(&it.instance).cloned().unwrap_or_else(|| names::short(&it.instance));
    let seconds =
        |seconds: u64| SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
    html! {
        tr id={ "stuck-" (it.operation) } {
            td {
                b { a href={ "/console/operations/" (it.operation) } title={ (it.instance) ", operation " (it.operation) } { (name) } }
                div.small.faint { (kind(&it.kind)) }
                div.small.faint { code { (it.step.as_deref().unwrap_or("not begun")) } }
            }
            td { div.why { (it.reason) } }
            td.wide { @if let Some(usual) = it.usual_seconds { (span(seconds(usual))) } @else { "–" } }
            td.right.tight { (since(it.since, now)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use broker::operations::view::{ExceededLimit, Standstill};
    use uuid::Uuid;

    use super::*;
    use crate::testing::at;

    fn stuck() -> StuckOperation {
        StuckOperation {
            operation: Uuid::nil(),
            instance: "0b4f-i".into(),
            kind: "provision".into(),
            stage: None,
            step: Some("Check_Runtime".into()),
            standing: Standstill::Failing,
            since: at(0),
            present_seconds: 60,
            usual_seconds: None,
            beyond: ExceededLimit::Limit,
            reason: "avs: unavailable".into(),
            next_try: None,
            limit_at: None,
            at_limit: None,
        }
    }

    #[test]
    fn a_stuck_operation_is_called_like_its_runtime() {
        let names = HashMap::from([("0b4f-i".to_owned(), "checkout".to_owned())]);

        let shown = card(&[stuck()], &names, at(60)).into_string();

        assert!(shown.contains(">checkout</a>") && shown.contains("Provisioning"), "{shown}");
    }

    #[test]
    fn the_usual_time_stands_beside_the_present_one_and_what_is_not_shown_is_counted() {
        let stuck = |number: u128| StuckOperation {
            operation: Uuid::from_u128(number),
            usual_seconds: Some(300),
            present_seconds: 7_200,
            ..stuck()
        };
        let all: Vec<_> = (1..=13).map(stuck).collect();

        let shown = card(&all, &HashMap::new(), at(7_200)).into_string();

        assert_eq!(shown.matches("id=\"stuck-").count(), SHOWN);
        assert!(shown.contains("3 more; all: "), "{shown}");
        assert!(shown.contains(&span(SignedDuration::from_mins(5))), "{shown}");
        assert!(shown.contains(&since(at(0), at(7_200)).into_string()), "{shown}");
        let few = card(&all[..SHOWN], &HashMap::new(), at(7_200)).into_string();
        assert!(!few.contains(" more; all: "), "{few}");
    }
}
