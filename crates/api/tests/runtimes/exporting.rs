//! `GET /runtimes/export`.

use reqwest::{StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};

use crate::fleet::{Fleet, READ, ids};

/// The runtimes on the lines.
fn runtimes(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn instances(lines: &str) -> Vec<String> {
    let runtimes = runtimes(lines).into_iter();
    runtimes.map(|runtime| runtime["instanceID"].as_str().unwrap().to_owned()).collect()
}

pub(crate) async fn an_export_has_every_runtime_that_the_pages_have(fleet: Fleet) {
    assert_eq!(fleet.export("").await, "");
    for n in 1..=3 {
        fleet.order(&format!("i-{n}"), "ga-1").await;
    }

    let answer = fleet.exporting("?format=ndjson").await;

    assert_eq!(answer.headers()[CONTENT_TYPE], "application/x-ndjson");
    let (_, page) = fleet.ask("").await;
    assert_eq!(json!(runtimes(&answer.text().await.unwrap())), page["data"]);
}

pub(crate) async fn the_same_filters_choose_what_is_exported(fleet: Fleet) {
    fleet.order("i-1", "ga-1").await;
    fleet.order("i-2", "ga-2").await;
    let (_, page) = fleet.ask("?instance_id=i-2").await;
    let shoot = page["data"][0]["shootName"].as_str().unwrap().to_owned();

    for (query, total) in [
        ("account=ga-1".to_owned(), 1),
        ("account=ga-1&account=ga-2&subaccount=ga-2-sub".into(), 1),
        ("instance_id=i-1&instance_id=i-3".into(), 1),
        (format!("shoot={shoot}"), 1),
        (format!("shoot={}.%2A", &shoot[..5]), 1),
        (format!("shoot={}.%2A&account=ga-1", &shoot[..5]), 0),
        (format!("shoot={}.%2A&instance_id=i-2", &shoot[..5]), 1),
        ("plan=gcp".into(), 0),
        ("region=eu-central-1&state=all".into(), 2),
        ("state=deprovisioned".into(), 0),
        ("state=deprovisioned&state=provisioning&instance_id=i-1".into(), 1),
    ] {
        let exported = instances(&fleet.export(&format!("?{query}")).await);
        assert_eq!(exported, ids(fleet.ask(&format!("?{query}")).await, total), "{query}");
    }
}

pub(crate) async fn what_is_wrong_with_an_export_is_named(fleet: Fleet) {
    for (query, expected) in [
        ("format=xml", "format \"xml\" is neither ndjson nor csv"),
        ("page=2", "page is not for exports: they have no pages"),
        ("page_size=2", "page_size is not for exports: they have no pages"),
        ("acount=ga-1", "\"acount\" is not known here"),
        ("shoot=c-(", "shoot \"c-(\" is not a regular expression: unclosed group"),
    ] {
        let (status, body) = fleet.ask(&format!("/export?{query}")).await;
        let expected = json!({"error": format!("while getting query parameters: {expected}")});
        assert_eq!((status, body), (StatusCode::BAD_REQUEST, expected), "{query}");
    }
    fleet.database.close().await;

    let (status, _) = fleet.ask("/export").await;

    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
}

pub(crate) async fn a_tenant_exports_its_own_runtimes_alone(fleet: Fleet) {
    fleet.order("i-1", "ga-1").await;
    fleet.order("i-2", "ga-2").await;
    let own = fleet.token(&[READ], Some("ga-1"));

    let (_, runtime) = fleet.send("get", "/export", Some(&own)).await;
    let (status, nothing) = fleet.send("get", "/export?account=ga-2", Some(&own)).await;

    assert_eq!(runtime["instanceID"], "i-1");
    assert_eq!((status, nothing), (StatusCode::OK, Value::Null));
}

pub(crate) async fn a_table_has_a_header_and_a_row_for_each_runtime(fleet: Fleet) {
    fleet.order("i-1", "ga-1").await;

    let answer = fleet.exporting("?format=csv").await;

    assert_eq!(answer.headers()[CONTENT_TYPE], "text/csv; charset=utf-8");
    let table = answer.text().await.unwrap();
    let lines: Vec<&str> = table.split_terminator("\r\n").collect();
    assert!(lines[0].starts_with("name,instanceID,runtimeID,globalAccountID,"), "{table}");
    assert!(lines[1].starts_with("name-of-i-1,i-1,,ga-1,,ga-1-sub,"), "{table}");
    assert_eq!(lines.len(), 2, "{table}");
}
