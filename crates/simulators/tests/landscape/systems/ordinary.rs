//! Ordinary calls of each system, as any program would make them.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::world::World;

pub(crate) const SYSTEMS: [&str; 5] = ["avs", "edp", "ias", "lms", "spc"];
pub(crate) const EVALUATIONS: &str = "/avs/api/v2/evaluationmetadata";
pub(crate) const TENANTS: &str = "/edp/namespaces/kcp/dataTenants";

/// Begins a call of a system, with the credentials it asks for.
pub(crate) fn call(world: &World, method: &str, path: &str) -> RequestBuilder {
    let request = world.http.request(method.parse().unwrap(), format!("{}{path}", world.url));
    match path.split('/').nth(1) {
        Some("avs" | "edp") => request.bearer_auth(&world.token),
        Some("ias") => request.basic_auth("kcp-ias", Some("kcp-ias-secret")),
        Some("lms") => request.header("X-LMS-Token", "kcp-lms-token"),
        _ => request,
    }
}

pub(crate) fn evaluation(name: &str) -> Value {
    json!({
        "definition_type": "BASIC", "name": name, "description": "{}", "service": "svc", "url": "",
        "check_type": "", "interval": 60, "tester_access_id": 40, "timeout": 30000,
        "read_only": false, "content_check": "error", "content_check_type": "NOT_CONTAINS",
        "threshold": "30000", "group_id": 40, "visibility": "PUBLIC", "parent_id": 77, "tags": null,
    })
}

pub(crate) fn logging(name: &str) -> Value {
    json!({
        "name": name, "region": "eu", "samlGroups": ["skr-logging-viewer"], "clusterType": "ha",
        "datacenter": "all", "environment": "dev", "project": "kyma", "samlTenant": "saml",
        "costcenter": 0, "globalAccountID": "ga",
    })
}

/// A call that makes something; with another number, something else.
pub(crate) fn making(world: &World, system: &str, number: usize) -> RequestBuilder {
    let id = format!("n{number}");
    match system {
        "avs" => call(world, "POST", EVALUATIONS).json(&evaluation(&id)),
        "edp" => {
            let tenant = json!({ "name": id, "environment": "dev", "secret": "c2VjcmV0" });
            call(world, "POST", TENANTS).json(&tenant)
        }
        "ias" => {
            let form = [("sp_name", id.as_str()), ("company_id", "global")];
            call(world, "POST", "/ias/service/sps").form(&form)
        }
        "lms" => call(world, "POST", "/lms/tenants").json(&logging(&id)),
        _ => {
            let event = json!({ "orchestrationId": id, "eventType": "0", "tenants": [] });
            call(world, "POST", "/spc/createMaintenanceEvent").json(&event)
        }
    }
}

/// The same call with a body that makes no sense to the system.
pub(crate) fn nonsense(world: &World, system: &str) -> RequestBuilder {
    let path = match system {
        "avs" => EVALUATIONS,
        "edp" => TENANTS,
        "ias" => "/ias/service/sps",
        "lms" => "/lms/tenants",
        _ => "/spc/createMaintenanceEvent",
    };
    call(world, "POST", path).body("{")
}

/// Everything that a system keeps.
pub(crate) async fn objects(world: &World, system: &str) -> Vec<Value> {
    let request = world.control("GET", &format!("/systems/{system}/objects"));
    let answer = crate::world::json(request).await;
    answer["objects"].as_array().unwrap().clone()
}

/// Gives a system an order; comes back with the status.
pub(crate) async fn order(world: &World, system: &str, order: &str, with: Value) -> u16 {
    let request = world.control("POST", &format!("/systems/{system}/orders/{order}"));
    crate::world::status(request.json(&with)).await
}
