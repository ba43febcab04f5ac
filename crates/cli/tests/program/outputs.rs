//! The output of commands at 80 and 140 columns and in a pipe, and in every format, for fixed answers.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::fake::Broker;

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

/// The same as an export: a line for each.
fn exported() -> (u16, Value) {
    let (status, mut page) = runtimes();
    (status, page["data"][0].take())
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

/// The output of a command at 80 columns, at 140, and in a pipe.
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

    let none = || (200, Value::Null);
    // No runtime is called so, and none has such an id.
    let by_end = [&[operations(), nothing.clone(), none()][..], &rest].concat();
    let by_name = [&[operations(), nothing, exported(), newest][..], &rest].concat();

    // Who may not list runtimes names none.
    let forbidden =
        (403, json!({"error": "forbidden", "description": "the token does not allow this"}));
    let by_end_alone = [&[operations(), forbidden][..], &rest].concat();

    for (words, answers) in
        [("00000002", by_end), ("00000002", by_end_alone), ("payments-prod", by_name)]
    {
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
fn a_part_of_an_operations_id_is_not_taken_where_it_may_be_the_name_of_a_runtime() {
    let ended = operation(OTHER, "failed", &Value::Null);
    let rest = [(200, ended), (200, json!([])), (200, json!({"kind": "ended", "reason": ""}))];
    let failed = (500, json!({"error": "internal", "description": "the database is down"}));
    let broker = Broker::answering([&[operations(), failed][..], &rest].concat());

    let refused = broker.kcp(&["operations", "00000002"]);

    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && error.contains("listing runtimes"), "{error}");
    assert_eq!(broker.asked().len(), 2);
}

#[test]
fn operations_of_the_provisioner_are_found_by_the_name_of_a_runtime_at_the_broker() {
    let ended = operation(OTHER, "failed", &Value::Null);
    let rest = [(200, ended), (200, json!([])), (200, json!({"kind": "ended", "reason": ""}))];
    let newest = (200, json!({"operations": [{"id": OTHER}], "next": null}));
    let nothing = (200, json!({"data": [], "count": 0, "totalCount": 0}));
    let found = [&[operations(), nothing.clone(), exported(), newest][..], &rest].concat();
    let broker = Broker::answering(found);

    let shown = broker.prints(&["operations", "payments-prod", "--provisioner"]);

    assert!(shown.starts_with(&format!("Operation  {OTHER}\n")), "{shown}");
    assert_eq!(broker.asked()[3], "/operations?instance=r&limit=1");

    let broker = Broker::answering(vec![nothing, exported(), operations()]);
    broker.prints(&["operations", "--instance", "payments-prod", "--provisioner"]);
    assert_eq!(broker.asked()[2], "/operations?limit=50&instance=r");

    // Who may ask the provisioner alone names nothing.
    let forbidden =
        (403, json!({"error": "forbidden", "description": "the token does not allow this"}));
    let broker = Broker::answering(vec![operations(), forbidden]);
    let refused = broker.kcp(&["operations", "payments-prod", "--provisioner"]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("no operation \"payments-prod\", and no runtime"), "{error}");
}

#[test]
fn operations_of_what_is_no_runtime_are_listed() {
    let nothing = (200, json!({"data": [], "count": 0, "totalCount": 0}));
    let none = (200, Value::Null);
    let broker = Broker::answering(vec![nothing.clone(), none, operations(), nothing]);

    let listed = broker.prints_in(None, &["operations", "--instance", "job/drift/dry-run"]);

    assert!(listed.contains(OPERATION), "{listed}");
    assert_eq!(broker.asked()[2], "/operations?limit=50&instance=job%2Fdrift%2Fdry-run");
}

#[test]
fn a_watched_operation_is_lines_of_json_for_programs() {
    let entry = json!({
        "seq": 1, "event": "accepted", "times": 1, "began_at": days_ago(3), "ended_at": days_ago(3),
    });
    let mut ended = operation(OPERATION, "succeeded", &Value::Null);
    ended["ended_at"] = json!(days_ago(2));
    let ended = (200, ended);
    let broker = Broker::answering(vec![ended.clone(), ended, (200, json!([entry]))]);

    let lines = broker.prints_in(None, &["operations", OPERATION, "--watch", "-o", "json"]);

    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["entry"]["event"], "accepted");
    assert_eq!(lines[1]["operation"]["state"], "succeeded");
}

#[test]
fn an_orchestration_is_shown_in_lines_that_fit_80_columns() {
    let orchestration = json!({
        "orchestrationID": OPERATION, "type": "upgradeKyma", "state": "in progress",
        "createdAt": "2026-01-02T03:04:05Z", "updatedAt": "2026-01-02T03:05:05Z",
        "description": "1 of 3 are upgraded", "operationStats": {"succeeded": 1, "pending": 2},
        "parameters": {
            "kyma": {"version": "2.12.0"}, "dryRun": false,
            "targets": {"include": [{"planName": "aws", "region": "eu-.*"}]},
            "strategy": {
                "type": "parallel", "parallel": {"workers": 2}, "maintenanceWindow": true,
                "ScheduleTime": "2026-01-02T03:04:05Z",
            },
        },
    });

    let all = widths(&[(200, orchestration)], &["orchestrations", OPERATION]);

    let expected = format!(
        "\
Orchestration ID:   {OPERATION}
Type:               upgradeKyma
Created At:         2026-01-02T03:04:05Z
Updated At:         2026-01-02T03:05:05Z
Dry Run:            false
State:              in progress
Description:        1 of 3 are upgraded
Strategy:           parallel
Maintenance Window: true
Schedule After:     2026-01-02T03:04:05Z
Workers:            2
Kyma Version:       2.12.0
Targets:
  region = eu-.*,plan = aws
Operations:
    succeeded: 1
      pending: 2
"
    );
    for text in all {
        assert_eq!(text, expected);
    }
}

