//! What scripts read: standard output has what was chosen, and nothing else.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{fake::Broker, support::Running};

const OPERATION: &str = "01a1e15b-0000-7000-8000-000000000001";
const INSTANCE: &str = "5b954fa8-fc34-4164-96e9-49e3b6741278";

/// What a watched operation that has ended is answered with: itself, and its journal.
fn ended(state: &str) -> [(u16, Value); 2] {
    let failure = json!({"component": "avs", "reason": "unavailable", "message": "AvS is away"});
    let operation = json!({
        "id": OPERATION, "kind": "provision", "instance": INSTANCE, "state": state,
        "created_at": "2026-01-02T03:04:05Z", "ended_at": "2026-01-02T03:05:05Z",
        "failure": if state == "failed" { failure } else { Value::Null },
        "incomplete": ["EDP_Registration"],
    });
    let entry = json!({
        "seq": 1, "event": "accepted", "times": 1,
        "began_at": "2026-01-02T03:04:05Z", "ended_at": "2026-01-02T03:04:05Z",
    });
    [(200, operation), (200, json!([entry]))]
}

fn texts(broker: &Broker, words: &[&str]) -> (Option<i32>, String, String) {
    let output = broker.kcp(words);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_job_that_runs_already_is_json_all_the_same() {
    let answers = vec![
        (200, json!({"name": "drift"})),
        (202, json!({"operation": OPERATION, "started": false})),
    ];
    let run =
        |format| texts(&Broker::answering(answers.clone()), &["job", "drift", "-y", "-o", format]);

    let (code, told, error) = run("json");
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((code, &told["started"]), (Some(0), &json!(false)));
    assert!(error.starts_with("job drift runs already\n"), "{error}");
    assert_eq!(run("name").1, format!("{OPERATION}\n"));
    assert!(run("table").1.starts_with("job drift runs already\n"));
}

#[test]
fn what_is_watched_prints_only_what_was_chosen() {
    let catalog = json!({"services": [{"id": "s", "plans": [{"id": "p", "name": "aws"}]}]});
    let accepted = [(200, catalog), (202, json!({"operation": OPERATION}))];
    let order = ["provision", "--plan", "aws", "--name", "dev", "--id", INSTANCE, "-y", "-w", "-o"];
    let ordered = |state: &str, format: &str| {
        let broker = Broker::answering([&accepted[..], &ended(state)].concat());
        texts(&broker, &[&order[..], &[format]].concat())
    };
    let steps = "executed but not completed: EDP_Registration; see kcp --data ";

    let (code, told, error) = ordered("succeeded", "name");
    assert_eq!((code, told), (Some(0), format!("{INSTANCE}\n")));
    assert!(error.starts_with(steps) && error.ends_with(" leftovers\n"), "{error}");
    let (code, told, error) = ordered("failed", "custom=OPERATION:operation");
    assert_eq!((code, told.lines().nth(1), told.lines().count()), (Some(1), Some(OPERATION), 2));
    assert!(error.starts_with(&format!("operation {OPERATION} failed after ")), "{error}");
    assert!(error.contains("AvS is away"), "{error}");

    // Of a job, the items of its report.
    let item = json!({"item": "runtime r", "outcome": "done", "text": "removed"});
    let report = json!({"details": [item], "failed": 0});
    let job = (200, json!({"name": "drift", "last_run": {"state": "succeeded", "report": report}}));
    let started = (202, json!({"operation": OPERATION, "started": true}));
    let answers = [&[job.clone(), started][..], &ended("succeeded"), &[job]].concat();
    let (_, told, _) =
        texts(&Broker::answering(answers), &["job", "drift", "-y", "-w", "-o", "name"]);
    assert_eq!(told, "runtime r\n");

    let begun = json!({"orchestrationID": OPERATION});
    let progress = json!({"state": "failed", "total": 3, "done": 3, "failures": [{"count": 1, "message": "gone"}]});
    let answers = vec![(200, json!({"count": 1})), (202, begun), (200, progress)];
    let upgrade = ["upgrade", "kyma", "-t", "all", "-y", "-w", "-o", "name"];
    let (code, told, error) = texts(&Broker::answering(answers), &upgrade);
    assert_eq!((code, told), (Some(1), format!("{OPERATION}\n")));
    assert!(error.contains("gone"), "{error}");
}

#[test]
fn a_ledger_that_is_followed_has_one_header_and_goes_on_after_a_restart() {
    let call = |sequence: u64| json!({"sequence": sequence, "system": "avs", "method": "GET"});
    let page =
        |sequence: u64| (200, json!({"entries": [call(sequence)], "next": sequence, "more": true}));
    let away = (503, json!({"error": "unavailable", "description": "it starts"}));
    let broker = Broker::answering(vec![page(1), away, page(2), page(3)]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_kcp"));
    command.arg("--data").arg(broker.folder.path()).args(["landscape", "ledger", "--follow"]);
    command.env_remove("COLUMNS").env_remove("KCP_CONTEXT").stdin(Stdio::null());
    let mut following = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let _following = Running(following);

    let lines: Vec<String> = lines.take(4).map(Result::unwrap).collect();

    let first = lines.iter().map(|line| line.split("  ").next().unwrap());
    assert_eq!(first.collect::<Vec<_>>(), ["SEQUENCE", "1", "2", "3"]);
}
