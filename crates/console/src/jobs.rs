//! Jobs: what keeps everything clean, when each ran and runs next, what came of it; a run and a dry run by button.

use axum::{extract::State, response::Response};
use base::failure::chain;
use broker::{
    jobs::{Error, JobView, LastRun, Outcome, StartedRun},
    operations::view::State as OperationState,
};
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use serde_json::json;

use crate::{
    Console,
    access::{OPERATIONS_READ, OPERATIONS_WRITE, Person},
    audited::{Request, audited},
    error::{PageError, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    marks::{Tone, message, pill},
    path::Path,
    words::{ago, count, exact, span, until},
};

/// The card of the last dry run.
const DRY_RUN: &str = "dry-run";

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
) -> Result<Markup, PageError> {
    person.must_operate(OPERATIONS_READ)?;
    let jobs = console.parts().jobs.list().await?;
    let now = console.now();
    let body = html! {
        div.title { h1 { "Jobs" } }
        p.sub { span { "Work that is done again and again to keep everything clean. A run is an operation; a dry run tells what a run would do" } }
        section.card aria-label="Jobs" {
            table {
                thead { tr { th { "Job" } th.wide { "Last run" } th.wide { "Result" } th.wide { "Next run" } @if person.operates(OPERATIONS_WRITE) { th.right { "Run it" } } } }
                tbody { @for job in &jobs {
                    tr id={ "job-" (job.name) } {
                        td {
                            b { a href={ "/console/jobs/" (job.name) } { (job.name) } }
                            div.small.soft { (job.about) }
                            div.narrow { (last(job, now)) }
                        }
                        td.wide { (last(job, now)) }
                        td.wide.small { @if let Some(run) = job.last_usual_run() { (counts(run)) } @else { "–" } }
                        td.wide.small { (next(job, now)) }
                        @if person.operates(OPERATIONS_WRITE) { td.right.tight { (buttons(&person, job)) } }
                    }
                } }
            }
        }
    };
    let ids: Vec<String> = jobs.iter().map(|job| ids(job.name)).collect();
    let ids = ids.join(" ");
    let frame = Frame { title: "Jobs", section: Section::Jobs, live: Live::Of(&ids) };
    Ok(layout::page(&console, &person, &frame, &body))
}

pub(crate) async fn one(
    State(console): State<Console>,
    person: Person,
    Path(name): Path<String>,
) -> Result<Markup, PageError> {
    person.must_operate(OPERATIONS_READ)?;
    let job = console.parts().jobs.find(&name).await?;
    let now = console.now();
    let every = SignedDuration::from_secs(i64::try_from(job.every_seconds).unwrap_or(i64::MAX));
    let body = html! {
        (layout::path(&[("/console/jobs", "Jobs")], job.name))
        div.title {
            h1 { (job.name) }
            span.push {}
            @if person.operates(OPERATIONS_WRITE) { (buttons(&person, &job)) }
        }
        p.sub {
            span { (job.about) }
            span { "every " (span(every)) }
            span { "next run: " (next(&job, now)) }
            @if job.dry_run { span { "runs by the clock are dry runs" } }
        }
        @if let Some(why) = job.obstacle { (message(Tone::Slow, &format!("It cannot run here: {why}."))) }
        div.stack {
            (report(job.name, ("run", "The last run"), job.last_run.as_ref(), now))
            (report(job.name, (DRY_RUN, "The last dry run"), job.last_dry_run.as_ref(), now))
        }
    };
    let ids = ids(job.name);
    let frame = Frame { title: job.name, section: Section::Jobs, live: Live::Of(&ids) };
    Ok(layout::page(&console, &person, &frame, &body))
}

/// Starts a run; one that runs already is the answer.
pub(crate) async fn run(
    State(console): State<Console>,
    person: Person,
    Path(name): Path<String>,
    fields: Fields,
) -> Result<Response, PageError> {
    person.must_operate(OPERATIONS_WRITE)?;
    let dry_run = fields.ticked("dry-run");
    let running = console.parts().jobs.run(&name, dry_run, &person.name);
    let details = json!({"job": name, "dry_run": dry_run});
    let entry = Request { action: "runJob", details, ..Request::default() };
    audited(&console, &person, entry, running, |it: &StartedRun| Some(it.operation.uuid()))
        .await??;
    Ok(see(&format!("/console/jobs/{name}")))
}

/// The instance id of a job's runs.
fn ids(job: &str) -> String {
    format!("job/{job} job/{job}/dry-run")
}

/// The job that an operation is a run of.
pub(crate) fn of_instance(instance: &str) -> Option<&str> {
    instance.strip_prefix("job/")?.split('/').next()
}

fn buttons(person: &Person, job: &JobView) -> Markup {
    let button = |dry: bool| {
        html! {
            form method="post" action={ "/console/jobs/" (job.name) "/run" } {
                (forms::word(person))
                @if dry { input type="hidden" name="dry-run" value="on"; }
                button.button.tiny type="submit" aria-label={ (if dry { "Dry run of " } else { "Run " }) (job.name) } { (if dry { "Dry run" } else { "Run" }) }
            }
        }
    };
    html! { @if job.obstacle.is_none() { div.acts.end { (button(true)) (button(false)) } } @else { span.small.faint { "not here" } } }
}

