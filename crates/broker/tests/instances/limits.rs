//! How many instances an account may have.

use broker::instances::{Caller, Error, Provision};
use futures::future::join_all;

use crate::world::{TRIAL, World, context, request};

const ENOUGH: &str = "trial Kyma was created for the global account, but there is only one allowed";

fn enough(error: &Error) -> bool {
    matches!(error, Error::Limit(text) if text == ENOUGH)
}

pub(crate) async fn a_global_account_has_one_trial(world: World) {
    let caller = Caller::default();
    world.broker.provision(&caller, request("i-1", TRIAL)).await.unwrap();
    let elsewhere = Provision { context: Some(context("ga-2")), ..request("i-3", TRIAL) };

    let second = world.broker.provision(&caller, request("i-2", TRIAL)).await.unwrap_err();
    let other_account = world.broker.provision(&caller, elsewhere).await;

    assert!(enough(&second), "{second}");
    assert!(other_account.is_ok());
    assert_eq!(world.operations().await, 2);
}

pub(crate) async fn a_repeated_trial_is_no_second_one(world: World) {
    let caller = Caller::default();
    let first = world.broker.provision(&caller, request("i-1", TRIAL)).await.unwrap();

    let again = world.broker.provision(&caller, request("i-1", TRIAL)).await.unwrap();

    assert_eq!(again, first);
}

pub(crate) async fn of_twenty_trials_at_once_one_is_accepted(world: World) {
    let caller = Caller::default();
    let ids: Vec<String> = (0..20).map(|number| format!("i-{number}")).collect();

    let orders = ids.iter().map(|id| world.broker.provision(&caller, request(id, TRIAL)));
    let answers = join_all(orders).await;

    let refused: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
    assert_eq!(refused.len(), 19);
    assert!(refused.into_iter().all(enough));
    assert_eq!(world.operations().await, 1);
}

pub(crate) async fn a_trial_beside_an_instance_of_another_plan_is_told_why(world: World) {
    world.ordered("i-1").await;

    let trial =
        world.broker.provision(&Caller::default(), request("i-2", TRIAL)).await.unwrap_err();

    let text = trial.to_string();
    assert!(text.starts_with("the global account has an instance of another plan"), "{text}");
}
