//! CIS: golden requests, accounts, entitlements, tokens.

use std::time::Duration;

use axum::{Json, response::IntoResponse};
use base::Clock;
use clients::{
    CallLimits, Kind,
    cis::{Accounts, Edition, Entitlements, Events, Patience},
};
use serde_json::json;
use simulators::trouble::Kind as Trouble;

use super::{
    support::{Journal, answering, noon},
    world::{World, cis_gates, cis_settings},
};

/// Patience that takes no time.
pub(crate) const QUICK: Patience = Patience {
    retries: 5,
    pause: Duration::from_millis(1),
    between: Duration::ZERO,
    total: Duration::from_secs(20),
};

pub(crate) fn events(world: &World, page_size: u16) -> Events {
    let (gate, tokens) = cis_gates(CallLimits::DEFAULT, &Clock::running());
    Events::through(gate, tokens, &world.cis(page_size)).unwrap()
}

fn accounts(world: &World) -> Accounts {
    let (gate, tokens) = cis_gates(CallLimits::DEFAULT, &world.clock);
    Accounts::through(gate, tokens, &world.cis(10)).unwrap()
}

fn entitlements(world: &World) -> Entitlements {
    let (gate, tokens) = cis_gates(CallLimits::DEFAULT, &Clock::running());
    Entitlements::through(gate, tokens, &world.cis(10)).unwrap()
}

/// The query as pairs, in any order.
fn pairs(journal: &Journal, at: usize) -> Vec<(String, String)> {
    let query = journal.all()[at].query.clone();
    let mut pairs: Vec<_> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    pairs.sort();
    pairs
}

fn sorted(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut pairs: Vec<_> =
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    pairs.sort();
    pairs
}

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

#[tokio::test]
async fn a_subaccount_is_read_until_it_is_deleted() {
    let world = World::new().await;
    let accounts = accounts(&world);
    accounts.check().await.unwrap();
    world.order("cis", "create-subaccount", json!({"id": "sa", "beta": true})).await;

    let found = accounts.subaccount("sa").await.unwrap().unwrap();
    world.order("cis", "delete-subaccount", json!({"id": "sa"})).await;

    assert_eq!(found.used_for_production, "NOT_USED_FOR_PRODUCTION");
    assert_eq!((found.beta_enabled, found.modified_at), (true, world.clock.now()));
    assert_eq!(accounts.subaccount("sa").await.unwrap(), None);
}

#[tokio::test]
async fn an_empty_record_is_no_subaccount() {
    let world = World::new().await;
    world.trouble("cis", "GET", 1, Trouble::Malformed { body: Some("{}".into()) });
    world.order("cis", "create-subaccount", json!({"id": "sa"})).await;

    assert_eq!(accounts(&world).subaccount("sa").await.unwrap(), None);
}

#[tokio::test]
async fn entitlements_are_whole_numbers_whatever_the_service_writes() {
    let world = World::new().await;
    let client = entitlements(&world);
    let table = [(json!(3), 3), (json!(2e9), 2_000_000_000), (json!(1.9), 1), (json!(-1), 0)];

    for (amount, instances) in table {
        world.order("cis", "entitle", json!({"id": "sa", "plan": "aws", "amount": amount})).await;
        assert_eq!(client.amount("aws", "sa").await.unwrap(), Some(instances), "{amount}");
    }
    for amount in [json!(null), json!("many")] {
        world.order("cis", "entitle", json!({"id": "sa", "plan": "aws", "amount": amount})).await;
        let error = client.amount("aws", "sa").await.unwrap_err();
        assert_eq!(error.kind, Kind::Malformed);
    }
    world.order("cis", "be-strict", json!({})).await;
    assert_eq!(client.amount("aws", "nobody").await.unwrap(), None);
}

#[tokio::test]
async fn a_question_is_asked_again_only_within_its_patience() {
    let world = World::new().await;
    let client = entitlements(&world);
    let patience = Patience { retries: 3, ..QUICK };

    world.trouble("cis", "GET", 3, Trouble::Down { refuse: false });
    assert_eq!(client.amount_within("aws", "sa", patience).await.unwrap(), Some(2_000_000_000));
    world.trouble("cis", "GET", 4, Trouble::Truncated);
    let error = client.amount_within("aws", "sa", patience).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unavailable);
    assert_eq!(world.calls("cis").len(), 8);
    world.trouble("cis", "GET", 1, Trouble::Status { status: 403, body: None });
    let error = client.amount_within("aws", "sa", patience).await.unwrap_err();
    assert_eq!((error.kind, world.calls("cis").len()), (Kind::Unauthorized, 9));
}

#[tokio::test]
async fn a_question_ends_in_time_while_the_service_hangs() {
    let world = World::new().await;
    world.trouble("cis", "GET", 1, Trouble::Slow { delay_ms: 3_600_000 });
    let patience = Patience { total: Duration::from_millis(200), ..QUICK };

    let error = entitlements(&world).amount_within("aws", "sa", patience).await.unwrap_err();

    assert_eq!((error.kind, error.said.as_deref()), (Kind::Unavailable, Some("out of time")));
}

#[tokio::test]
async fn a_token_that_ends_is_renewed_once_for_all() {
    let world = World::new().await;
    let client = entitlements(&world);
    client.amount("aws", "sa").await.unwrap();
    world.running.landscape.issuer().expire_tokens().unwrap();
    world.clock.advance(Duration::from_secs(2));

    let asked = (0..10).map(|_| client.amount("aws", "sa"));
    let answers = futures::future::join_all(asked).await;

    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(world.calls("issuer").len(), 2);
}

#[tokio::test]
async fn while_the_issuer_is_down_it_is_the_issuer_that_is_down() {
    let world = World::new().await;
    world.trouble("issuer", "POST", 1, Trouble::Down { refuse: true });

    let error = entitlements(&world).amount("aws", "sa").await.unwrap_err();

    assert_eq!(error.component, clients::Component::ISSUER);
    assert!(world.calls("cis").is_empty());
}
