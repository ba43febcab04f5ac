//! Shared by the fault tables of plans: lasting and passing faults, and the calls that were made.
//!
//! What a reader would get wrong: a table has a line for each step, system and method. A step with several calls under one
//! line has all of them fail alike when a failure lasts, and the first of them when it passes.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    landscape::Landscape,
    ledger::{Entry, Filter, Phase},
    trouble::{Cut, Kind, Rule},
};

/// Calls of a step: its name, the system that it calls, and the method.
pub type Call = (&'static str, &'static str, &'static str);

/// The ways in which a call fails every time: the columns of a table.
pub const LASTING: [&str; 5] = ["500", "401", "404", "409", "malformed"];

/// The number that means all calls.
pub const ALWAYS: u64 = 1_000_000;

/// The systems that speak as Kubernetes does.
const CLUSTERS: [&str; 3] = ["control-plane", "gardener", "runtimes"];

/// A way to fail that lasts, as the system would put it.
///
/// # Panics
///
/// When it is not one of [`LASTING`].
pub fn lasting(name: &str, (_, system, method): Call) -> Kind {
    let status = |status| Kind::Status { status, body: None };
    let said = |code: u16, reason: &str| {
        let body = json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
            "reason": reason, "message": "as the table says", "details": {"name": "it"},
        });
        Kind::Status { status: code, body: Some(body.to_string()) }
    };
    let in_cluster = CLUSTERS.contains(&system);
    match name {
        "404" if in_cluster => said(404, "NotFound"),
        "409" if in_cluster && method == "POST" => said(409, "AlreadyExists"),
        "409" if in_cluster => said(409, "Conflict"),
        "500" => status(500),
        "401" => status(401),
        "404" => status(404),
        "409" => status(409),
        "malformed" => Kind::Malformed { body: None },
        other => panic!("\"{other}\" is no column of the table"),
    }
}

/// Ways to fail that pass. Every call may meet each of them once.
pub fn passing() -> Vec<Kind> {
    vec![
        Kind::Status { status: 500, body: None },
        Kind::Status { status: 502, body: None },
        Kind::Status { status: 401, body: None },
        Kind::Busy { retry_after_seconds: 7, as_date: false },
        Kind::Reset { when: Cut::BeforeHeaders },
        Kind::Reset { when: Cut::InBody },
        Kind::LostAnswer { status: None },
        Kind::LostAnswer { status: Some(500) },
        Kind::Malformed { body: None },
        Kind::Truncated,
        Kind::Duplicate,
    ]
}

/// The next of these calls meet trouble.
pub fn rule((step, system, method): Call, calls: u64, trouble: &Kind) -> Rule {
    Rule::next(calls, trouble.clone()).of(system).on(method, "/").from_step(step)
}

/// All calls that the steps of an operation have made. A provisioner has operations of its own.
///
/// # Panics
///
/// When the ledger cannot be read.
pub fn calls(landscape: &Landscape, operation: &str) -> BTreeSet<(String, String, String)> {
    let (operation, phase) = (Some(operation.to_owned()), Some(Phase::Received));
    let filter = Filter { operation, phase, ..Filter::default() };
    let all = landscape.ledger().all(&filter).expect("the ledger is readable");
    let call = |Entry { about, .. }: Entry| Some((about.step?, about.system, about.method));
    all.into_iter().filter_map(call).collect()
}

/// The same calls in the ledger's words.
pub fn named(calls: impl IntoIterator<Item = Call>) -> BTreeSet<(String, String, String)> {
    let owned = |(step, system, method): Call| (step.into(), system.into(), method.into());
    calls.into_iter().map(owned).collect()
}
