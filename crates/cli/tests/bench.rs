//! The benchmark itself: a short run has to produce every figure. It judges none of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/mod.rs"]
mod support;

use std::{collections::BTreeSet, fs};

use assert_cmd::Command;
use serde_json::Value;
use support::{KCP, free_ports, start};

#[test]
fn a_short_run_produces_every_figure() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("figures.json");
    let mut kcp = Command::new(env!("CARGO_BIN_EXE_kcp"));
    kcp.args(["bench", "engine", "--short", "--output"]).arg(&output);
    if let Some(binaries) = std::env::var_os("KCP_TEST_POSTGRES_BIN") {
        kcp.arg("--postgres-bin").arg(binaries);
    }

    kcp.assert().success();

    let report: Value = serde_json::from_slice(&fs::read(&output).unwrap()).unwrap();
    let figures = report["figures"].as_array().unwrap();
    let ids: BTreeSet<&str> = figures.iter().map(|figure| figure["id"].as_str().unwrap()).collect();
    let expected = [
        "B1", "B1a", "B2", "B3", "B6", "B6a", "B6b", "B6b2", "B6c", "B7", "B7a", "B8", "B8a",
        "B13", "B14", "B15", "B18",
    ];
    assert_eq!(ids, BTreeSet::from(expected));
    for figure in figures {
        // JSON has no word for what is not a number. CPU is counted in ticks: on a busy machine a short run may catch none.
        let no_tick = figure["baseline_value"]["value"] == 0.0;
        assert!(figure["ratio"].is_number() || no_tick, "{figure}");
    }
}

#[test]
fn an_unknown_figure_is_refused_before_anything_starts() {
    let output = Command::new(env!("CARGO_BIN_EXE_kcp"))
        .args(["bench", "engine", "--only", "B99"])
        .assert()
        .failure()
        .get_output()
        .clone();

    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "Error: \"B99\" is not a figure of this benchmark\n");
}

#[test]
fn orders_succeed_once_each_while_replicas_are_killed() {
    let mut kcp = Command::new(env!("CARGO_BIN_EXE_kcp"));
    kcp.args(["bench", "orders", "--orders", "50", "--kill-every", "5"]);
    if let Some(binaries) = std::env::var_os("KCP_TEST_POSTGRES_BIN") {
        kcp.arg("--postgres-bin").arg(binaries);
    }

    // It fails by itself when an order does not succeed, a cluster is made twice, or anything is left.
    let output = kcp.assert().success().get_output().stdout.clone();

    let said = String::from_utf8(output).unwrap();
    assert!(said.starts_with("50 orders at once to 3 replicas"), "{said}");
    assert!(!said.contains(" 0 of them killed"), "{said}");
    for nothing in ["broker 0.0 ms", "provisioner 0.0 ms", " 0 commits"] {
        assert!(!said.contains(nothing), "{said}");
    }
}

#[test]
fn orders_changes_and_removals_at_once_succeed_while_replicas_are_killed() {
    let mut kcp = Command::new(env!("CARGO_BIN_EXE_kcp"));
    kcp.args(["bench", "mixed", "--each", "10", "--updates", "20", "--kill-every", "5"]);
    if let Some(binaries) = std::env::var_os("KCP_TEST_POSTGRES_BIN") {
        kcp.arg("--postgres-bin").arg(binaries);
    }

    // It fails by itself when an operation does not succeed, a cluster is made twice, or anything is left.
    let output = kcp.assert().success().get_output().stdout.clone();

    let said = String::from_utf8(output).unwrap();
    assert!(
        said.starts_with("10 orders, 10 changes and 10 removals at once to 3 replicas"),
        "{said}"
    );
    assert!(said.contains("20 changes of one instance: all succeeded"), "{said}");
}

#[test]
fn lists_of_generated_instances_are_measured_and_find_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("figures.json");
    let mut kcp = Command::new(env!("CARGO_BIN_EXE_kcp"));
    kcp.args(["bench", "reads", "--instances", "1000", "--times", "3", "--output"]).arg(&output);
    if let Some(binaries) = std::env::var_os("KCP_TEST_POSTGRES_BIN") {
        kcp.arg("--postgres-bin").arg(binaries);
    }

    // It fails by itself when an answer is none, or when an export does not have what the pages have.
    kcp.assert().success();

    let report: Value = serde_json::from_slice(&fs::read(&output).unwrap()).unwrap();
    let figure = |question: &str| {
        let figures = report["figures"].as_array().unwrap();
        figures.iter().find(|figure| figure["question"] == question).unwrap().clone()
    };
    assert_eq!(figure("all states")["found"], 970);
    assert_eq!(figure("state failed")["found"], 20);
    assert_eq!(figure("rare region")["found"], 2);
    assert_eq!(figure("nobody: plan")["found"], 0);
    for question in ["random page", "last page", "subaccount", "nobody: region"] {
        assert!(figure(question)["ratio"].is_number(), "{question}");
    }
    assert_eq!(report["exported"], figure("first page")["found"]);
    let pages = report["pages"].as_array().unwrap();
    for page in [
        "overview",
        "runtimes, last page",
        "a runtime",
        "an operation",
        "audit",
        "an orchestration",
    ] {
        let page = pages.iter().find(|it| it["page"] == page).unwrap_or_else(|| panic!("{page}"));
        assert!(page["median"].is_number() && page["bytes"].as_u64() > Some(1_000), "{page}");
    }
}

