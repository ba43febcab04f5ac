//! What was sent for a runtime is found again by what it holds, and goes with the instance.

use engine::storage::CommitResult;
use serde_json::json;
use store::broker::NewRuntimeState;
use uuid::Uuid;

use crate::bench::{Bench, instance, operation, queue};

const STATES: &str = "SELECT count(*) FROM runtime_states";

impl Bench {
    async fn add(&self, runtime: Uuid, holds: &[&str], payload: &str) {
        let new = NewRuntimeState {
            instance: "one".into(),
            runtime,
            operation: Uuid::nil(),
            holds: holds.iter().map(|&word| word.to_owned()).collect(),
            payload: payload.into(),
        };
        assert!(self.store.add_runtime_state(&new).await.unwrap());
        self.wait(1);
    }

    async fn latest(&self, runtime: Uuid, holding: Option<&str>) -> Option<Vec<u8>> {
        let found = self.store.latest_runtime_state(runtime, holding).await.unwrap();
        found.map(|state| state.payload)
    }
}

pub(crate) async fn the_latest_state_is_found_by_what_it_holds(b: Bench) {
    let (runtime, other) = (Uuid::new_v4(), Uuid::new_v4());
    b.ready("one").await;
    b.add(runtime, &["cluster-setup", "oidc"], "first").await;
    b.add(runtime, &["cluster-setup"], "second").await;
    b.add(runtime, &["kyma"], "third").await;
    b.add(runtime, &[], "fourth").await;
    b.add(other, &["oidc"], "elsewhere").await;

    assert_eq!(b.latest(runtime, None).await.unwrap(), b"fourth");
    assert_eq!(b.latest(runtime, Some("kyma")).await.unwrap(), b"third");
    assert_eq!(b.latest(runtime, Some("cluster-setup")).await.unwrap(), b"second");
    assert_eq!(b.latest(runtime, Some("oidc")).await.unwrap(), b"first");
    for nothing in ["setup", "cluster", "%", "", "oidc,"] {
        assert_eq!(b.latest(runtime, Some(nothing)).await, None);
    }
    assert_eq!(b.latest(Uuid::new_v4(), None).await, None);
}

pub(crate) async fn a_state_lands_with_its_commit_or_not_at_all(b: Bench) {
    let runtime = Uuid::new_v4();
    let id = b.order(&instance("one")).await;
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, "one").await;
    let state = json!({ "holds": ["cluster-setup"], "payload": { "kubeconfig": "secret" } });
    let change = json!({ "runtime_id": runtime, "runtime_state": state });
    let mut fenced = b.hands.done(&held, change.clone());
    fenced.serial += 7;
    assert_eq!(b.hands.commit(replica, fenced).await, CommitResult::Fenced);
    assert_eq!(b.count(STATES).await, 0);

    let landed = b.hands.commit(replica, b.hands.done(&held, change)).await;

    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    let found =
        b.store.latest_runtime_state(runtime, Some("cluster-setup")).await.unwrap().unwrap();
    assert_eq!((found.instance.as_str(), found.runtime, found.operation), ("one", runtime, id));
    assert_eq!((found.holds.join(","), found.created_at), ("cluster-setup".into(), b.clock.now()));
    assert_eq!(found.payload, br#"{"kubeconfig":"secret"}"#);
}

pub(crate) async fn states_go_with_their_instance(b: Bench) {
    let runtime = Uuid::new_v4();
    b.ready("one").await;
    b.add(runtime, &["cluster-setup"], "kubeconfig").await;
    b.store.accept("one", 0, operation("one"), &queue, None).await.unwrap();
    let replica = b.hands.join().await;

    b.hands.end(replica, "one", json!({ "removed": true })).await;

    assert_eq!(b.count(STATES).await, 0);
    let late = NewRuntimeState {
        instance: "one".into(),
        runtime,
        operation: Uuid::nil(),
        holds: Vec::new(),
        payload: Vec::new(),
    };
    assert!(!b.store.add_runtime_state(&late).await.unwrap());
    assert_eq!(b.count(STATES).await, 0);
}
