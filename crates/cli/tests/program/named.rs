//! Names of runtimes wherever people look, and next commands that lead to the same control plane.

use serde_json::{Value, json};

use crate::fake::Broker;

const OPERATION: &str = "01a1e15b-0000-7000-8000-000000000001";
const INSTANCE: &str = "5b954fa8-fc34-4164-96e9-49e3b6741278";

fn runtimes() -> (u16, Value) {
    runtimes_of(INSTANCE, "r")
}

fn runtimes_of(instance: &str, id: &str) -> (u16, Value) {
    let runtime = json!({
        "instanceID": instance, "runtimeID": id, "globalAccountID": "ga-1", "subAccountID": "sa-1",
        "region": "eu-central-1", "subAccountRegion": "cf-eu10", "shootName": "c-308c6c3",
        "servicePlanName": "aws", "parameters": {"name": "payments-prod"},
        "status": {"createdAt": "2026-01-02T03:04:05Z", "state": "succeeded"},
    });
    (200, json!({"data": [runtime], "count": 1, "totalCount": 1}))
}

#[test]
fn an_operation_is_shown_with_the_name_of_its_runtime() {
    for (flags, instance, by) in
        [(&[][..], INSTANCE, "instance_id"), (&["--provisioner"], "r", "runtime_id")]
    {
        let operation = json!({
            "id": OPERATION, "kind": "provision", "instance": instance, "state": "succeeded",
            "created_at": "2026-01-02T03:04:05Z",
        });
        let ended = (200, json!({"kind": "ended", "reason": ""}));
        let found = (200, operation);
        let answers = vec![found.clone(), found, (200, json!([])), ended, runtimes()];
        let broker = Broker::answering(answers);

        let shown = broker.prints(&[&["operations", OPERATION], flags].concat());

        let begin =
            format!("Operation  {OPERATION}\nName       payments-prod\nKind       provision\n");
        assert!(shown.starts_with(&begin), "{shown}");
        assert!(broker.asked()[4].contains(&format!("&{by}={instance}&")), "{:?}", broker.asked());
    }
}

#[test]
fn the_status_has_names_for_what_is_stuck_and_what_failed() {
    let reason = "the cluster is being made ".repeat(9);
    let reason = reason.trim_end();
    let stuck = json!({
        "operation": OPERATION, "instance": INSTANCE, "kind": "provision", "step": "Check_Runtime",
        "present_seconds": 3600, "reason": reason,
    });
    let failed = json!({"kind": "update", "instance": INSTANCE, "reason": "avs is down"});
    let status = json!({
        "stuck_operations": 1, "stuck": [stuck], "failed_operations": 1, "failed": [failed],
    });
    let shown = |width, more: &[&str]| {
        let broker = Broker::answering(vec![(200, status.clone()), runtimes()]);
        let shown = broker.prints_in(width, &[&["status"], more].concat());
        assert!(shown.contains(&format!("             {OPERATION} payments-prod\n")), "{shown}");
        assert!(shown.contains("             update payments-prod"), "{shown}");
        let data = broker.folder.path().display().to_string();
        (shown, data)
    };

    let whole = format!("               provision Check_Runtime for 1h: {reason}\n");
    let (pipe, data) = shown(None, &[]);
    assert!(pipe.contains(&whole), "nothing is cut in a pipe: {pipe}");
    assert!(pipe.contains(&format!("1; see one: kcp --data {data} operations ID\n")), "{pipe}");
    assert!(shown(Some(80), &["-o", "wide"]).0.contains(&whole));
    let (narrow, _) = shown(Some(80), &[]);
    let folded =
        "               provision Check_Runtime for 1h:\n                 the cluster is being";
    assert!(narrow.contains(folded), "{narrow}");
    assert!(shown(Some(140), &[]).0.lines().any(|line| line.chars().count() == 140));
}

#[test]
fn runtimes_that_are_left_out_or_slow_are_named() {
    let left = json!({"instanceID": INSTANCE, "shootName": "c-308c6c3", "reason": "it is busy"});
    let preview = json!({"count": 0, "runtimes": [], "skipped": [left]});
    let broker = Broker::answering(vec![(200, preview), runtimes()]);
    let shown = broker.prints(&["upgrade", "kyma", "-t", "all", "--preview"]);
    assert!(shown.ends_with("left out: payments-prod: it is busy\n0 runtimes\n"), "{shown}");

    let slow = json!({"shootName": "c-308c6c3", "startedAt": "2026-01-02T03:04:05Z"});
    let progress = json!({"state": "in progress", "total": 1, "done": 0, "slowest": [slow]});
    let broker = Broker::answering(vec![(200, progress), runtimes()]);
    let shown = broker.prints(&["orchestrations", OPERATION, "progress"]);
    assert!(shown.ends_with("running: payments-prod since 2026-01-02T03:04:05Z\n"), "{shown}");
}

