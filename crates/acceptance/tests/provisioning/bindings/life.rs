//! From the bind to the unbind, the expiry, or the end of the instance.

use std::time::Duration;

use broker::{
    bindings::Bind,
    instances::{Error, Progress},
};
use clients::Kind;
use secrecy::ExposeSecret;

use super::{BoundRuntime, anybody, bindings, opens};
use crate::suspension::{settled, use_cases};

on_both_databases! {
    credentials_open_the_runtime_until_they_are_given_back,
    the_same_bind_again_gives_the_same_credentials_and_another_one_is_a_conflict,
    of_ten_binds_of_one_id_at_once_one_binding_comes_about,
    a_successor_has_its_predecessors_lifetime_and_both_work_until_each_ends,
    what_has_expired_is_neither_given_out_nor_left_behind_and_replicas_share_the_work,
    bindings_go_with_their_instance,
    a_binding_of_a_former_runtime_is_listed_as_gone,
}

async fn credentials_open_the_runtime_until_they_are_given_back(runtime: BoundRuntime) {
    let bound = runtime.bind("b-1").await.unwrap();

    assert!(bound.created);
    let left = bound.expires_at.duration_since(runtime.clock.now()).as_secs();
    assert!((590..=660).contains(&left), "{left}");
    assert!(bound.renew_before < bound.expires_at);
    opens(&bound.kubeconfig).await.unwrap();
    assert_eq!(
        runtime.made(),
        [
            "serviceaccounts kyma-binding-b-1",
            "clusterroles.rbac.authorization.k8s.io kyma-binding-b-1",
            "clusterrolebindings.rbac.authorization.k8s.io kyma-binding-b-1",
        ]
    );
    let last = runtime.bindings.last_operation(&anybody(), &runtime.order.instance_id, "b-1").await;
    assert_eq!(last.unwrap().progress, Progress::Succeeded);

    runtime.unbind("b-1").await.unwrap();

    assert_eq!(runtime.made(), Vec::<String>::new());
    assert_eq!(opens(&bound.kubeconfig).await.unwrap_err().kind, Kind::Unauthorized);
    assert!(matches!(runtime.find("b-1").await, Err(Error::NotFound(_))));
    assert!(matches!(runtime.unbind("b-1").await, Err(Error::Gone)));
    assert_eq!(runtime.stored().await, 0);
}

async fn the_same_bind_again_gives_the_same_credentials_and_another_one_is_a_conflict(
    runtime: BoundRuntime,
) {
    let first = runtime.bind_for("b-1", 900).await.unwrap();

    let again = runtime.bind_for("b-1", 900).await.unwrap();
    let found = runtime.find("b-1").await.unwrap();

    assert!(!again.created);
    for other in [&again, &found] {
        assert_eq!(other.kubeconfig.expose_secret(), first.kubeconfig.expose_secret());
        assert_eq!((other.expires_at, other.lifetime), (first.expires_at, first.lifetime));
    }
    for different in [runtime.bind("b-1").await, runtime.bind_for("b-1", 901).await] {
        assert!(matches!(different, Err(Error::Taken(_))), "{different:?}");
    }
    assert_eq!(runtime.made().len(), 3);
}

async fn of_ten_binds_of_one_id_at_once_one_binding_comes_about(runtime: BoundRuntime) {
    let asked = (0..10).map(|_| runtime.bind("b-1"));
    let all = futures::future::join_all(asked).await;

    let created = all.iter().filter(|it| matches!(it, Ok(bound) if bound.created)).count();
    assert_eq!(created, 1);
    assert!(all.iter().all(|it| matches!(it, Ok(_) | Err(Error::Busy))), "{all:?}");
    assert_eq!((runtime.made().len(), runtime.stored().await), (3, 1));
}

