//! Checks after an orchestration: over the API, and in the ledger of the landscape.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use anyhow::ensure;
use base::Clock;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::super::caller::Caller;

/// How long the maintenance of the last runtimes may take to end.
const ENDING: Duration = Duration::from_mins(5);
const LOOK: Duration = Duration::from_secs(1);

/// Every runtime has one operation, and those failed that should.
pub(super) async fn operations(
    caller: &Caller,
    id: &str,
    runtimes: usize,
    failing: &BTreeSet<String>,
) -> anyhow::Result<()> {
    let (mut states, mut page) = (BTreeMap::new(), 1);
    loop {
        let path = format!("/orchestrations/{id}/operations?page={page}&page_size=100");
        let (status, found) = caller.call(Method::GET, &path, None).await?;
        ensure!(status == StatusCode::OK, "the operations are {status}: {found}");
        for operation in found["data"].as_array().into_iter().flatten() {
            let runtime = operation["runtimeID"].as_str().unwrap_or_default().to_owned();
            let state = operation["state"].as_str().unwrap_or_default().to_owned();
            ensure!(states.insert(runtime, state).is_none(), "a runtime twice: {operation}");
        }
        if found["count"] == 0 || states.len() >= runtimes {
            break;
        }
        page += 1;
    }
    ensure!(states.len() == runtimes, "{} of {runtimes} runtimes have operations", states.len());
    for (runtime, state) in states {
        let expected = if failing.contains(&runtime) { "failed" } else { "succeeded" };
        ensure!(state == expected, "runtime {runtime} is {state} and not {expected}");
    }
    Ok(())
}

/// The configurations of a runtime in the Reconciler: that of its order, and that of its upgrade.
const CONFIGURATIONS: usize = 2;

/// One operation has given the Reconciler a configuration for each runtime, and the Reconciler has had one more by it. A call that was
/// repeated brings no other configuration.
pub(super) async fn upgraded_once(caller: &Caller, runtimes: usize) -> anyhow::Result<()> {
    let mut upgraded: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in caller.changes("reconciler").await? {
        if entry["step"] == "Apply_Cluster_Configuration" {
            let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
            upgraded.entry(text("object")).or_default().insert(text("operation"));
        }
    }
    ensure!(upgraded.len() == runtimes, "{} of {runtimes} were upgraded", upgraded.len());
    let twice = upgraded.iter().find(|(_, operations)| operations.len() > 1);
    ensure!(twice.is_none(), "a runtime was upgraded twice: {twice:?}");
    let configurations = |it: &Value| it["value"]["configurations"].as_array().map(Vec::len);
    let clusters = caller.objects("reconciler", "cluster").await?;
    let wrong = clusters.iter().find(|it| configurations(it) != Some(CONFIGURATIONS));
    ensure!(
        wrong.is_none(),
        "a runtime has not had {CONFIGURATIONS} configurations: {:?}",
        wrong.map(|it| (&it["id"], &it["value"]["configurations"]))
    );
    Ok(())
}

/// Customers were notified once that it is scheduled, and for each runtime once that it begins and once that it is over; no evaluation
/// is in maintenance mode any more.
pub(super) async fn notified_once(
    caller: &Caller,
    id: &str,
    runtimes: usize,
) -> anyhow::Result<()> {
    let (clock, began) = (Clock::running(), Instant::now());
    loop {
        let left = in_maintenance(caller, id, runtimes).await?;
        if left == 0 {
            break;
        }
        ensure!(began.elapsed() < ENDING, "{left} runtimes stay in maintenance");
        clock.sleep(LOOK).await;
    }
    let suffix = format!(" event/{id}");
    let (mut created, mut updated) = (0, 0);
    for entry in caller.changes("spc").await? {
        match entry["object"].as_str().and_then(|object| object.strip_suffix(&suffix)) {
            Some("create") => created += 1,
            Some("update") => updated += 1,
            Some(other) => anyhow::bail!("customers were notified that it is {other}"),
            None => {}
        }
    }
    ensure!(
        (created, updated) == (1, 2 * runtimes),
        "customers were notified {created} times that it is scheduled and {updated} times how far a runtime is"
    );
    Ok(())
}

/// How many of the runtimes customers were not notified of the end of, and how many evaluations are in maintenance mode.
async fn in_maintenance(caller: &Caller, id: &str, runtimes: usize) -> anyhow::Result<usize> {
    let events = caller.objects("spc", "event").await?;
    let event = events.iter().find(|event| event["id"] == id);
    let tenants = event.and_then(|event| event["value"]["tenants"].as_object());
    let tenants = tenants.into_iter().flat_map(|tenants| tenants.values());
    let finished = tenants.filter(|tenant| tenant["progress"] == "finished").count();
    let evaluations = caller.objects("avs", "evaluation").await?;
    let status = |it: &&Value| it["value"]["status"] == "MAINTENANCE";
    Ok(runtimes.saturating_sub(finished) + evaluations.iter().filter(status).count())
}