fn last(job: &JobView, now: Timestamp) -> Markup {
    html! {
        @if let Some(run) = job.last_usual_run() { (mark(run)) div.small.faint { (ago(run.started_at, now)) @if job.dry_run { " (dry)" } } }
        @else { span.small.faint { "never ran" } }
    }
}

fn mark(run: &LastRun) -> Markup {
    match run.state {
        OperationState::Succeeded if run.report.failed > 0 => pill(Tone::Slow, "with failures"),
        OperationState::Succeeded => pill(Tone::Good, "succeeded"),
        OperationState::Failed => pill(Tone::Bad, "failed"),
        OperationState::Canceled => pill(Tone::Off, "canceled"),
        OperationState::Pending | OperationState::InProgress => pill(Tone::Busy, "running"),
    }
}

fn counts(run: &LastRun) -> String {
    let report = &run.report;
    format!(
        "{} looked at, {} done, {} left, {} failed",
        report.candidates, report.done, report.skipped, report.failed
    )
}

fn next(job: &JobView, now: Timestamp) -> Markup {
    html! {
        @if let Some(why) = job.obstacle { span.faint { (why) } }
        @else if let Some(at) = job.next_run_at { (until(at, now)) }
        @else if job.enabled { "it runs" }
        @else { span.faint { "only on request" } }
    }
}

fn report(job: &str, (key, title): (&str, &str), run: Option<&LastRun>, now: Timestamp) -> Markup {
    html! {
        section.card aria-labelledby=(key) {
            header {
                h2 id=(key) { (title) }
                @if let Some(run) = run { a href={ "/console/operations/" (run.operation) } { "its operation" } }
            }
            @if let Some(run) = run {
                dl.body.facts {
                    dt { "State" } dd { (mark(run)) }
                    dt { "Began" } dd { (exact(run.started_at)) }
                    dt { "Took" } dd { (span(run.ended_at.unwrap_or(now).duration_since(run.started_at))) }
                    dt { "Asked for by" } dd { (run.requested_by.as_deref().unwrap_or("the clock")) }
                    dt { "Result" } dd { (counts(run)) }
                    @if let Some(failure) = &run.failure { dt { "Failure" } dd.bad { (failure) } }
                }
                (details(job, key == DRY_RUN, run))
            } @else {
                p.hint { "There was none yet." }
            }
        }
    }
}

fn details(job: &str, is_dry: bool, run: &LastRun) -> Markup {
    let shown = |outcome: Outcome| match outcome {
        Outcome::Done => (Tone::Good, "done"),
        Outcome::WouldDo => (Tone::Busy, "would be done"),
        Outcome::Skipped => (Tone::Calm, "left"),
        Outcome::Failed => (Tone::Bad, "failed"),
    };
    let omitted = usize::try_from(run.report.omitted).unwrap_or(usize::MAX);
    html! {
        @if !run.report.details.is_empty() {
            table {
                thead { tr { th { "What" } th { "Outcome" } th { "Why" } } }
                tbody { @for detail in &run.report.details {
                    @let (tone, word) = shown(detail.outcome);
                    tr { td { span.why.mono { (detail.item) } } td.tight { (pill(tone, word)) } td { div.why { (detail.text) } } }
                } }
            }
            @if omitted > 0 { p.hint { (count(omitted, "detail")) " more; those of the newest run: " code { "kcp job " (job) @if is_dry { " --dry-run" } " --report --all" } } }
        }
    }
}

impl From<Error> for PageError {
    fn from(error: Error) -> Self {
        match &error {
            Error::Unknown(name) => Self::Missing(format!("job {name}")),
            Error::Impossible { .. } => Self::Bad(format!("{error}.")),
            Error::Operations(_) | Error::Store(_) | Error::Json(_) => {
                tracing::warn!(error = chain(&error), "jobs cannot be read or started");
                Self::Unavailable("The database did not answer. Try again in a moment.".into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use broker::jobs::{Detail, Report};

    use super::*;

    #[test]
    fn the_hint_under_each_card_is_the_command_that_shows_all_details_of_this_run() {
        let detail =
            Detail { item: "i-1".into(), outcome: Outcome::WouldDo, text: "expired".into() };
        let run = LastRun {
            operation: "01a1e00c-beff-752e-88f0-5f152fb92f8e".parse().unwrap(),
            state: OperationState::Succeeded,
            requested_by: None,
            started_at: Timestamp::UNIX_EPOCH,
            ended_at: None,
            failure: None,
            report: Report { details: vec![detail], omitted: 7, ..Report::default() },
        };

        for (key, command) in [
            ("run", "<code>kcp job drift --report --all</code>"),
            (DRY_RUN, "<code>kcp job drift --dry-run --report --all</code>"),
        ] {
            let shown = report("drift", (key, ""), Some(&run), Timestamp::UNIX_EPOCH).into_string();
            assert!(shown.contains(command), "{shown}");
        }
    }
}
