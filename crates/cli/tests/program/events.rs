//! `kcp runtimes --events` against a broker that says what the test wants.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::fake::Broker;

const OPERATION: &str = "01a1e15b-0000-7000-8000-000000000001";

fn hours_ago(hours: i64) -> String {
    (base::Clock::running().now() - SignedDuration::from_mins(hours * 60 + 5)).to_string()
}

fn runtimes(count: usize) -> (u16, Value) {
    let runtime = |n: usize| {
        json!({
            "instanceID": format!("i-{n}"), "runtimeID": "r", "globalAccountID": "ga-1",
            "subAccountID": "sa-1", "region": "eu-central-1", "subAccountRegion": "cf-eu10",
            "shootName": format!("c-{n}"), "servicePlanName": "aws", "kymaVersion": "2.12.0",
            "parameters": {"name": format!("dev-{n}")},
            "status": {
                "createdAt": hours_ago(3), "state": "succeeded",
                "provisioning":
                    {"createdAt": hours_ago(3), "operationID": OPERATION, "state": "succeeded"},
            },
        })
    };
    let all: Vec<Value> = (0..count).map(runtime).collect();
    (200, json!({"data": all, "count": count, "totalCount": count}))
}

fn happened() -> (u16, Value) {
    let event = |hours, level: &str, operation: &str, message: &str| {
        json!({
            "ID": message, "Level": level, "InstanceID": "i-1", "OperationID": operation,
            "Message": message, "CreatedAt": hours_ago(hours),
        })
    };
    (
        200,
        json!([
            event(4, "info", "", "audit: order accepted"),
            event(3, "error", OPERATION, "Check_Runtime: gardener: unavailable"),
            event(2, "error", OPERATION, "Check_Runtime: gardener: unavailable"),
            event(2, "info", OPERATION, "Check_Runtime:\n\u{1b}[2Jdone"),
        ]),
    )
}

#[test]
fn events_stand_below_the_runtime_and_the_same_ones_are_counted() {
    let broker = Broker::answering(vec![runtimes(2), happened(), runtimes(2), happened()]);

    let all = broker.prints_in(None, &["runtimes", "--events"]);
    let errors = broker.prints_in(Some(60), &["runtimes", "-o", "known", "--events=error"]);

    let lines: Vec<&str> = all.lines().collect();
    assert!(lines[0].ends_with("KYMA VERSION") && lines[1].starts_with("dev-0 "), "{all}");
    assert!(lines[2].starts_with("dev-1 "), "{all}");
    let title = format!("  provision operation {OPERATION}: succeeded");
    assert_eq!(
        lines[3..],
        [
            "  no operation",
            "    info   4h    audit: order accepted",
            title.as_str(),
            "    error  2h (2x in 3h)  Check_Runtime: gardener: unavailable",
            r"    info   2h    Check_Runtime:\u000a\u001b[2Jdone",
        ]
    );
    let lines: Vec<&str> = errors.lines().collect();
    assert!(lines[0].starts_with("GLOBALACCOUNT ID"), "{errors}");
    assert_eq!(lines.len(), 5, "{errors}");
    assert_eq!(
        broker.asked()[..2],
        ["/runtimes?op_detail=all&page=1&page_size=100", "/events?instance_ids=i-0%2Ci-1"]
    );
}

#[test]
fn events_are_a_second_document_for_programs() {
    let broker = Broker::answering(vec![runtimes(1), happened(), runtimes(1), happened()]);

    let json = broker.prints(&["rt", "--events=info", "-o", "json"]);
    let yaml = broker.prints(&["rt", "--events=all", "-o", "yaml"]);

    let documents = serde_json::Deserializer::from_str(&json).into_iter::<Value>();
    let documents: Vec<Value> = documents.collect::<Result<_, _>>().unwrap();
    assert_eq!(documents[0]["count"], 1);
    assert_eq!(documents[1].as_array().map(Vec::len), Some(2), "{json}");
    assert_eq!(documents[1][0]["InstanceID"], "i-1");
    assert!(yaml.contains("\n---\n-") && yaml.contains("audit: order accepted"), "{yaml}");
}

#[test]
fn events_of_more_than_100_runtimes_are_not_asked_for() {
    let (full, rest) = (runtimes(100), runtimes(1));
    let pages = [full, rest].map(|(status, mut page)| {
        page["totalCount"] = json!(101);
        (status, page)
    });
    let broker = Broker::answering(pages.into());

    let listed = broker.kcp(&["runtimes", "--events"]);

    let error = String::from_utf8(listed.stderr).unwrap();
    assert!(listed.status.success(), "{error}");
    assert!(error.contains("at most 100 runtimes, these are 101"), "{error}");
    assert_eq!(String::from_utf8(listed.stdout).unwrap().lines().count(), 102);
    assert_eq!(broker.asked().len(), 2);
}
