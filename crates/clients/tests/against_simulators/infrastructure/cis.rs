//! CIS: accounts and entitlements as they are read.

mod golden;
mod patience;

use std::time::Duration;

use base::Clock;
use clients::{
    CallLimits, Kind,
    cis::{Accounts, Entitlements, Events, Patience},
};
use serde_json::json;
use simulators::trouble::Kind as Trouble;

use super::{
    support::Journal,
    world::{World, cis_gates},
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