#[test]
fn an_orchestration_ends_with_the_right_counts_while_replicas_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("figures.json");
    let mut kcp = Command::new(env!("CARGO_BIN_EXE_kcp"));
    kcp.args(["bench", "fleet", "--runtimes", "50", "--waiting", "300", "--times", "3"]);
    kcp.args(["--kill-every", "2"]);
    kcp.arg("--output").arg(&output);
    if let Some(binaries) = std::env::var_os("KCP_TEST_POSTGRES_BIN") {
        kcp.arg("--postgres-bin").arg(binaries);
    }

    // It fails by itself when a count is wrong, a runtime is upgraded twice, or a customer is told twice.
    kcp.assert().success();

    let report: Value = serde_json::from_slice(&fs::read(&output).unwrap()).unwrap();
    assert_eq!(
        (&report["upgraded"]["runtimes"], &report["upgraded"]["failed"]),
        (&50.into(), &2.into())
    );
    assert_ne!(report["upgraded"]["kills"], 0);
    let waiting = &report["waiting"];
    assert!(waiting["waiting"].as_u64().unwrap() >= 250, "{waiting}");
    let requests: Vec<&str> = waiting["answers"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["request"].as_str())
        .collect();
    assert_eq!(requests[..4], ["start", "counts", "progress", "pause"]);
}

#[test]
fn jobs_run_over_generated_instances_within_their_limits_and_one_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("figures.json");
    let mut kcp = Command::new(env!("CARGO_BIN_EXE_kcp"));
    kcp.args(["bench", "jobs", "--instances", "1000", "--output"]).arg(&output);
    if let Some(binaries) = std::env::var_os("KCP_TEST_POSTGRES_BIN") {
        kcp.arg("--postgres-bin").arg(binaries);
    }

    // Whether limits of time are kept is not judged on a machine that does other things besides.
    let _ = kcp.output().unwrap();

    let report: Value = serde_json::from_slice(&fs::read(&output).unwrap()).unwrap();
    let figures = report["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 8);
    for figure in figures {
        assert_eq!(figure["state"], "succeeded", "{figure}");
        assert!(figure["memory"].as_f64().unwrap() < 64.0, "{figure}");
    }
    let figure = |job: &str| figures.iter().find(|figure| figure["job"] == job).unwrap();
    // What was done in the page that was cut short is not told again; the benchmark fails when something is left.
    let archived = figure("archive")["candidates"].as_u64().unwrap();
    assert!((1..=30).contains(&archived), "{archived} of 30");
    assert!(figure("drift")["candidates"].as_u64().unwrap() > 800, "{figures:?}");
}

#[test]
fn the_overhead_is_told_of_orders_and_of_removals() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".kcp");
    let _running = start(&["up", "--speed", "10"], &data, free_ports());

    let mut kcp = Command::new(KCP);
    kcp.args(["bench", "overhead", "--orders", "1", "--at-once", "1", "--data"]).arg(&data);
    let output = kcp.assert().success().get_output().stdout.clone();

    let said = String::from_utf8(output).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    for (told, what) in lines.chunks(2).zip(["1 orders: ", "1 removals: "]) {
        assert!(told[0].starts_with(what), "{said}");
        let (times, rest) = (numbers(told[0]), numbers(told[1]));
        let (&[_, whole, outside], &[overhead, worst, ratio]) = (&times[..], &rest[..]) else {
            panic!("{said}");
        };
        // At this speed a cluster takes a second to come and to go, on any machine.
        assert!(whole > 0.5 && outside > 0.5, "{said}");
        let is = |one: f64, other: f64, by: f64| (one - other).abs() < by;
        assert!(
            is(overhead, (whole - outside).max(0.0), 0.02) && is(overhead, worst, 0.001),
            "{said}"
        );
        assert!(is(ratio * outside, whole, 0.1 * whole), "{said}");
    }
}

/// The numbers in a line.
fn numbers(line: &str) -> Vec<f64> {
    line.split([' ', ';']).filter_map(|word| word.parse().ok()).collect()
}
