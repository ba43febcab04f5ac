//! The timeline as it is drawn: stages are groups, a step is a line, its bars are to scale, repeated tries fold into one line.

use broker::operations::view::Snapshot;
use jiff::Timestamp;
use maud::{Markup, html};

use super::timeline::{Bar, Mark, Stage, StepLine, Timeline, Try};
use crate::{
    marks::Tone,
    usual::Usual,
    words::{clock, count, exact, span},
};

/// The narrowest bar, in thousandths.
const NARROWEST: i64 = 4;
/// How many tries are shown without being asked for.
const OPEN: usize = 3;

pub(super) fn card(
    timeline: &Timeline,
    operation: &Snapshot,
    usual: &Usual,
    now: Timestamp,
) -> Markup {
    let ticks: Vec<i64> = timeline.ticks().into_iter().map(|(at, _)| at).collect();
    let drawn = LineContext { usual, ticks: &ticks };
    html! {
        section.card.timeline aria-labelledby="timeline" {
            header {
                h2 #timeline { "Timeline" }
                span { "to scale over " (span(timeline.length)) " · " (summary(timeline)) }
            }
            (axis(timeline))
            @for stage in &timeline.stages { (drawn.group(stage)) }
            @if operation.started_at.is_none() && !operation.state.is_final() {
                p.hint { "It has not begun yet; what is to come is listed above." }
            }
            p.hint.unseen { "As of " (exact(operation.ended_at.unwrap_or(now))) }
        }
    }
}

fn summary(timeline: &Timeline) -> String {
    let of = |wanted: fn(Mark) -> bool| timeline.steps().filter(|line| wanted(line.mark)).count();
    let repeated = timeline.steps().filter(|line| line.tries.iter().any(|it| it.failed)).count();
    let parts = [
        (of(|it| it == Mark::Done), "done"),
        (repeated, "with errors"),
        (of(|it| it == Mark::PassedOver), "not needed"),
        (of(|it| it == Mark::GivenUp), "given up"),
        (of(|it| it == Mark::ToCome), "to come"),
        (of(|it| it == Mark::NotReached), "not reached"),
    ];
    let words = parts.iter().filter(|(number, _)| *number > 0);
    words.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(" · ")
}

fn axis(timeline: &Timeline) -> Markup {
    html! {
        div.axis aria-hidden="true" {
            span {}
            svg width="100%" height="16" {
                text x="0" y="12" { "0" }
                @for (at, time) in timeline.ticks() {
                    @if at < 950 { text x=(percent(at)) y="12" text-anchor="middle" { (span(time)) } }
                }
            }
            span.right { "took" }
        }
    }
}

/// What every line is drawn with.
struct LineContext<'a> {
    usual: &'a Usual,
    /// Where the axis has times, in thousandths.
    ticks: &'a [i64],
}

impl LineContext<'_> {
    fn group(&self, stage: &Stage) -> Markup {
        let all = |mark: Mark| stage.steps.iter().all(|line| line.mark == mark);
        // A stage of one step is called like it: its name would be there twice.
        let named = !matches!(&stage.steps[..], [only] if only.name == stage.name);
        html! {
            @if named { div.stage { (stage.name) @if all(Mark::ToCome) { span.faint { " · to come" } } @else if all(Mark::NotReached) { span.faint { " · not reached" } } } }
            ul.steps aria-label={ "Stage " (stage.name) } { @for line in &stage.steps { (self.step(line)) } }
        }
    }

    fn step(&self, line: &StepLine) -> Markup {
        let (tone, word) = shown(line.mark);
        let idle = matches!(line.mark, Mark::PassedOver | Mark::ToCome | Mark::NotReached);
        html! {
            li data-step=(line.name) data-mark=(word) {
                div.step.idle[idle] {
                    div.mark.(tone.class()) {
                        (tone.shape())
                        span.name title=(line.name) { (line.name) }
                        span.unseen { (word) }
                    }
                    @if let (Some(note), Mark::PassedOver) = (&line.note, line.mark) { span.because title=(note) { (note) } } @else { (self.lane(line)) }
                    span.took { @if let Some(took) = line.took() { (span(took)) } @else if line.mark == Mark::PassedOver { "not needed" } @else if let (Some(time), Mark::ToCome) = (self.usual.of_step(&line.name), line.mark) { span.faint { "usually " (span(time)) } } }
                }
                @if let (Some(note), Mark::GivenUp) = (&line.note, line.mark) { p.tries.bad { (note) } }
                @if !line.tries.is_empty() { (tries(&line.tries)) }
            }
        }
    }

    fn lane(&self, line: &StepLine) -> Markup {
        let current = matches!(line.mark, Mark::Current(_));
        html! {
            svg.lane.blank[line.bars.is_empty()] height="16" role="presentation" {
                @for at in self.ticks { line x1=(percent(*at)) x2=(percent(*at)) y1="0" y2="16" {} }
                @for (at, bar) in line.bars.iter().enumerate() {
                    @let (from, width) = extent(bar);
                    @let moving = current && at + 1 == line.bars.len();
                    rect.(bar.tone.class()).moving[moving] x=(percent(from)) width=(percent(width)) y="3" height="10" rx="3" {
                        title { (span(bar.length)) }
                    }
                }
            }
        }
    }
}

fn shown(mark: Mark) -> (Tone, &'static str) {
    match mark {
        Mark::Done => (Tone::Good, "done"),
        Mark::PassedOver => (Tone::Calm, "not needed"),
        Mark::GivenUp => (Tone::Bad, "given up"),
        Mark::Failed => (Tone::Bad, "failed"),
        Mark::Current(Tone::Slow) => (Tone::Slow, "waiting"),
        Mark::Current(Tone::Bad) => (Tone::Bad, "retrying"),
        Mark::Current(_) => (Tone::Busy, "running"),
        Mark::ToCome => (Tone::Calm, "to come"),
        Mark::NotReached => (Tone::Calm, "not reached"),
    }
}

/// Where a bar begins and how wide it is: wide enough to be seen, and inside of the lane.
fn extent(bar: &Bar) -> (i64, i64) {
    let width = (bar.to - bar.from).max(NARROWEST);
    (bar.from.min(1000 - width).max(0), width)
}

fn percent(thousandths: i64) -> String {
    format!("{}.{}%", thousandths / 10, thousandths % 10)
}

fn tries(tries: &[Try]) -> Markup {
    let failed = tries.iter().any(|one| one.failed);
    let runs: i64 = tries.iter().map(|one| one.times).sum();
    let list = html! {
        ol { @for one in tries { li {
            time datetime=(one.at) title=(exact(one.at)) { (clock(one.at)) }
            span { @if one.times > 1 { (one.times) " × " } (one.text) }
        } } }
    };
    html! {
        div.tries.bad[failed] {
            @if tries.len() <= OPEN { (list) } @else {
                details {
                    summary { (count(usize::try_from(runs).unwrap_or_default(), "run")) ", last: " (tries[tries.len() - 1].text) }
                    (list)
                }
            }
        }
    }
}
