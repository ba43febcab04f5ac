//! The published document and the routes say the same.

use serde_json::Value;

use crate::{real::Real, support::openapi};

pub(crate) const DOCUMENT: &str = include_str!("../../../../docs/openapi/osb.yaml");
const OPERATORS: &str = include_str!("../../../../docs/openapi/operators.yaml");
const METHODS: [&str; 5] = ["get", "put", "patch", "delete", "post"];

#[tokio::test]
async fn every_path_and_method_is_served_as_the_document_says_and_no_other() {
    let document: Value = serde_saphyr::from_str(DOCUMENT).unwrap();
    let real = Real::start().await;
    let service = &real.service;

    for (path, described) in document["paths"].as_object().unwrap() {
        let concrete = path.replace("{instance_id}", "i-1").replace("{binding_id}", "b-1");
        for method in METHODS {
            let uri = format!("/oauth/cf-eu10{concrete}?service_id=s&plan_id=p");
            let reply = service.put_or_call(method, &uri).await;
            let status = reply.status.as_u16().to_string();
            match described.get(method) {
                Some(operation) => {
                    let known = operation["responses"].get(&status).is_some();
                    assert!(known, "{method} {path} answers {status}");
                }
                None => assert_eq!(status, "405", "{method} {path}"),
            }
        }
    }
    assert_eq!(document["paths"].as_object().unwrap().len(), 6);
}

#[test]
fn the_document_is_valid_and_says_what_every_status_means() {
    let always = ["400", "401", "403", "408", "412", "413", "429", "431", "500", "503", "504"];

    openapi::is_valid(DOCUMENT, &always);
}

#[test]
fn the_documents_for_operators_are_valid() {
    openapi::is_valid(OPERATORS, &[]);
    openapi::is_valid(include_str!("../../../../docs/openapi/provisioner.yaml"), &[]);
}

#[tokio::test]
async fn the_documents_are_served_to_everybody() {
    let real = Real::start().await;
    let service = &real.service;
    let runtimes = include_str!("../../../../docs/openapi/runtimes.yaml");
    let orchestrations = include_str!("../../../../docs/openapi/orchestrations.yaml");
    let all = [
        ("osb", DOCUMENT),
        ("runtimes", runtimes),
        ("orchestrations", orchestrations),
        ("operators", OPERATORS),
    ];

    for (path, document) in all {
        let reply = service.anonymous("GET", &format!("/openapi/{path}.yaml")).await;
        assert_eq!((reply.status.as_u16(), reply.text.as_str()), (200, document));
    }
}
