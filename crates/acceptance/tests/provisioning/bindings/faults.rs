//! Runtimes that cannot be reached, sleep, or do not accept their admin kubeconfig.

use std::time::Duration;

use base::Key;
use broker::instances::Error;
use clients::provisioner::{OperationState, Tenant};
use simulators::trouble::Kind;

use super::{BoundRuntime, MAKING, REMOVING, TIME, crashes::times, meets, opens};
use crate::service::SYSTEM;

const RUNTIMES: &str = "runtimes";

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_runtime_is_told_and_the_same_bind_succeeds_once_it_is_back() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    for down in [Kind::Down { refuse: false }, Kind::Down { refuse: true }] {
        runtime.outside.trouble(RUNTIMES, 1_000, down);

        let error = runtime.bind("b-1").await.unwrap_err();

        assert!(matches!(error, Error::Runtime { .. }), "{error:?}");
        assert!(error.to_string().ends_with("is not available, try again later"), "{error}");
        runtime.outside.calm();
        runtime.bindings.clean_up().await.unwrap();
        assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
    }
    opens(&runtime.bind("b-1").await.unwrap().kubeconfig).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_provisioner_nothing_is_begun_and_nothing_is_left() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    runtime.outside.trouble(SYSTEM, 1_000, Kind::Down { refuse: false });

    let error = runtime.bind("b-1").await.unwrap_err();

    assert!(matches!(error, Error::Runtime { .. }), "{error:?}");
    assert_eq!(runtime.stored().await, 0);
    runtime.outside.calm();
    assert!(runtime.bind("b-1").await.unwrap().created);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hibernated_runtime_is_not_bound_and_the_error_says_why() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    let outside = &runtime.outside;
    let provisioner = Box::pin(outside.env(&outside.clock)).await.provisioner;
    let tenant = Tenant::new(&runtime.order.context.globalaccount_id);
    let id = runtime.instance().await.runtime_id.unwrap().to_string();
    let begun = provisioner.hibernate(tenant, Key::named("sleep"), &id).await.unwrap().id.unwrap();
    let mut last = None;
    let asleep = async {
        loop {
            let status = provisioner.operation_status(tenant, &begun).await.unwrap();
            if status.state == OperationState::Succeeded {
                return;
            }
            last = Some(status);
            outside.clock.sleep(Duration::from_millis(20)).await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_mins(5), asleep).await;
    assert!(ended.is_ok(), "it is not hibernated: {last:?}");

    let error = runtime.bind("b-1").await.unwrap_err();

    assert!(matches!(error, Error::Bad(_)), "{error:?}");
    assert!(error.to_string().ends_with("is hibernated"), "{error}");
    assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_kubeconfig_that_has_run_out_is_asked_for_again() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    let unauthorized = Kind::Status { status: 401, body: None };
    runtime.outside.meet(meets(MAKING[0], unauthorized.clone()));

    let bound = runtime.bind("b-1").await.unwrap();
    runtime.outside.meet(meets(REMOVING[0], unauthorized));
    runtime.unbind("b-1").await.unwrap();

    assert!(bound.created);
    assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unbind_that_does_not_get_through_ends_the_binding_and_the_clean_up_removes_it() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    runtime.bind("b-1").await.unwrap();
    runtime.outside.trouble(RUNTIMES, 1_000, Kind::Down { refuse: false });

    let error = runtime.unbind("b-1").await.unwrap_err();

    assert!(matches!(error, Error::Runtime { .. }), "{error:?}");
    assert!(matches!(runtime.find("b-1").await, Err(Error::NotFound(_))));
    assert!(matches!(runtime.bind("b-1").await, Err(Error::Busy)));
    runtime.wait_for_takeover();
    assert_eq!(runtime.bindings.clean_up().await.unwrap(), 0, "it is still down");
    runtime.outside.calm();
    runtime.wait_for_takeover();
    assert_eq!(runtime.bindings.clean_up().await.unwrap(), 1);
    assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unbind_that_does_not_get_through_succeeds_when_it_is_asked_again() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    runtime.bind("b-1").await.unwrap();
    runtime.outside.trouble(RUNTIMES, 1_000, Kind::Down { refuse: false });
    let error = runtime.unbind("b-1").await.unwrap_err();
    assert!(matches!(error, Error::Runtime { .. }), "{error:?}");
    let again = runtime.unbind("b-1").await.unwrap_err();
    assert!(matches!(again, Error::Runtime { .. }), "it is still down: {again:?}");

    runtime.outside.calm();
    runtime.unbind("b-1").await.unwrap();

    assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bind_that_takes_too_long_is_given_up_and_leaves_nothing_behind() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    for call in MAKING {
        let before = times(&runtime, call);
        runtime.outside.meet(meets(call, Kind::Silent));
        let late = async {
            while times(&runtime, call) == before {
                runtime.outside.clock.sleep(Duration::from_millis(5)).await;
            }
            runtime.clock.advance(TIME);
        };
        let late = tokio::time::timeout(Duration::from_secs(30), late);

        let (bound, late) = tokio::join!(Box::pin(runtime.bind("b-1")), late);

        late.unwrap();
        let Err(Error::Runtime { source, .. }) = bound else { panic!("{call:?}") };
        assert_eq!(source.to_string(), "request timeout: time exceeded 15s", "{call:?}");
        assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0), "{call:?}");
        runtime.outside.calm();
    }
    runtime.bind("b-1").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_leaves_nothing_behind() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    for call in MAKING {
        runtime.outside.meet(meets(call, Kind::LostAnswer { status: None }));

        let error = runtime.bind("b-1").await.unwrap_err();

        assert!(matches!(error, Error::Runtime { .. }), "{error:?}");
        assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0), "{call:?}");
        runtime.outside.calm();
    }
    runtime.bind("b-1").await.unwrap();
}
