//! The catalog against the duties of the protocol.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    real::{PLANS, Real},
    service::Reply,
};

async fn read(real: &Real, path: &str) -> Value {
    let reply: Reply = real.service.call("GET", path).await;
    assert_eq!(reply.status.as_u16(), 200, "{}", reply.text);
    reply.json()
}

fn said(value: &Value, field: &str) -> String {
    let text = value[field].as_str().unwrap_or_default().to_owned();
    assert!(!text.is_empty(), "{field} of {}", value["name"]);
    text
}

#[tokio::test]
async fn c1_to_c15_the_catalog_is_complete_and_within_bounds() {
    let real = Real::start().await;

    let catalog = read(&real, "/oauth/v2/catalog").await;

    let service = &catalog["services"][0];
    assert_eq!(catalog["services"].as_array().unwrap().len(), 1);
    for field in ["name", "id", "description"] {
        said(service, field);
    }
    assert_eq!(service["bindable"], false);
    assert_eq!(service["instances_retrievable"], true);
    assert_eq!(service["plan_updateable"], false);
    let plans = service["plans"].as_array().unwrap();
    let names: BTreeSet<String> = plans.iter().map(|plan| said(plan, "name")).collect();
    let ids: BTreeSet<String> = plans.iter().map(|plan| said(plan, "id")).collect();
    assert_eq!(names, PLANS.map(str::to_owned).into());
    assert_eq!(ids.len(), PLANS.len());
    for plan in plans {
        said(plan, "description");
        assert_eq!(plan["maximum_polling_duration"], 24 * 60 * 60);
        assert_eq!(plan.get("maintenance_info"), None);
        for change in ["create", "update"] {
            let schema = &plan["schemas"]["service_instance"][change]["parameters"];
            let text = schema.to_string();
            let empty = schema.as_object().unwrap().is_empty();
            assert!(empty || schema["$schema"].is_string(), "{change} of {}", plan["name"]);
            assert!(text.len() < 64 * 1024 && !text.contains("\"$ref\":\"http"));
        }
    }
}

#[tokio::test]
async fn the_region_in_the_path_chooses_what_is_offered() {
    let real = Real::start().await;
    let regions = |catalog: &Value| {
        let plans = catalog["services"][0]["plans"].as_array().unwrap();
        let aws = plans.iter().find(|plan| plan["name"] == "aws").unwrap();
        let schema = &aws["schemas"]["service_instance"]["create"]["parameters"];
        schema["properties"]["region"]["enum"].as_array().unwrap().len()
    };

    let usual = read(&real, "/oauth/cf-eu10/v2/catalog").await;
    let european = read(&real, "/oauth/cf-eu11/v2/catalog").await;

    assert!(regions(&european) < regions(&usual));
    assert_eq!(
        read(&real, "/oauth/v2/catalog").await["services"][0]["id"],
        usual["services"][0]["id"]
    );
}
