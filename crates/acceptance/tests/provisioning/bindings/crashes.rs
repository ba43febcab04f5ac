//! P34: a process that is killed at any point of a bind or an unbind leaves nothing behind.
//!
//! What a reader would get wrong: a killed process is a runtime of tasks that is dropped with all of them, while a call waits for an
//! answer that never comes. It has connections of its own to the database: one that it opened would not work in another's pool.

use std::time::Duration;

use broker::{
    bindings::{Bindings, Unbind},
    instances::Error,
};
use simulators::{
    ledger::{About, Filter, Phase},
    trouble::Kind,
};

use super::{
    BoundRuntime, Call, MAKING, REMOVING, anybody, bindings_of_another_process, meets, opens,
};

on_both_databases! {
    p34_a_process_killed_at_any_point_of_a_bind_leaves_nothing_behind,
    p34_the_same_bind_goes_on_where_a_killed_process_stopped,
    p34_a_process_killed_at_any_point_of_an_unbind_leaves_nothing_behind,
}

/// Lets a process work until this call of it is not answered, and kills it then.
async fn killed<F: Future<Output = ()> + Send + 'static>(
    runtime: &BoundRuntime,
    call: Call,
    work: impl FnOnce(Bindings) -> F,
) {
    let outside = &runtime.outside;
    let before = times(runtime, call);
    outside.meet(meets(call, Kind::Silent));
    let bindings = Box::pin(bindings_of_another_process(runtime)).await;
    let mut process = tokio::runtime::Builder::new_multi_thread();
    let process = process.worker_threads(1).enable_all().build().unwrap();
    process.spawn(work(bindings));
    let arrived = async {
        while times(runtime, call) == before {
            outside.clock.sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), arrived).await.unwrap();
    process.shutdown_background();
    outside.calm();
}

/// How often a call has come.
pub(super) fn times(runtime: &BoundRuntime, (method, path): Call) -> usize {
    let phase = Some(Phase::Received);
    let filter = Filter { system: Some("runtimes".into()), phase, ..Filter::default() };
    let all = runtime.outside.running.landscape.ledger().all(&filter).unwrap();
    let is_it = |about: &About| {
        let ends = path.ends_with('-') || about.route.ends_with(path);
        about.method == method && ends && about.route.contains(path)
    };
    all.iter().filter(|entry| is_it(&entry.about)).count()
}

async fn p34_a_process_killed_at_any_point_of_a_bind_leaves_nothing_behind(runtime: BoundRuntime) {
    for (made, call) in MAKING.into_iter().enumerate() {
        let request = runtime.request("b-1");
        killed(&runtime, call, move |bindings| async move {
            let _ = bindings.bind(&anybody(), request).await;
        })
        .await;

        // What the calls before have made is there.
        assert_eq!(runtime.made().len(), made);
        assert_eq!(runtime.stored().await, 1, "written down before {call:?}");
        assert!(matches!(runtime.bind("b-1").await, Err(Error::Busy)));
        runtime.wait_for_takeover();
        assert_eq!(runtime.bindings.clean_up().await.unwrap(), 1, "{call:?}");
        assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0), "{call:?}");
    }
}

async fn p34_the_same_bind_goes_on_where_a_killed_process_stopped(runtime: BoundRuntime) {
    for call in MAKING {
        let request = runtime.request("b-1");
        killed(&runtime, call, move |bindings| async move {
            let _ = bindings.bind(&anybody(), request).await;
        })
        .await;
        runtime.wait_for_takeover();

        let bound = runtime.bind("b-1").await.unwrap();

        opens(&bound.kubeconfig).await.unwrap();
        assert_eq!((runtime.made().len(), runtime.stored().await), (3, 1), "{call:?}");
        runtime.unbind("b-1").await.unwrap();
    }
}

async fn p34_a_process_killed_at_any_point_of_an_unbind_leaves_nothing_behind(
    runtime: BoundRuntime,
) {
    for call in REMOVING {
        runtime.bind("b-1").await.unwrap();
        let request = Unbind {
            instance_id: runtime.order.instance_id.clone(),
            binding_id: "b-1".into(),
            service_id: "s".into(),
            plan_id: "p".into(),
        };
        killed(&runtime, call, move |bindings| async move {
            let _ = bindings.unbind(&anybody(), request).await;
        })
        .await;

        assert!(matches!(runtime.find("b-1").await, Err(Error::NotFound(_))), "{call:?}");
        runtime.wait_for_takeover();
        assert_eq!(runtime.bindings.clean_up().await.unwrap(), 1, "{call:?}");
        assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0), "{call:?}");
    }
}
