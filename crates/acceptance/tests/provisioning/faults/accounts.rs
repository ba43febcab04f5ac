//! Orders and the accounts that pay for them.

use std::sync::Arc;

use engine::State;
use serde_json::json;

use crate::{orders::OrderSpec, outside::Outside, trying::Trying};

#[tokio::test(flavor = "multi_thread")]
async fn an_order_without_an_account_to_pay_for_it_fails_after_ten_minutes_and_says_so() {
    let trying = Trying::on(Outside::start(&["aws"], 0).await, false);

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Failed);
    let failure = tried.snapshot.failure.unwrap();
    assert_eq!(failure.reason, "NoFreeAccount", "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_brokers_that_want_the_last_account_one_gets_it() {
    let outside = Arc::new(Outside::start(&["aws"], 1).await);
    let broker = |name: &'static str| {
        let mut trying = Trying::on(outside.clone(), false);
        trying.wish = Box::new(move |mark| OrderSpec::aws(&format!("{name}-{mark}")));
        trying
    };
    let (one, other) = (broker("one"), broker("other"));

    let (one, other) = tokio::join!(one.once(), other.once());

    let (won, lost) = if one.end.state == State::Succeeded { (one, other) } else { (other, one) };
    assert_eq!((won.end.state, lost.end.state), (State::Succeeded, State::Failed));
    assert_eq!(lost.snapshot.failure.unwrap().reason, "NoFreeAccount");
    let accounts = [&won.end.world["accounts"], &lost.end.world["accounts"]];
    assert_eq!(accounts, [1, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_of_another_global_account_is_not_used_even_if_it_was_accepted() {
    let mut trying = Trying::on(Outside::start(&["aws"], 1).await, false);
    let wish = |mark: &str| OrderSpec {
        parameters: json!({"name": "Demo", "region": "eu-central-1", "targetSecret": "aws-internal-1"}),
        ..OrderSpec::aws(mark)
    };
    trying.wish = Box::new(wish);

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Failed);
    assert_eq!(tried.snapshot.failure.unwrap().reason, "foreign_account");
}
