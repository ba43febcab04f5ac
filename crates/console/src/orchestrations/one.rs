//! One orchestration: how far it is, how fast it goes, what failed and why, what is slow, and its operations.

use axum::extract::State;
use broker::orchestrations::{Failures, Progress, StatusItem, Wave};
use domain::orchestration::no_time;
use jiff::Timestamp;
use maud::{Markup, html};
use uuid::Uuid;

use super::{
    members::{self, Begun, MembersQuery},
    targets, title,
};
use crate::{
    Console,
    access::{OPERATIONS_READ, ORCHESTRATIONS_READ, ORCHESTRATIONS_WRITE, Person},
    error::PageError,
    forms,
    layout::{self, Frame, Live, Section},
    marks::{self, Tone, flag, message, pill},
    path::Path,
    query::Query,
    words::{count, exact, id, since, until},
};

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Path(wanted): Path<String>,
    Query(shown): Query<MembersQuery>,
) -> Result<Markup, PageError> {
    person.must_operate(ORCHESTRATIONS_READ)?;
    let all = &console.parts().orchestrations;
    let (item, progress) = tokio::try_join!(all.get(&wanted), all.progress(&wanted))?;
    let members = members::find(&console, &wanted, &shown).await?;
    let failed = progress.failures.iter().flat_map(|group| group.operations.iter().copied());
    let slow = progress.slowest.iter().map(|it| it.operation_id);
    let looked_up = failed.chain(slow).chain(members.in_doubt()).collect();
    let begun = members::begun(&console, &person, looked_up).await;
    let now = console.now();
    let name = title(item.kind, &item.parameters);
    let over = is_over(&progress);
    let body = html! {
        (layout::path(&[("/console/orchestrations", "Orchestrations")], &name))
        (heading(&person, &item, &progress, &name))
        @if let (true, Some(reason)) = (item.paused, &item.pause_reason) {
            (message(Tone::Slow, &format!("{}. What runs is seen through; nothing more is started until it is resumed.", paused(reason))))
        }
        div.stack {
            (now_card(&item, &progress, now))
            @if progress.total > 0 {
                div.two {
                    div.stack {
                        (waves(&progress.waves))
                        (failures(&person, &progress.failures, &begun))
                    }
                    div.stack {
                        @if !over && person.operates(ORCHESTRATIONS_WRITE) { (workers(&person, &progress)) }
                        (slowest(&person, &progress, &begun, now))
                    }
                }
            }
            (members::card(&console, &person, &item, &shown, &members, &begun).await)
            (parameters(&item))
        }
    };
    let live = members.live(&progress.orchestration_id.to_string());
    let live = if over { Live::Of(&wanted) } else { Live::Of(&live) };
    let frame = Frame { title: &name, section: Section::Orchestrations, live };
    Ok(layout::page(&console, &person, &frame, &body))
}

/// Why it is paused, as the beginning of a sentence.
fn paused(reason: &str) -> String {
    match reason.strip_prefix("paused") {
        Some(rest) => format!("Paused{rest}"),
        None => format!("Paused: {reason}"),
    }
}

fn is_over(progress: &Progress) -> bool {
    progress.state.parse().is_ok_and(domain::orchestration::State::is_final)
}

fn heading(person: &Person, item: &StatusItem, progress: &Progress, name: &str) -> Markup {
    let (tone, word) = marks::orchestration(&item.state, item.paused);
    let base = format!("/console/orchestrations/{}", item.orchestration_id);
    let open = !is_over(progress) && item.state != "canceling";
    let failed = !progress.failures.is_empty() && !item.state.starts_with("cancel");
    let button = |what: &str, label: &str| {
        html! {
            form method="post" action={ (base) "/" (what) } {
                (forms::word(person))
                button.button type="submit" id=(what) { (label) }
            }
        }
    };
    html! {
        div.title {
            h1 { (name) }
            (pill(tone, word))
            @if item.parameters.dry_run { (flag("dry run")) }
            span.push {}
            @if person.operates(ORCHESTRATIONS_WRITE) {
                div.acts {
                    @if failed { (button("retry", "Retry what failed")) }
                    @if open && item.paused { (button("resume", "Resume")) }
                    @if open && !item.paused { (button("pause", "Pause")) }
                    @if open { a.button.danger href={ (base) "/cancel" } { "Cancel" } }
                }
            }
        }
        p.sub {
            span { "asked for " (exact(item.created_at)) }
            span { (targets(&item.parameters)) }
            @if item.parameters.dry_run { span { "dry run: nothing is changed" } }
            span { "orchestration " (id(&item.orchestration_id.to_string())) }
        }
    }
}