#[test]
fn the_status_is_there_for_programs_too() {
    let status = json!({"standing": {"running": 2}, "stuck_operations": 0});
    let print =
        |format| Broker::answering(vec![(200, status.clone())]).prints(&["status", "-o", format]);

    assert_eq!(serde_json::from_str::<Value>(&print("json")).unwrap(), status);
    let yaml = print("yaml");
    assert!(yaml.contains("standing:\n  running: 2\n"), "{yaml}");
    assert!(print("table").starts_with("Working    2 running"));
    assert_eq!(print("custom=RUN:standing.running"), "RUN\n2\n");
    assert_eq!(print("name"), "");
    let stuck = json!({"stuck": [{"operation": OPERATION}, {"operation": OTHER}]});
    let names = Broker::answering(vec![(200, stuck)]).prints(&["status", "-o", "name"]);
    assert_eq!(names, format!("{OPERATION}\n{OTHER}\n"));
}

#[test]
fn slow_and_failing_steps_are_shown_without_the_sums_of_whole_operations() {
    let step = |step: Option<&str>, failures: i32| {
        json!({
            "kind": "provision", "step": step, "operations": 4, "runs": 40, "failures": failures,
            "retries": failures, "median_seconds": 0.5, "p95_seconds": 300.5,
        })
    };
    let all = [step(None, 1), step(Some("Check_Runtime"), 0), step(Some("EDP_Registration"), 3)];
    let answer = (200, json!({"hours": 168, "steps": all}));

    for text in widths(std::slice::from_ref(&answer), &["status", "steps"]) {
        assert_eq!(
            text,
            "\
STEP              KIND       MEDIAN  P95
Check_Runtime     provision  500 ms  5m
EDP_Registration  provision  500 ms  5m
"
        );
    }
    for text in widths(std::slice::from_ref(&answer), &["status", "steps", "--failing"]) {
        assert_eq!(
            text,
            "\
STEP              KIND       FAILED  RUNS  RETRIES
EDP_Registration  provision  3       40    3
"
        );
    }
    let broker = Broker::answering(vec![answer]);
    let json = broker.prints(&["status", "steps", "--limit", "1", "-o", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["steps"].as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(broker.asked(), ["/answers/steps?hours=168&order=slowest&limit=500"]);
    let nothing = Broker::answering(vec![(200, json!({"hours": 24, "steps": []}))]);
    let words = ["status", "steps", "--failing", "--hours", "24"];
    assert_eq!(nothing.prints(&words), "no step has failed\n");
    assert_eq!(nothing.asked(), ["/answers/steps?hours=24&order=failing&limit=500"]);
}

#[test]
fn success_is_shown_by_day_and_plan() {
    let day = |plan: &str, succeeded: i32, failed: i32| {
        json!({
            "day": "2026-01-02", "kind": "provision", "plan": plan, "succeeded": succeeded,
            "failed": failed, "canceled": 1,
        })
    };
    let all = [day("", 0, 0), day("aws", 3, 1), day("azure", 5, 0)];
    let answer = (200, json!({"days": 7, "success": all}));

    for text in widths(std::slice::from_ref(&answer), &["status", "success"]) {
        assert_eq!(
            text,
            "\
DAY         PLAN   KIND       SUCCESS  SUCCEEDED  FAILED  CANCELED
2026-01-02  -      provision  –        0          0       1
2026-01-02  aws    provision  75.0 %   3          1       1
2026-01-02  azure  provision  100 %    5          0       1
"
        );
    }
    let broker = Broker::answering(vec![answer]);
    let words = ["status", "success", "--days", "30", "-o", "custom=PLAN:plan,FAILED:failed"];
    assert_eq!(broker.prints(&words).lines().nth(2), Some("aws      1"));
    assert_eq!(broker.asked(), ["/answers/success?days=30"]);
}

#[test]
fn an_order_and_a_retry_name_the_operation_and_an_order_what_to_type_next() {
    let plan = json!({"id": "p", "name": "aws"});
    let catalog = json!({"services": [{"id": "s", "bindable": true, "plans": [plan]}]});
    let accepted = json!({"operation": OPERATION, "dashboard_url": "https://dashboard.test/1"});
    let broker = Broker::answering(vec![(200, catalog), (202, accepted)]);
    let words = ["provision", "--plan", "aws", "--name", "dev", "--id", INSTANCE, "--yes"];

    let ordered = broker.kcp(&words);

    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (told, hint) = (text(ordered.stdout), text(ordered.stderr));
    assert_eq!(
        told,
        format!(
            "\
Instance   {INSTANCE}
Operation  {OPERATION}
Dashboard  https://dashboard.test/1
"
        )
    );
    let folder = broker.folder.path().display();
    let next = format!("\nNext:\n  kcp --data {folder} operations {OPERATION} --watch\n");
    assert_eq!(hint, next);

    let failed = (200, operation(OTHER, "failed", &Value::Null));
    let answers = vec![failed.clone(), failed, runtimes(), (202, json!({"id": OPERATION}))];
    let broker = Broker::answering(answers);
    let retry = ["operations", "retry", OTHER, "--reason", "AvS is back", "--yes"];
    assert_eq!(broker.prints(&retry), format!("Operation  {OPERATION}\n"));
    assert_eq!(broker.asked()[3], format!("/operations/{OTHER}/retry"));
}