async fn a_successor_has_its_predecessors_lifetime_and_both_work_until_each_ends(
    runtime: BoundRuntime,
) {
    let first = runtime.bind_for("b-1", 1_800).await.unwrap();
    let rotation = |binding: &str, predecessor: &str| Bind {
        predecessor: Some(predecessor.into()),
        ..runtime.request(binding)
    };

    let second = runtime.bindings.bind(&anybody(), rotation("b-2", "b-1")).await.unwrap();
    let again = runtime.bindings.bind(&anybody(), rotation("b-2", "b-1")).await.unwrap();

    assert_eq!((second.lifetime, again.created), (Duration::from_secs(1_800), false));
    assert_ne!(second.kubeconfig.expose_secret(), first.kubeconfig.expose_secret());
    opens(&first.kubeconfig).await.unwrap();
    runtime.unbind("b-1").await.unwrap();
    opens(&second.kubeconfig).await.unwrap();
    assert_eq!(opens(&first.kubeconfig).await.unwrap_err().kind, Kind::Unauthorized);
    let unknown = runtime.bindings.bind(&anybody(), rotation("b-3", "b-1")).await.unwrap_err();
    assert!(unknown.to_string().contains("predecessor_binding_id"), "{unknown}");
    let other = runtime.bindings.bind(&anybody(), rotation("b-2", "b-9")).await;
    assert!(matches!(other, Err(Error::Taken(_))), "{other:?}");
}

async fn what_has_expired_is_neither_given_out_nor_left_behind_and_replicas_share_the_work(
    runtime: BoundRuntime,
) {
    for at in 0..4 {
        runtime.bind(&format!("b-{at}")).await.unwrap();
    }
    let living = runtime.bind_for("longer", 7_200).await.unwrap();
    assert_eq!(runtime.bindings.clean_up().await.unwrap(), 0);
    runtime.clock.advance(Duration::from_secs(700));

    let expired = runtime.find("b-0").await.unwrap_err();
    let repeated = runtime.bind("b-0").await.unwrap_err();
    assert_eq!(expired.to_string(), "Binding expired");
    assert!(repeated.to_string().contains("expired at"), "{repeated}");
    let other = Box::pin(bindings(&runtime.outside, &runtime.broker, &runtime.clock)).await;
    let (one, two) = tokio::join!(runtime.bindings.clean_up(), other.clean_up());

    assert_eq!(one.unwrap() + two.unwrap(), 4);
    assert_eq!((runtime.made().len(), runtime.stored().await), (3, 1));
    opens(&living.kubeconfig).await.unwrap();
    assert!(runtime.bind("b-0").await.unwrap().created, "the id is free again");
}

async fn bindings_go_with_their_instance(runtime: BoundRuntime) {
    let bound = runtime.bind("b-1").await.unwrap();

    runtime.broker.deprovision(&runtime.order).await.completed();

    assert_eq!(runtime.stored().await, 0);
    assert!(opens(&bound.kubeconfig).await.is_err());
    assert!(matches!(runtime.find("b-1").await, Err(Error::NotFound(_))));
    assert!(matches!(runtime.unbind("b-1").await, Err(Error::Gone)));
    assert!(matches!(runtime.bind("b-2").await, Err(Error::NotFound(_))));
}

async fn a_binding_of_a_former_runtime_is_listed_as_gone(runtime: BoundRuntime) {
    let (outside, broker, order) = (&runtime.outside, &runtime.broker, &runtime.order);
    let (cases, id) = (use_cases(outside, broker), order.instance_id.as_str());
    let listed = async || {
        let all = runtime.bindings.list(&anybody(), id).await.unwrap();
        all.into_iter().map(|it| (it.id, it.state)).collect::<Vec<_>>()
    };
    let one = |id: &str, state| (id.to_owned(), state);
    runtime.bind_for("b-1", 7_200).await.unwrap();
    assert_eq!(listed().await, [one("b-1", "active")]);

    cases.suspend(&anybody(), id).await.unwrap();
    settled(outside, broker, order).await;
    assert_eq!(listed().await, [one("b-1", "gone")]);
    cases.unsuspend(&anybody(), id).await.unwrap().unwrap();
    settled(outside, broker, order).await;
    runtime.bind_for("b-2", 7_200).await.unwrap();

    let mut both = listed().await;
    both.sort();
    assert_eq!(both, [one("b-1", "gone"), one("b-2", "active")]);
    assert!(matches!(runtime.find("b-1").await, Err(Error::NotFound(_))));
    runtime.unbind("b-1").await.unwrap();
    assert_eq!(listed().await, [one("b-2", "active")]);
}