fn now_card(item: &StatusItem, progress: &Progress, now: Timestamp) -> Markup {
    let (tone, _) = marks::orchestration(&item.state, item.paused);
    let percent = progress.done * 100 / progress.total.max(1);
    let begins = item.parameters.strategy.schedule_time;
    html! {
        section.card.now.(tone.class()) aria-labelledby="now" {
            div {
                h2.small.faint #now { "Progress" }
                strong #progress { (progress.done) " of " (progress.total) " runtimes" }
                p.soft { (item.description) }
                svg.gauge height="6" role="progressbar" aria-label="Runtimes that are over" aria-valuemin="0" aria-valuemax="100" aria-valuenow=(percent) {
                    rect width={ (percent) "%" } height="6" rx="3" {}
                }
            }
            dl {
                div { dt { "Rate" } dd { (progress.per_hour.filter(|rate| *rate > 0.0).map_or_else(|| "–".to_owned(), rate)) } }
                @if is_over(progress) {
                    div { dt { "Ended" } dd { (exact(item.updated_at)) } }
                } @else {
                    div { dt { "Elapsed" } dd { (since(item.created_at, now)) } }
                    div { dt { "Expected end" } dd { @if let Some(at) = progress.expected_end { (until(at, now)) } @else { "–" } } }
                    @if begins != no_time() && begins > now { div { dt { "Begins" } dd { (until(begins, now)) } } }
                }
                div { dt { "Workers" } dd { (progress.workers) } }
            }
        }
    }
}

/// Runtimes in an hour, with one digit where it is needed.
fn rate(per_hour: f64) -> String {
    if per_hour < 10.0 {
        format!("{per_hour:.1} an hour")
    } else {
        format!("{per_hour:.0} an hour")
    }
}

