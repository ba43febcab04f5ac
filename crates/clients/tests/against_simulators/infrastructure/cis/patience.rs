//! Questions to CIS that are repeated or hang, and the tokens for them.

use std::time::Duration;

use clients::{Kind, cis::Patience};
use simulators::trouble::Kind as Trouble;

use super::{super::world::World, QUICK, entitlements};

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