#[test]
fn next_commands_lead_to_the_same_control_plane() {
    let made = json!({"id": 1, "system": "avs", "trouble": {"kind": "down"}, "calls": 1});
    let broker = Broker::answering(vec![(200, made)]);
    let told = broker.prints(&["landscape", "trouble", "make", "avs", "down", "--calls", "1"]);
    let kcp = format!("kcp --data {}", broker.folder.path().display());
    assert!(told.ends_with(&format!("\nend it: {kcp} landscape trouble end 1\n")), "{told}");

    let thing = json!({"id": INSTANCE, "system": "avs", "name": "evaluation", "instance": "i-1"});
    let nothing = (200, json!({"leftovers": [], "next": null}));
    let broker =
        Broker::answering(vec![nothing, (200, json!({"may_exist": [thing], "next": null}))]);
    let told = broker.prints(&["leftovers"]);
    let kcp = format!("kcp --data {}", broker.folder.path().display());
    assert!(told.ends_with(&format!("then: {kcp} leftovers settle ENTRY\n")), "{told}");
}

#[test]
fn a_whole_id_is_that_of_an_operation_or_of_an_instance_whatever_its_version() {
    for instance in [INSTANCE, "01a1e15b-0000-7000-8000-00000000000f"] {
        let broker = Broker::like(move |request| {
            let operation = json!({
                "id": OPERATION, "kind": "provision", "instance": instance, "state": "succeeded",
                "created_at": "2026-01-02T03:04:05Z",
            });
            let (path, query) = request.split_once('?').unwrap_or((request, ""));
            match path.trim_start_matches("GET ").strip_prefix("/operations/") {
                Some(OPERATION) => (200, operation),
                Some(rest) if rest.ends_with("/waiting") => {
                    (200, json!({"kind": "ended", "reason": ""}))
                }
                Some(rest) if rest.starts_with(OPERATION) => (200, json!([])),
                Some(_) => (404, json!({"error": "NotFound", "description": "no such operation"})),
                None if query.contains(&format!("instance={instance}")) => {
                    (200, json!({"operations": [operation]}))
                }
                None => runtimes_of(instance, "r"),
            }
        });

        for id in [OPERATION, instance] {
            let shown = broker.prints(&["operations", id]);
            assert!(shown.starts_with(&format!("Operation  {OPERATION}\n")), "{id}: {shown}");
        }
        let unknown = broker.kcp(&["operations", "01a1e15b-0000-7000-8000-0000000000ff"]);
        let error = String::from_utf8(unknown.stderr).unwrap();
        assert!(error.starts_with("Error: no such operation (broker at "), "{error}");
    }
}

#[test]
fn an_unknown_operation_is_not_found_also_where_the_caller_may_not_list_runtimes() {
    let broker = Broker::like(|request| {
        if request.starts_with("GET /operations/") {
            return (404, json!({"error": "NotFound", "description": "no such operation"}));
        }
        (403, json!({"error": "Forbidden", "description": "runtimes:read is missing"}))
    });

    let unknown = broker.kcp(&["operations", OPERATION]);

    let error = String::from_utf8(unknown.stderr).unwrap();
    assert!(error.starts_with("Error: no such operation (broker at "), "{error}");
}

#[test]
fn events_are_found_by_the_id_of_the_runtime_too() {
    let runtime = "8c1f9bf1-7b1c-4a3b-9d63-b1c1a7f9e001";
    let event =
        json!({"ID": "e", "Level": "info", "InstanceID": INSTANCE, "Message": "it went well"});
    for (id, expected) in [(runtime, true), (INSTANCE, true), (OPERATION, false)] {
        let event = event.clone();
        let broker = Broker::like(move |request| {
            let is_events = request.starts_with("GET /events");
            match (is_events, request.contains(INSTANCE), request.contains(runtime)) {
                (true, true, _) => (200, json!([event])),
                (true, false, _) => (200, json!([])),
                (false, true, _) | (false, _, true) => runtimes_of(INSTANCE, runtime),
                _ => (200, json!({"data": [], "count": 0, "totalCount": 0})),
            }
        });

        let shown = broker.prints(&["events", id]);

        assert_eq!(shown.contains("it went well"), expected, "{id}: {shown}");
    }
}

#[test]
fn lists_of_the_provisioners_operations_have_the_names_that_the_broker_knows() {
    let operation = json!({
        "id": OPERATION, "kind": "provision", "instance": "r", "state": "succeeded",
        "created_at": "2026-01-02T03:04:05Z",
    });
    let listed = (200, json!({"operations": [operation], "next": null}));
    let broker = Broker::answering(vec![listed, runtimes()]);

    let shown = broker.prints(&["operations", "--provisioner"]);

    let line = format!("payments-prod  {OPERATION}  provision");
    assert!(shown.lines().any(|it| it.starts_with(&line)), "{shown}");
    assert!(broker.asked()[1].contains("&runtime_id=r&"), "{:?}", broker.asked());
}
