//! Operators' access to runtimes.

use std::time::Duration;

use broker::{
    bindings::{BindingCredentials, OperatorAccess},
    instances::Error,
};

use secrecy::ExposeSecret as _;

use super::{BoundRuntime, opens};

const HALF: Duration = Duration::from_hours(4);

async fn ask(runtime: &BoundRuntime, person: &str) -> Result<BindingCredentials, Error> {
    ask_for(runtime, person, None).await
}

async fn ask_for(
    runtime: &BoundRuntime,
    person: &str,
    run: Option<&str>,
) -> Result<BindingCredentials, Error> {
    let id = runtime.instance().await.runtime_id.unwrap().to_string();
    let account = &runtime.order.context.globalaccount_id;
    let wish = OperatorAccess { account, runtime: &id, person, run };
    runtime.bindings.operator_kubeconfig(&wish).await
}

async fn end(runtime: &BoundRuntime, person: &str, run: &str) -> Result<(), Error> {
    let id = runtime.instance().await.runtime_id.unwrap().to_string();
    let account = &runtime.order.context.globalaccount_id;
    let wish = OperatorAccess { account, runtime: &id, person, run: Some(run) };
    runtime.bindings.end_operator_access(&wish).await
}

#[tokio::test(flavor = "multi_thread")]
async fn access_for_a_run_ends_with_the_run_and_leaves_other_access_alone() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    let kept = ask(&runtime, "jo").await.unwrap();
    let one = ask_for(&runtime, "jo", Some("one")).await.unwrap();
    let two = ask_for(&runtime, "jo", Some("two")).await.unwrap();
    assert!(one.created && two.created);
    assert!(!ask_for(&runtime, "jo", Some("one")).await.unwrap().created);

    end(&runtime, "jo", "one").await.unwrap();

    assert!(opens(&one.kubeconfig).await.is_err());
    opens(&two.kubeconfig).await.unwrap();
    opens(&kept.kubeconfig).await.unwrap();
    assert_eq!((runtime.made().len(), runtime.stored().await), (6, 2));
    for (person, run) in [("jo", "one"), ("al", "two"), ("jo", "three")] {
        let missing = end(&runtime, person, run).await.unwrap_err();
        assert!(matches!(missing, Error::NotFound(_)), "{missing}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_gets_one_kubeconfig_for_half_of_its_time_and_never_anothers() {
    let runtime = Box::pin(BoundRuntime::start()).await;

    let first = ask(&runtime, "jo").await.unwrap();
    opens(&first.kubeconfig).await.unwrap();
    let again = ask(&runtime, "jo").await.unwrap();
    assert!(first.created && !again.created);
    assert!(first.expires_at >= runtime.clock.now() + HALF);
    assert!(ask(&runtime, "al").await.unwrap().created);
    runtime.clock.advance(HALF);
    let later = ask(&runtime, "jo").await.unwrap();
    assert!(later.created);
    assert_ne!(later.kubeconfig.expose_secret(), first.kubeconfig.expose_secret());

    runtime.clock.advance(3 * HALF);
    runtime.bindings.clean_up().await.unwrap();
    assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
    assert!(opens(&first.kubeconfig).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn platforms_neither_see_remove_nor_count_bindings_of_operators() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    ask(&runtime, "jo").await.unwrap();
    let id = runtime.bindings_of().await.remove(0).binding;

    assert!(matches!(runtime.find(&id).await.unwrap_err(), Error::NotFound(_)));
    assert!(matches!(runtime.unbind(&id).await.unwrap_err(), Error::Gone));
    let refused = runtime.bind(&id).await.unwrap_err().to_string();
    assert_eq!(refused, "binding_id must not begin with kcp-operator-");
    for at in 0..10 {
        runtime.bind(&format!("b-{at}")).await.unwrap();
    }
    assert!(matches!(runtime.bind("b-10").await.unwrap_err(), Error::Limit(_)));
    assert!(ask(&runtime, "al").await.unwrap().created);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_of_another_account_is_not_there() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    let id = runtime.instance().await.runtime_id.unwrap().to_string();
    let account = &runtime.order.context.globalaccount_id;
    for (account, id) in [("other", id.as_str()), (account, "no-uuid"), (account, &id[1..])] {
        let wish = OperatorAccess { account, runtime: id, person: "jo", run: None };
        let missing = runtime.bindings.operator_kubeconfig(&wish).await.unwrap_err();
        assert!(matches!(missing, Error::NotFound(_)), "{missing}");
    }
    assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
}
