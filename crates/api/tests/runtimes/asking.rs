//! Access to the list of runtimes.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::fleet::{ANY, Fleet, READ, ids};

pub(crate) async fn the_door_opens_with_its_scope_and_a_tenant_only(fleet: Fleet) {
    let good = fleet.token(&[READ, ANY], None);
    let tenant = fleet.token(&[READ], Some("ga-1"));
    let wrong_scope = fleet.token(&["broker:write", "operations:read", ANY], None);
    let no_tenant = fleet.token(&[READ], None);

    for (token, expected) in [
        (None, 401),
        (Some("nonsense"), 401),
        (Some(wrong_scope.as_str()), 403),
        (Some(no_tenant.as_str()), 403),
        (Some(tenant.as_str()), 200),
        (Some(good.as_str()), 200),
    ] {
        let (status, body) = fleet.send("get", "", token).await;
        assert_eq!(status.as_u16(), expected, "{token:?} {body}");
        assert_eq!(body.get("data").is_some(), expected == 200);
    }
}

pub(crate) async fn a_tenant_is_told_its_own_runtimes_alone(fleet: Fleet) {
    fleet.order("i-1", "ga-1").await;
    fleet.order("i-2", "ga-2").await;
    let own = fleet.token(&[READ, ANY], Some("ga-1"));
    let none: [&str; 0] = [];

    let all = ids(fleet.send("get", "", Some(&own)).await, 1);
    let other = ids(fleet.send("get", "?account=ga-2", Some(&own)).await, 0);
    let named = ids(fleet.send("get", "?instance_id=i-2&state=all", Some(&own)).await, 0);

    assert_eq!(all, ["i-1"]);
    assert_eq!(other, none);
    assert_eq!(named, none);
    assert_eq!(ids(fleet.ask("?account=ga-2").await, 1), ["i-2"]);
}

pub(crate) async fn what_is_wrong_with_a_query_is_named(fleet: Fleet) {
    let table = [
        ("page=x", "page has to be an integer"),
        ("page=0", "page cannot be smaller than 1"),
        ("page=-1", "page cannot be smaller than 1"),
        ("page=1&page=2", "page has to be one parameter"),
        ("page_size=1.5", "pageSize has to be an integer"),
        ("page_size=0", "pageSize cannot be smaller than 1"),
        ("page_size=101", "pageSize is bigger than maxPage(100)"),
        ("page_size=1&page_size=1", "pageSize has to be one parameter"),
        ("shoot=c-(", "shoot \"c-(\" is not a regular expression: unclosed group"),
        ("op_detail=some", "op_detail \"some\" is neither all nor last"),
        ("expired=yes", "expired \"yes\" is neither true nor false"),
        ("acount=ga-1", "\"acount\" is not known here"),
    ];

    for (query, expected) in table {
        let (status, body) = fleet.ask(&format!("?{query}")).await;
        let expected = json!({"error": format!("while getting query parameters: {expected}")});
        assert_eq!((status, body), (StatusCode::BAD_REQUEST, expected), "{query}");
    }
    for query in ["state=odd", "state=deprovisioned&plan=aws", "kyma_config=1"] {
        let (status, body) = fleet.ask(&format!("?{query}")).await;
        let name = query.rsplit('&').next().unwrap().split('=').next().unwrap();
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(body["error"].as_str().unwrap().contains(&format!(": {name} ")), "{body}");
    }
}

pub(crate) async fn every_parameter_chooses(fleet: Fleet) {
    fleet.order("i-1", "ga-1").await;
    fleet.order("i-2", "ga-2").await;
    let (_, page) = fleet.ask("?instance_id=i-2").await;
    let shoot = page["data"][0]["shootName"].as_str().unwrap().to_owned();

    for (query, expected) in [
        (String::new(), &["i-1", "i-2"][..]),
        ("account=ga-1&account=ga-2&subaccount=ga-2-sub".into(), &["i-2"]),
        ("instance_id=i-1&instance_id=i-3".into(), &["i-1"]),
        (format!("shoot={shoot}"), &["i-2"]),
        (format!("shoot=nobody&shoot={}.%2A", &shoot[..5]), &["i-2"]),
        ("shoot=.%2A".into(), &["i-1", "i-2"]),
        ("shoot=c".into(), &[]),
        ("plan=aws&region=eu-central-1".into(), &["i-1", "i-2"]),
        ("plan=gcp".into(), &[]),
        ("region=mars".into(), &[]),
        ("runtime_id=00000000-0000-0000-0000-000000000001".into(), &[]),
        ("runtime_id=nosuch".into(), &[]),
        ("runtime_id=".into(), &[]),
        ("runtime_id=nosuch&state=all".into(), &[]),
        (
            "runtime_id=nosuch&runtime_id=00000000-0000-0000-0000-000000000001&account=ga-1".into(),
            &[],
        ),
        ("instance_id=nosuch".into(), &[]),
        ("instance_id=&state=all".into(), &[]),
        ("account=nosuch".into(), &[]),
        ("subaccount=nosuch".into(), &[]),
        ("instance_id=nosuch&state=deprovisioned".into(), &[]),
        ("state=provisioning&state=failed".into(), &["i-1", "i-2"]),
        ("state=succeeded".into(), &[]),
        ("expired=true".into(), &[]),
        (
            "expired=false&kyma_config=true&cluster_config=true&bindings=true".into(),
            &["i-1", "i-2"],
        ),
    ] {
        let found = ids(fleet.ask(&format!("?{query}")).await, expected.len() as u64);
        assert_eq!(found, expected, "{query}");
    }
}

pub(crate) async fn pages_are_numbered_from_one(fleet: Fleet) {
    for n in 1..=5 {
        fleet.order(&format!("i-{n}"), "ga-1").await;
    }
    let none: [&str; 0] = [];

    assert_eq!(ids(fleet.ask("?page_size=2").await, 5), ["i-1", "i-2"]);
    assert_eq!(ids(fleet.ask("?page_size=2&page=3").await, 5), ["i-5"]);
    assert_eq!(ids(fleet.ask("?page_size=2&page=4").await, 5), none);
    assert_eq!(ids(fleet.ask("?page=4294967295").await, 5), none);
}

pub(crate) async fn a_database_that_is_away_is_no_empty_fleet(fleet: Fleet) {
    fleet.order("i-1", "ga-1").await;
    fleet.database.close().await;

    let (status, body): (StatusCode, Value) = fleet.ask("").await;

    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(body["error"].as_str().unwrap().starts_with("while fetching instances: "), "{body}");
}