fn waves(waves: &[Wave]) -> Markup {
    html! {
        section.card aria-labelledby="waves" {
            header { h2 #waves { "Waves" } span { "canaries go first, alone" } }
            table {
                thead { tr { th { "Wave" } th { "Runtimes" } th { "How they stand" } } }
                tbody { @for wave in waves {
                    tr {
                        td.tight { b { (if wave.wave == "canary" { "canaries" } else { "all others" }) } }
                        td.tight { (wave.done) " of " (wave.total) }
                        td {
                            (share(wave))
                            div.acts { @for (state, number) in &wave.states {
                                @let (tone, word) = marks::member(state);
                                (pill(tone, &format!("{number} {word}")))
                            } }
                        }
                    }
                } }
            }
        }
    }
}

/// A bar with the share of each state.
fn share(wave: &Wave) -> Markup {
    let mut from = 0;
    let parts: Vec<(Tone, u64, u64)> = wave
        .states
        .iter()
        .map(|(state, number)| {
            let width = number * 1000 / wave.total.max(1);
            let part = (marks::member(state).0, from, width);
            from += width;
            part
        })
        .collect();
    html! {
        svg.lane height="10" role="presentation" {
            @for (tone, from, width) in parts {
                rect.(tone.class()) x={ (from / 10) "." (from % 10) "%" } width={ (width / 10) "." (width % 10) "%" } height="8" y="1" {}
            }
        }
    }
}

fn failures(person: &Person, failures: &[Failures], begun: &Begun) -> Markup {
    let failed = failures.iter().map(|it| it.count).sum::<u64>();
    let failed = usize::try_from(failed).unwrap_or(usize::MAX);
    html! {
        section.card aria-labelledby="failures" {
            header { h2 #failures { "What failed, by reason" } span { (count(failed, "runtime")) } }
            @if failures.is_empty() {
                p.hint { "Nothing has failed." }
            } @else {
                table {
                    thead { tr { th { "Reason" } th { "Runtimes" } th.wide { "Operations" } } }
                    tbody { @for group in failures {
                        tr {
                            td {
                                code { (group.component) @if !group.reason.is_empty() { " · " (group.reason) } }
                                div.why.small { (group.message) }
                            }
                            td.tight { (group.count) }
                            td.wide.small { @for operation in &group.operations { div { (link(person, operation, begun.name(operation), begun.has(operation))) } } }
                        }
                    } }
                }
            }
        }
    }
}

fn slowest(person: &Person, progress: &Progress, begun: &Begun, now: Timestamp) -> Markup {
    html! {
        section.card aria-labelledby="slowest" {
            header { h2 #slowest { "Running for longest" } }
            @if progress.slowest.is_empty() {
                p.hint { "Nothing runs right now." }
            } @else {
                table {
                    thead { tr { th { "Runtime" } th.right { "For" } } }
                    tbody { @for slow in &progress.slowest {
                        @let name = begun.name(&slow.operation_id).unwrap_or(&slow.shoot_name);
                        tr id={ "slow-" (slow.operation_id) } {
                            td {
                                b { @if person.operates(OPERATIONS_READ) {
                                    a href={ "/console/operations/" (slow.operation_id) } { (name) }
                                } @else { (name) } }
                                div.small.why { (slow.description) }
                            }
                            td.right.tight { (since(slow.started_at, now)) }
                        }
                    } }
                }
            }
        }
    }
}

/// The operation of a runtime: a link for users who may see operations, if it has begun.
pub(super) fn link(person: &Person, operation: &Uuid, name: Option<&str>, begun: bool) -> Markup {
    // Ids of operations begin with the time: those of one wave begin alike.
    let short: String = operation.to_string().chars().take(18).collect();
    html! {
        @if begun && person.operates(OPERATIONS_READ) {
            a href={ "/console/operations/" (operation) } title=(operation) { (name.unwrap_or(&short)) }
        } @else { span title=(operation) { (name.unwrap_or(&short)) } }
    }
}

fn workers(person: &Person, progress: &Progress) -> Markup {
    html! {
        section.card aria-labelledby="pace" {
            header { h2 #pace { "Pace" } }
            form.body.inline method="post" action={ "/console/orchestrations/" (progress.orchestration_id) "/workers" } {
                (forms::word(person))
                label for="workers" { "Runtimes at a time" }
                input #workers type="text" name="workers" inputmode="numeric" value=(progress.workers) required autocomplete="off";
                button.button type="submit" #change-workers { "Change" }
            }
        }
    }
}

fn parameters(item: &StatusItem) -> Markup {
    let text = serde_json::to_string_pretty(&item.parameters).unwrap_or_default();
    html! {
        section.card aria-labelledby="asked" {
            header { h2 #asked { "As it was asked for" } }
            details.body { summary { "Targets, strategy and versions, in the words of the API" } pre { (text) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use broker::orchestrations::Slow;

    use super::*;

    #[test]
    fn what_runs_for_longest_is_called_by_its_shoot_where_names_may_not_be_read() {
        let operation_id = Uuid::from_u128(1);
        let slow = Slow {
            operation_id,
            shoot_name: "c-308c6c3".into(),
            description: "Check_Runtime".into(),
            started_at: Timestamp::UNIX_EPOCH,
        };
        let progress = Progress {
            orchestration_id: Uuid::from_u128(2),
            kind: domain::orchestration::Kind::UpgradeKyma,
            state: "in progress".into(),
            paused: false,
            pause_reason: None,
            workers: 1,
            total: 1,
            done: 0,
            waves: Vec::new(),
            per_hour: None,
            expected_end: None,
            failures: Vec::new(),
            slowest: vec![slow],
        };
        let person = Person::developer("word".into());
        let shown = |names: &[(&str, &str)]| {
            let names = names.iter().map(|(id, name)| ((*id).to_owned(), (*name).to_owned()));
            let found = vec![(operation_id, "5b954fa8-fc34-4164-96e9-49e3b6741278".to_owned())];
            let begun = Begun::named(found, &names.collect::<HashMap<_, _>>());
            slowest(&person, &progress, &begun, Timestamp::UNIX_EPOCH).into_string()
        };

        assert!(shown(&[]).contains(">c-308c6c3</a>"), "{}", shown(&[]));
        let named = shown(&[("5b954fa8-fc34-4164-96e9-49e3b6741278", "payments")]);
        assert!(named.contains(">payments</a>"), "{named}");
    }
}
