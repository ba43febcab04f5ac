//! CIS: its requests, byte for byte.

use std::time::Duration;

use axum::{Json, response::IntoResponse};
use clients::{
    CallLimits,
    cis::{Accounts, Edition, Entitlements, Events},
};
use serde_json::json;

use super::{
    super::{
        support::{answering, noon},
        world::{cis_gates, cis_settings},
    },
    QUICK, pairs, sorted,
};

#[tokio::test]
async fn requests_are_what_the_services_document() {
    let (issuer, _) = answering(|_, _| Json(json!({"access_token": "t"})).into_response()).await;
    let (url, heard) = answering(|number, heard| {
        let cursor = (number == 3).then_some("a+b/=");
        let body = json!({
            "totalPages": 1, "events": [], "nextCursor": cursor, "amount": 2e9, "new": [],
            "betaEnabled": true, "usedForProduction": "USED_FOR_PRODUCTION", "modifiedDate": 5,
        });
        assert_eq!(heard.header("authorization"), Some("Bearer t"));
        Json(body).into_response()
    })
    .await;
    let settings = cis_settings(url, issuer, 150);
    let clock = noon();
    let gates = || cis_gates(CallLimits::DEFAULT, &clock);
    let ((gate, tokens), (other, others)) = (gates(), gates());
    let events = Events::through(gate, tokens, &settings).unwrap();
    let accounts = Accounts::through(other.clone(), others.clone(), &settings).unwrap();
    let entitlements = Entitlements::through(other, others, &settings).unwrap();

    events.deleted_subaccounts(Edition::Public, QUICK).await.unwrap();
    events.deleted_subaccounts(Edition::Central, QUICK).await.unwrap();
    events.deleted_subaccounts(Edition::CentralCursor, QUICK).await.unwrap();
    assert!(events.changes(Duration::from_mins(61), QUICK).await.stopped.is_none());
    let subaccount = accounts.subaccount("s/a").await.unwrap().unwrap();
    assert_eq!(entitlements.amount("aws", "s a").await.unwrap(), Some(2_000_000_000));

    assert_eq!((subaccount.beta_enabled, subaccount.modified_at.as_millisecond()), (true, 5));
    let paths: Vec<String> = heard.all().into_iter().map(|heard| heard.path).collect();
    assert_eq!(
        paths,
        [
            "/public/rest/v2/events",
            "/events/v1/events/central",
            "/events/v2/events/central",
            "/events/v2/events/central",
            "/events/v2/events/central",
            "/accounts/v1/technical/subaccounts/s%2Fa",
            "/entitlements/v1/services/kymaruntime/plans/aws/subaccounts/s%20a/entitlements",
        ]
    );
    let deletion = ("eventType", "Subaccount_Deletion");
    let (size, ascending) = (("pageSize", "150"), ("sortOrder", "ASC"));
    let golden: [&[(&str, &str)]; 5] = [
        &[
            ("ts", "1"),
            ("type", "MASTER_SUBACCOUNT_DELETION"),
            ("resultsPerPage", "150"),
            ("page", "1"),
        ],
        &[deletion, size, ("pageNum", "0"), ("sortField", "creationTime"), ascending],
        &[
            deletion,
            ("entityType", "Subaccount"),
            ("since", "30D"),
            size,
            ("sortField", "creationTime"),
            ascending,
        ],
        &[("cursor", "a+b/=")],
        &[
            ("since", "2H"),
            ("entityType", "Subaccount"),
            ("eventType", "Subaccount_Creation"),
            ("eventType", "Subaccount_Update"),
            size,
            ("sortField", "actionTime"),
            ascending,
        ],
    ];
    for (at, query) in golden.into_iter().enumerate() {
        assert_eq!(pairs(&heard, at), sorted(query), "request {at}");
    }
}
