//! Good orders, made from the published schema of a plan.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::shapes::{OrderDefect, OrderTemplate};
use crate::{
    document::DOCUMENT,
    real::{Real, order},
};

/// Parameters that are understood and not published.
const UNPUBLISHED: [&str; 11] = [
    "maxSurge",
    "maxUnavailable",
    "purpose",
    "volumeSizeGb",
    "zones",
    "targetSecret",
    "components",
    "kymaVersion",
    "administrators",
    "kubeconfig",
    "oidc",
];

const KUBECONFIG: &str = "{current-context: a, clusters: [{name: a, cluster: {server: https://a.test}}],\
                          contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a}]}";

/// The plans, as catalog and document publish them.
pub(super) async fn sold(real: &Real) -> Vec<OrderTemplate> {
    let document: Value = serde_saphyr::from_str(DOCUMENT).unwrap();
    let schemas = &document["components"]["schemas"];
    let catalog = real.service.call("GET", "/oauth/cf-eu10/v2/catalog").await.json();
    let plans = catalog["services"][0]["plans"].as_array().unwrap().clone();
    plans.iter().map(|plan| plan_sold(schemas, plan)).collect()
}

fn plan_sold(schemas: &Value, plan: &Value) -> OrderTemplate {
    let published = &plan["schemas"]["service_instance"]["create"]["parameters"];
    let parts =
        [("", &schemas["Order"]), ("/context", &schemas["Context"]), ("/parameters", published)];
    let names = |part: &Value| -> Vec<String> {
        let properties = part["properties"].as_object().unwrap();
        properties.keys().filter(|name| !name.ends_with("_guid")).cloned().collect()
    };
    let needed = |part: &Value| -> Vec<String> {
        let required = part["required"].as_array().unwrap();
        required.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let below = |at: &str, names: Vec<String>| -> Vec<String> {
        names.iter().map(|name| format!("{at}/{name}")).collect()
    };
    let mut order = order();
    order["plan_id"] = plan["id"].clone();
    if plan["name"] == "own_cluster" {
        order["parameters"] = json!({
            "name": "dev", "kubeconfig": BASE64_STANDARD.encode(KUBECONFIG),
            "shootName": "shoot", "shootDomain": "shoot.test",
        });
    }
    let mut fields: Vec<String> =
        parts.iter().flat_map(|(at, part)| below(at, names(part))).collect();
    fields.extend(UNPUBLISHED.map(|name| format!("/parameters/{name}")));
    let needed = parts.iter().flat_map(|(at, part)| below(at, needed(part))).collect();
    OrderTemplate { order, fields, needed }
}

/// The order with one thing spoiled. Every order is of an account of its own, because some have limits.
pub(super) fn body(sold: &OrderTemplate, number: usize, spoiled: &OrderDefect) -> Vec<u8> {
    let parent = |pointer: &str| {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        (parent.to_owned(), name.to_owned())
    };
    let mut good = sold.order.clone();
    good["context"]["globalaccount_id"] = json!(format!("ga-{number}"));
    match spoiled {
        OrderDefect::Bytes(bytes) => return bytes.clone(),
        OrderDefect::Body(body) => return body.to_string().into_bytes(),
        OrderDefect::Field(pointer, value) => {
            let (parent, name) = parent(pointer);
            good.pointer_mut(&parent).unwrap()[name] = value.clone();
        }
        OrderDefect::Without(pointer) => {
            let (parent, name) = parent(pointer);
            good.pointer_mut(&parent).unwrap().as_object_mut().unwrap().remove(&name);
        }
        OrderDefect::Version(_) => {}
    }
    good.to_string().into_bytes()
}
