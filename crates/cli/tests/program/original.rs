//! A broker like the original: it has no routes of ours, and answers 404 for them.

use std::{
    collections::BTreeMap,
    process::Output,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use crate::fake::Broker;

const INSTANCE: &str = "5b954fa8-fc34-4164-96e9-49e3b6741278";
const OPERATION: &str = "01a1e15b-0000-7000-8000-000000000001";

/// The original, with this end of every operation: it is in progress once, and then as said.
fn original(end: &'static str) -> Broker {
    let looked = Arc::new(Mutex::new(BTreeMap::<String, u32>::new()));
    Broker::like(move |request| {
        let path = request.split('?').next().unwrap();
        if path.ends_with("/dry_run") {
            return absent();
        }
        if path.ends_with("/last_operation") {
            let mut looked = looked.lock().unwrap();
            let times = looked.entry(request.to_owned()).or_default();
            *times += 1;
            if *times > 2 && end == "gone" {
                return (410, json!({}));
            }
            let state = if *times > 2 { end } else { "in progress" };
            let description = if *times > 2 { "ended" } else { "Operation created" };
            return (200, json!({"state": state, "description": description}));
        }
        let (method, path) = path.split_once(' ').unwrap();
        let order = path.starts_with("/oauth/") && path.ends_with(INSTANCE);
        match method {
            "GET" if path.ends_with("/v2/catalog") => {
                let plan = json!({"id": "p", "name": "aws"});
                (200, json!({"services": [{"id": "s", "bindable": true, "plans": [plan]}]}))
            }
            "GET" if path == "/runtimes" => runtimes(),
            "GET" if path == format!("/orchestrations/{OPERATION}") => {
                let states = json!({"succeeded": 2, "failed": 1, "pending": 0, "in progress": 0});
                (
                    200,
                    json!({
                        "orchestrationID": OPERATION, "state": end, "parameters": {},
                        "operationStats": states,
                    }),
                )
            }
            "PUT" | "DELETE" if order => (202, json!({"operation": OPERATION})),
            // A suspension has no operation in its answer, and neither has the return from it.
            "PATCH" if order => (200, json!({"dashboard_url": "https://dashboard.test"})),
            "POST" if path == "/upgrade/kyma" => (202, json!({"orchestrationID": OPERATION})),
            _ => absent(),
        }
    })
}

fn absent() -> (u16, Value) {
    (404, json!({"error": "404 page not found"}))
}

/// Names are no part of what it lists.
fn runtimes() -> (u16, Value) {
    let runtime = json!({
        "instanceID": INSTANCE, "runtimeID": "r", "globalAccountID": "ga-1", "subAccountID": "sa-1",
        "region": "eu-central-1", "subAccountRegion": "cf-eu10", "shootName": "c-308c6c3",
        "servicePlanName": "aws", "status": {"createdAt": "2026-01-02T03:04:05Z", "state": "succeeded"},
    });
    (200, json!({"data": [runtime], "count": 1, "totalCount": 1}))
}

fn texts(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn sent(broker: &Broker, begin: &str) -> usize {
    broker.asked().iter().filter(|request| request.starts_with(begin)).count()
}

#[test]
fn an_upgrade_begins_where_there_are_no_previews_and_is_asked_about_by_its_targets() {
    let broker = original("succeeded");
    let upgrade = ["upgrade", "kyma", "-t", "all", "-t", "plan=aws", "-e", "shoot=c-308c6c3"];

    let (code, _, error) = texts(broker.kcp(&upgrade));
    let question = "Upgrade kyma of the targets all; plan=aws without shoot=c-308c6c3";
    assert!(code == Some(1) && error.contains(question), "{error}");
    let (code, _, error) = texts(broker.kcp(&[&upgrade[..], &["--preview"]].concat()));
    assert!(code == Some(1) && error.contains("this broker has no preview"), "{error}");
    assert_eq!(sent(&broker, "POST /upgrade/kyma/preview"), 2);
    assert_eq!(broker.asked().len(), 2, "nothing is begun");

    let (code, told, error) = texts(broker.kcp(&[&upgrade[..], &["--yes"]].concat()));
    assert_eq!((code, told), (Some(0), format!("OrchestrationID: {OPERATION}\n")), "{error}");
    let broker =
        Broker::answering(vec![(405, json!({})), (202, json!({"orchestrationID": OPERATION}))]);
    assert_eq!(
        broker.prints(&["upgrade", "kyma", "-t", "all", "-y", "-o", "name"]),
        format!("{OPERATION}\n")
    );
}

#[test]
fn how_far_an_orchestration_is_is_counted_where_there_is_no_progress() {
    let (code, told, error) = texts(original("succeeded").kcp(&["o", OPERATION, "--watch"]));
    assert_eq!((code, told.as_str()), (Some(0), "succeeded: 3 of 3 done, 1 failed\n"), "{error}");

    let (code, told, _) = texts(original("failed").kcp(&["o", OPERATION, "--watch", "-o", "json"]));
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((code, &told["done"], &told["total"]), (Some(1), &json!(3), &json!(3)), "{told}");
    let shown = original("in progress").prints(&["o", OPERATION, "progress"]);
    assert_eq!(shown, "in progress: 3 of 3 done, 1 failed\n  all: 3 of 3\n");
    let other = "01a1e15b-0000-7000-8000-000000000002";
    let (code, _, error) = texts(original("succeeded").kcp(&["o", other, "--watch"]));
    assert!(code == Some(1) && error.contains("looking at orchestration"), "{error}");
}

#[test]
fn a_watched_order_and_a_watched_removal_are_looked_at_as_platforms_do() {
    let order = ["provision", "--plan", "aws", "--name", "dev", "--id", INSTANCE, "--yes", "-w"];
    let removal = ["deprovision", INSTANCE, "--yes", "--watch"];

    for (words, path) in [
        (&order[..], "/oauth/cf-eu10/v2/service_instances"),
        (&removal, "/oauth/v2/service_instances"),
    ] {
        let broker = original("succeeded");
        let (code, told, error) = texts(broker.kcp(words));
        assert_eq!(code, Some(0), "{error}");
        let lines: Vec<&str> =
            told.lines().skip_while(|line| *line != "in progress: Operation created").collect();
        let [_, last] = lines[..] else { panic!("each state is told once: {told}") };
        assert!(last.starts_with(&format!("operation {OPERATION} succeeded after ")), "{told}");
        let look = format!("GET {path}/{INSTANCE}/last_operation?operation={OPERATION}");
        assert_eq!(sent(&broker, &look), 3);
        assert_eq!(sent(&broker, "GET /operations"), 1);

        let (code, told, error) = texts(original("failed").kcp(words));
        assert!(code == Some(1) && !told.contains("failed"), "{told}");
        assert!(error.starts_with(&format!("operation {OPERATION} failed after ")), "{error}");
        assert!(error.lines().next().unwrap().ends_with(": ended"), "{error}");
    }

    let (code, told, error) = texts(original("gone").kcp(&removal));
    assert_eq!(code, Some(0), "{error}");
    assert!(told.contains(&format!("operation {OPERATION} succeeded after ")), "{told}");

    let (code, told, _) =
        texts(original("succeeded").kcp(&[&removal[..], &["-o", "json"]].concat()));
    let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let states = lines[1..].iter().map(|it| it["last_operation"]["state"].as_str().unwrap());
    assert_eq!((code, states.collect::<Vec<_>>()), (Some(0), vec!["in progress", "succeeded"]));
    let quiet = original("succeeded").prints(&[&removal[..], &["-o", "name"]].concat());
    assert_eq!(quiet, format!("{INSTANCE}\n"));
}

#[test]
fn suspensions_and_returns_are_sent_where_no_operations_are_listed() {
    for word in ["suspend", "resume"] {
        let broker = original("succeeded");
        let (code, told, error) = texts(broker.kcp(&[word, INSTANCE, "--yes"]));
        assert_eq!(code, Some(0), "{word}: {error}");
        let begin =
            format!("Instance   {INSTANCE}\nOperation  not named by this broker: kcp --data ");
        assert!(told.starts_with(&begin), "{told}");
        assert!(told.ends_with(&format!(" runtimes -S all -i {INSTANCE}\n")), "{told}");
        let patch = format!("PATCH /oauth/v2/service_instances/{INSTANCE}?accepts_incomplete=true");
        assert_eq!(sent(&broker, &patch), 1, "{word}");

        // It is sent, and its end is not taken for that of the operation before it.
        let broker = original("succeeded");
        let (code, _, error) = texts(broker.kcp(&[word, INSTANCE, "--yes", "--watch"]));
        assert!(
            code == Some(1) && error.contains("it is accepted, and cannot be watched"),
            "{error}"
        );
        assert_eq!(sent(&broker, &patch), 1, "{word}");
    }
}

#[test]
fn a_runtime_without_a_name_is_called_by_its_shoot() {
    let listed = original("succeeded").prints(&["runtimes"]);
    assert!(listed.lines().nth(1).unwrap().starts_with("c-308c6c3  succeeded"), "{listed}");
    let tasks = original("succeeded").prints(&["taskrun", "-t", "all", "--dry-run"]);
    assert!(tasks.lines().nth(1).unwrap().starts_with("c-308c6c3  c-308c6c3"), "{tasks}");

    let (code, _, error) = texts(original("succeeded").kcp(&["deprovision", INSTANCE]));
    let question = format!("Remove runtime \"c-308c6c3\" (instance {INSTANCE})");
    assert!(code == Some(1) && error.contains(&question), "{error}");
    // Where there is no export, a name is looked for page by page.
    let broker = original("succeeded");
    let (code, _, error) = texts(broker.kcp(&["deprovision", "payments", "--yes"]));
    assert!(
        code == Some(1) && error.contains("no instance or runtime \"payments\" found"),
        "{error}"
    );
    assert_eq!(sent(&broker, "GET /runtimes/export?"), 1);
    assert_eq!(sent(&broker, "DELETE"), 0);
}
