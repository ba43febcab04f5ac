//! Operators' access to runtimes.

use std::time::Duration;

use broker::{bindings::Bound, instances::Error};

use secrecy::ExposeSecret as _;

use super::{BoundRuntime, opens};

const HALF: Duration = Duration::from_hours(4);

async fn ask(runtime: &BoundRuntime, person: &str) -> Result<Bound, Error> {
    let id = runtime.instance().await.runtime_id.unwrap().to_string();
    let account = &runtime.order.context.globalaccount_id;
    runtime.bindings.operator_kubeconfig(account, &id, person).await
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
        let missing = runtime.bindings.operator_kubeconfig(account, id, "jo").await.unwrap_err();
        assert!(matches!(missing, Error::NotFound(_)), "{missing}");
    }
    assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
}
