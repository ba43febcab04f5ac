//! `GET /info/runtimes`.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::fleet::{ANY, Fleet, READ};

const METERING: &str = "cld:read";

pub(crate) async fn every_instance_is_listed_in_the_form_that_clients_know(fleet: Fleet) {
    let token = fleet.token(&[METERING, ANY], None);
    let (status, none) = fleet.infos(&token).await;
    assert_eq!((status, none), (StatusCode::OK, json!([])));
    fleet.order("i-1", "ga-1").await;
    fleet.order("i-2", "ga-2").await;

    let (_, all) = fleet.infos(&token).await;
    let (_, own) = fleet.infos(&fleet.token(&[METERING], Some("ga-2"))).await;

    let mut first = all[0].clone();
    let created = first["status"]["createdAt"].take();
    assert_eq!(created, first["status"]["updatedAt"].take());
    assert_eq!(
        first,
        json!({
            "runtimeId": "", "globalAccountId": "ga-1", "subaccountId": "ga-1-sub",
            "subaccountRegion": "cf-eu10", "serviceInstanceId": "i-1",
            "serviceClassId": "47c9dcbf-ff30-448e-ab36-d3bad66ba281",
            "serviceClassName": "kymaruntime",
            "servicePlanId": "361c511f-f939-4621-b228-d0fb79a1fe15", "servicePlanName": "aws",
            "status": {
                "createdAt": null, "updatedAt": null,
                "provisioning": {"state": "pending", "description": "Operation created"},
            },
        })
    );
    let ids = |list: &Value| -> Vec<String> {
        let ids = list.as_array().unwrap().iter();
        ids.map(|it| it["serviceInstanceId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&all), ["i-1", "i-2"]);
    assert_eq!(ids(&own), ["i-2"]);
}

pub(crate) async fn only_its_scope_opens_the_list(fleet: Fleet) {
    for (scopes, tenant, expected) in [
        (&[READ, "broker:write", ANY][..], None, 403),
        (&[METERING], None, 403),
        (&[METERING], Some("ga-1"), 200),
        (&[METERING, ANY], None, 200),
    ] {
        let (status, body) = fleet.infos(&fleet.token(scopes, tenant)).await;
        assert_eq!(status.as_u16(), expected, "{scopes:?} {tenant:?} {body}");
    }
}

pub(crate) async fn a_failure_has_the_envelope_that_clients_know(fleet: Fleet) {
    fleet.database.close().await;

    let (status, body) = fleet.infos(&fleet.token(&[METERING, ANY], None)).await;

    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        body,
        json!({
            "status": 503, "requestId": "r-1",
            "message": "Something went very wrong. Please try again.",
        })
    );
}
