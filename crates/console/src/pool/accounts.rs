//! Accounts by provider: free, claimed, dirty, shared, and how long the free ones last.

use base::failure::chain;
use broker::answers::{AccountCounts, Answers, Capacity, CapacityState, Error};
use maud::{Markup, html};

use crate::{
    marks::{Tone, message, pill},
    words::exact,
};

/// The pool. A garden that does not answer takes nothing else away.
pub(super) async fn card(answers: &Answers) -> Result<Markup, Error> {
    let read = async { Ok::<_, Error>((answers.pool().await?, answers.capacity().await?)) }.await;
    let (pool, capacity) = match read {
        Ok(read) => read,
        Err(error @ Error::Garden(_)) => {
            return Ok(message(Tone::Bad, &format!("The pool cannot be read: {}.", chain(&error))));
        }
        Err(error) => return Err(error),
    };
    Ok(html! {
        section.card aria-labelledby="accounts" {
            header { h2 #accounts { "Pool of accounts" } span { "read " (exact(pool.at)) } }
            @if pool.accounts.is_empty() {
                p.hint { "The garden has no accounts: SecretBindings with the label hyperscalerType." }
            } @else {
                table {
                    thead { tr {
                        th { "Provider" } th.right { "Free" } th.right.wide { "Claimed" } th.right.wide { "Dirty" }
                        th.right.wide { "Shared" } th.wide { "Used" } th { "Lasts" }
                    } }
                    tbody { @for counts in &pool.accounts { (row(counts, &capacity.capacity)) } }
                }
            }
        }
    })
}

fn row(counts: &AccountCounts, capacity: &[Capacity]) -> Markup {
    let own =
        |it: &&Capacity| it.hyperscaler == counts.hyperscaler && it.eu_access == counts.eu_access;
    let all = counts.free + counts.used();
    html! {
        tr {
            td { b { (counts.hyperscaler) }
                @if counts.eu_access { div.small.faint { "EU access" } }
                div.small.faint.narrow { (counts.claimed) " claimed · " (counts.dirty) " dirty" }
            }
            td.right { (counts.free) }
            td.right.wide { (counts.claimed) }
            td.right.wide { (counts.dirty) }
            td.right.wide { (counts.shared) }
            td.wide { @if all > 0 {
                svg.bar role="img" aria-label={ (counts.used()) " of " (all) " used" } { rect width={ (counts.used() * 100 / all) "%" } height="6" rx="3" {} }
            } @else { span.faint { "–" } } }
            td { (lasts(capacity.iter().find(own))) }
        }
    }
}

fn lasts(capacity: Option<&Capacity>) -> Markup {
    let Some(capacity) = capacity else {
        return html! { span.small.faint { "only shared accounts" } };
    };
    let (tone, word) = match capacity.state {
        CapacityState::Empty => (Tone::Bad, "empty"),
        CapacityState::Low => (Tone::Slow, "low"),
        CapacityState::Enough if capacity.used_per_day.is_none() => (Tone::Calm, "not known yet"),
        CapacityState::Enough => (Tone::Good, "enough"),
    };
    let days = match (capacity.used_per_day, capacity.days_left) {
        (None, _) => "the rate is known after an hour".to_owned(),
        (Some(_), None) => "not shrinking".to_owned(),
        (_, Some(days)) if days < 1.0 => "less than a day".to_owned(),
        (_, Some(days)) => format!("about {days:.0} days"),
    };
    html! { (pill(tone, word)) div.small.faint { (days) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_enough_only_when_the_rate_is_known() {
        let shown = |state, used_per_day, days_left| {
            let (hyperscaler, text) = ("aws".to_owned(), String::new());
            let capacity = Capacity {
                hyperscaler,
                eu_access: false,
                free: 12,
                state,
                used_per_day,
                days_left,
                text,
            };
            lasts(Some(&capacity)).into_string()
        };

        let unknown = shown(CapacityState::Enough, None, None);
        assert!(unknown.contains("not known yet") && !unknown.contains("enough"), "{unknown}");
        let known = shown(CapacityState::Enough, Some(0.5), Some(24.0));
        assert!(known.contains("enough") && known.contains("about 24 days"), "{known}");
        let empty = shown(CapacityState::Empty, None, None);
        assert!(empty.contains("empty"), "{empty}");
    }
}
