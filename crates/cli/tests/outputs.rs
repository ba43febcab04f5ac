//! What commands print at 80 and 140 columns and in a pipe, and in every format, for fixed answers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/fake.rs"]
mod fake;

use jiff::SignedDuration;
use serde_json::{Value, json};

use fake::Broker;

const OPERATION: &str = "01a1e15b-0000-7000-8000-000000000001";
const OTHER: &str = "01a1e15b-0000-7000-8000-000000000002";
const INSTANCE: &str = "5b954fa8-fc34-4164-96e9-49e3b6741278";

/// So many days ago, and some hours: what is shown of it does not depend on the moment.
fn days_ago(days: i64) -> String {
    let now = base::Clock::running().now();
    (now - SignedDuration::from_hours(days * 24 + 3)).to_string()
}

fn runtimes() -> (u16, Value) {
    let runtime = json!({
        "instanceID": INSTANCE, "runtimeID": "r", "globalAccountID": "ga-1", "subAccountID": "sa-1",
        "region": "eu-central-1", "subAccountRegion": "cf-eu10", "shootName": "c-308c6c3",
        "servicePlanName": "aws", "parameters": {"name": "payments-prod"},
        "status": {"createdAt": days_ago(41), "state": "succeeded"},
    });
    (200, json!({"data": [runtime], "count": 1, "totalCount": 1}))
}

fn operation(id: &str, state: &str, failure: &Value) -> Value {
    json!({
        "id": id, "kind": "provision", "instance": INSTANCE, "state": state,
        "stage": "create_runtime", "step": "Check_Runtime", "created_at": days_ago(3),
        "failure": failure,
    })
}

fn operations() -> (u16, Value) {
    let message = "gardener: listing secretbindings: unavailable (connection refused)";
    let failure = json!({"component": "gardener", "reason": "unavailable", "message": message});
    let all =
        [operation(OPERATION, "succeeded", &Value::Null), operation(OTHER, "failed", &failure)];
    (200, json!({"operations": all, "next": null}))
}

/// What a command prints at 80 columns, at 140, and in a pipe.
fn widths(answers: &[(u16, Value)], words: &[&str]) -> [String; 3] {
    [Some(80), Some(140), None].map(|width| {
        let broker = Broker::answering(answers.to_vec());
        let text = broker.prints_in(width, words);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
        if let Some(width) = width {
            assert!(longest <= usize::from(width), "{longest} of {width}:\n{text}");
        }
        text
    })
}

#[test]
fn runtimes_begin_with_the_name_and_fit_80_columns() {
    let all = widths(&[runtimes()], &["runtimes"]);

    for text in all {
        assert_eq!(
            text,
            "\
NAME           STATE      PLAN  REGION        SHOOT      AGE
payments-prod  succeeded  aws   eu-central-1  c-308c6c3  41d
"
        );
    }
}

#[test]
fn operations_keep_their_ids_whole_and_cut_only_reasons() {
    let [narrow, wide, pipe] = widths(&[operations(), runtimes()], &["operations"]);

    assert_eq!(
        narrow,
        format!(
            "\
NAME           OPERATION                             KIND       STATE      AGE
payments-prod  {OPERATION}  provision  succeeded  3d
payments-prod  {OTHER}  provision  failed     3d
"
        )
    );
    let reason = "gardener: listing secretbindings: unavailable (connection refused)";
    assert_eq!(
        wide,
        format!(
            "\
NAME           OPERATION                             KIND       STATE      AGE  REASON
payments-prod  {OPERATION}  provision  succeeded  3d
payments-prod  {OTHER}  provision  failed     3d   gardener: listing secretbindings: unavailable (connection r…
"
        )
    );
    assert!(pipe.contains(&format!("3d   {reason} (gardener: unavailable)\n")), "{pipe}");
}

#[test]
fn answers_come_in_every_format() {
    let print = |format: &str| {
        let broker = Broker::answering(vec![operations(), runtimes()]);
        broker.prints_in(None, &["operations", "-o", format])
    };

    assert_eq!(print("name"), format!("{OPERATION}\n{OTHER}\n"));
    let custom = print("custom=ID:id,WHY:{.failure.reason}");
    assert!(custom.ends_with(&format!("{OTHER}   unavailable\n")), "{custom}");
    let json: Value = serde_json::from_str(&print("json")).unwrap();
    assert_eq!(json["operations"][1]["id"], OTHER);
    let yaml = print("yaml");
    assert!(yaml.starts_with("operations:\n") && yaml.contains(OTHER), "{yaml}");
    let wide = print("wide");
    assert!(wide.contains("INSTANCE") && wide.contains("Check_Runtime"), "{wide}");
}

#[test]
fn an_operation_is_found_by_a_part_of_its_id_or_by_the_name_of_its_runtime() {
    let ended = operation(OTHER, "failed", &Value::Null);
    let rest = [(200, ended), (200, json!([])), (200, json!({"kind": "ended", "reason": ""}))];
    let newest = (200, json!({"operations": [{"id": OTHER}], "next": null}));
    let nothing = (200, json!({"data": [], "count": 0, "totalCount": 0}));

    // No runtime is called so, and none has such an id.
    let by_end = [&[operations(), nothing.clone(), nothing.clone()][..], &rest].concat();
    let by_name = [&[operations(), nothing, runtimes(), newest][..], &rest].concat();

    for (words, answers) in [("00000002", by_end), ("payments-prod", by_name)] {
        let broker = Broker::answering(answers);
        let shown = broker.prints_in(None, &["operations", words]);
        assert!(shown.starts_with(&format!("Operation  {OTHER}\n")), "{shown}");
    }
    let broker = Broker::answering(vec![operations()]);
    let several = broker.kcp(&["operations", "01a1"]);
    let error = String::from_utf8(several.stderr).unwrap();
    assert!(error.contains("several operations fit \"01a1\""), "{error}");
}

#[test]
fn a_watched_operation_is_lines_of_json_for_programs() {
    let entry = json!({
        "seq": 1, "event": "accepted", "times": 1, "began_at": days_ago(3), "ended_at": days_ago(3),
    });
    let mut ended = operation(OPERATION, "succeeded", &Value::Null);
    ended["ended_at"] = json!(days_ago(2));
    let broker = Broker::answering(vec![(200, ended), (200, json!([entry]))]);

    let lines = broker.prints_in(None, &["operations", OPERATION, "--watch", "-o", "json"]);

    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["entry"]["event"], "accepted");
    assert_eq!(lines[1]["operation"]["state"], "succeeded");
}
