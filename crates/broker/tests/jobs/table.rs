//! What becomes of a run when a call of its job fails: a table of every call of every job.
//!
//! What a reader would get wrong: what cannot be listed stops a run, which waits for an hour. What cannot be done to one candidate is in the
//! report, and the next run tries again.

use std::{collections::BTreeSet, time::Duration};

use broker::jobs::Outcome;
use engine::State;
use simulators::{
    ledger::{Filter, Phase},
    testing::tables::{ALWAYS, LASTING, lasting, passing},
    trouble::{Kind, Rule},
};

use crate::trial::{EndedRun, TriedJobs};

/// What becomes of a run whose call fails alike every time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It tries again for an hour, and fails.
    Waits,
    /// It fails at once: trying again cannot help.
    Fails,
    /// It succeeds, and has failed to act on the candidate.
    Told,
    /// It does as usual: a missing object is gone.
    Usual,
    /// It leaves the candidate alone.
    Left,
}

use End::{Fails, Left, Told, Usual, Waits};

/// Job, system, method and path of a call.
type Call = (&'static str, &'static str, &'static str, &'static str);

/// A call, the candidate that it is about (`#` is the number of the trial), and what becomes of the run for each of [`LASTING`].
type Line = (Call, &'static str, [End; 5]);

const LINES: [Line; 18] = [
    (
        ("environment-cleanup", "gardener", "GET", "*/shoots$"),
        "nobodys-#",
        [Waits, Waits, Fails, Waits, Waits],
    ),
    (
        ("environment-cleanup", "gardener", "GET", "*/shoots/*"),
        "nobodys-#",
        [Told, Told, Left, Told, Told],
    ),
    (
        ("environment-cleanup", "gardener", "PATCH", "*/shoots/*"),
        "nobodys-#",
        [Told, Told, Left, Told, Told],
    ),
    (
        ("environment-cleanup", "gardener", "DELETE", "*/shoots/*"),
        "nobodys-#",
        [Told, Told, Left, Told, Told],
    ),
    // An endpoint that is not found says nothing about the runtime: its Shoot is not deleted.
    (("environment-cleanup", "provisioner", "POST", "/"), "known-#", [Told; 5]),
    (("subaccount-cleanup", "cis", "GET", "/"), "deleted-#", [Waits, Waits, Fails, Fails, Waits]),
    (
        ("subscription-cleanup", "gardener", "GET", "*/secretbindings$"),
        "gcp-dirty-1",
        [Waits, Waits, Fails, Waits, Waits],
    ),
    (
        ("subscription-cleanup", "gardener", "GET", "*/shoots$"),
        "gcp-dirty-1",
        [Waits, Waits, Fails, Waits, Waits],
    ),
    (("subscription-cleanup", "gardener", "GET", "*/secrets/*"), "aws-dirty-1", [Told; 5]),
    (("subscription-cleanup", "gardener", "PUT", "*/secretbindings/*"), "gcp-dirty-1", [Told; 5]),
    (("subscription-cleanup", "aws", "POST", "/"), "aws-dirty-1", [Told; 5]),
    (("subscription-cleanup", "azure", "GET", "/"), "azure-dirty-1", [Told; 5]),
    (
        ("subscription-cleanup", "azure", "DELETE", "/"),
        "azure-dirty-1",
        [Told, Told, Usual, Told, Told],
    ),
    (("drift", "gardener", "GET", "*/shoots$"), "inside-#", [Waits, Waits, Fails, Waits, Waits]),
    (("drift", "provisioner", "POST", "/"), "inside-#", [Told; 5]),
    (("drift", "runtimes", "GET", "/"), "inside-#", [Told, Told, Usual, Told, Told]),
    (("binding-cleanup", "provisioner", "POST", "/"), "bound-#/b-1", [Told; 5]),
    (
        ("binding-cleanup", "runtimes", "DELETE", "/"),
        "bound-#/b-1",
        [Told, Told, Usual, Told, Told],
    ),
];

/// The next of these calls meet trouble.
fn rule((_, system, method, path): Call, calls: u64, trouble: Kind) -> Rule {
    Rule::next(calls, trouble).of(system).on(method, path)
}

/// What became of a candidate. An account in which something was left stays dirty until a later run finds it empty.
fn end_of(run: &EndedRun, item: &str) -> Result<End, String> {
    let emptied = ["aws-dirty-1", "azure-dirty-1"].contains(&item);
    match (run.state, run.outcome(item)) {
        (State::Failed, _) if run.took >= Duration::from_hours(1) => Ok(Waits),
        (State::Failed, _) => Ok(Fails),
        (State::Succeeded, Some(Outcome::Failed)) => Ok(Told),
        (State::Succeeded, Some(Outcome::Skipped)) if !emptied => Ok(Left),
        (State::Succeeded, Some(Outcome::Skipped | Outcome::Done)) => Ok(Usual),
        _ => Err(format!("{:?} {:#?}", run.tried.end, run.tried.journal)),
    }
}

/// Compares a column of the table with what happens.
async fn column(name: &str) {
    let jobs = TriedJobs::start().await;
    let at = LASTING.iter().position(|other| *other == name).unwrap();
    let mut differences = Vec::new();

    for (call, item, ends) in LINES {
        let trouble = lasting(name, (call.0, call.1, call.2));
        let run = jobs.run(call.0, vec![rule(call, ALWAYS, trouble)]).await;
        let unmet = jobs.calm();
        let met = unmet.iter().all(|rule| rule.calls < Some(ALWAYS));
        let end = end_of(&run, item);
        if !met || end != Ok(ends[at]) {
            differences.push(format!("{call:?}: met: {met}, {end:?}"));
        }
    }

    assert!(differences.is_empty(), "{name}: {differences:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_are_always_answered_with_500_end_as_the_table_says() {
    column("500").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_are_always_refused_end_as_the_table_says() {
    column("401").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_always_find_nothing_end_as_the_table_says() {
    column("404").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_always_meet_a_conflict_end_as_the_table_says() {
    column("409").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_are_always_answered_with_garbage_end_as_the_table_says() {
    column("malformed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_of_a_job_may_fail_once_in_any_way_and_the_next_run_does_the_rest() {
    let jobs = TriedJobs::start().await;

    for kind in passing() {
        for (call, item, ends) in LINES {
            let run = jobs.run(call.0, vec![rule(call, 1, kind.clone())]).await;
            let unmet = jobs.calm();
            let end = end_of(&run, item);
            // A run that waits does it all; otherwise the report says which candidate is left for the next one.
            let goes_on = end == Ok(Usual) || (end == Ok(Told) && ends[0] == Told);
            assert!(goes_on && unmet.is_empty(), "{kind:?} {call:?}: {end:?}, {unmet:?}");
        }

        for job in BTreeSet::from(LINES.map(|line| line.0.0)) {
            let next = jobs.run(job, Vec::new()).await;
            for (call, item, _) in LINES.into_iter().filter(|line| line.0.0 == job) {
                assert_eq!(end_of(&next, item), Ok(Usual), "after {kind:?}: {call:?}");
            }
            assert_eq!(next.data.report.failed, 0, "after {kind:?}: {:#?}", next.data.report);
        }
        assert_eq!(jobs.left(), Vec::<String>::new(), "after {kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_has_every_call_of_every_job() {
    let jobs = TriedJobs::start().await;
    let mut made = BTreeSet::new();

    for job in broker::jobs::names() {
        let before = calls(&jobs).len();
        jobs.run(job, Vec::new()).await;
        let of_run = calls(&jobs).into_iter().skip(before);
        made.extend(of_run.map(|(system, method)| (job.to_owned(), system, method)));
    }

    let named =
        LINES.map(|((job, system, method, _), ..)| (job.into(), system.into(), method.into()));
    assert_eq!(made, BTreeSet::from(named));
}

/// System and method of all calls that operations have made.
fn calls(jobs: &TriedJobs) -> Vec<(String, String)> {
    let filter = Filter { phase: Some(Phase::Received), ..Filter::default() };
    let all = jobs.running.landscape.ledger().all(&filter).unwrap().into_iter();
    let of_operations = all.filter(|entry| entry.about.operation.is_some());
    of_operations.map(|entry| (entry.about.system, entry.about.method)).collect()
}
