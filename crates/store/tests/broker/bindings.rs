//! Bindings: written down before they are made, each of one instance, gone with it.

mod attempts;
mod counting;
mod secrecy;

use std::time::Duration;

use serde_json::json;
use store::broker::{Attempt, BeginBinding, Binding, BindingState, NewBinding};
use uuid::Uuid;

use crate::bench::Bench;

pub(crate) use attempts::{
    an_attempt_that_was_taken_over_neither_finishes_nor_forgets_a_binding,
    of_many_who_clean_up_one_gets_each_binding,
};
pub(crate) use counting::{
    of_twenty_bindings_at_once_only_as_many_are_begun_as_may_be,
    what_has_expired_or_goes_does_not_count_to_the_limit,
    what_went_with_a_runtime_neither_counts_to_the_limit_nor_is_gone_on_with,
};
pub(crate) use secrecy::{
    s1_credentials_of_bindings_are_nowhere_in_clear,
    s3_bindings_are_read_without_the_old_key_after_a_rotation,
};

const RUNTIME: Uuid = Uuid::from_u128(7);
const LIFETIME: Duration = Duration::from_secs(600);
const HOLD: Duration = Duration::from_secs(120);
const SECRET: &str = "token: correct horse battery staple";

fn new<'a>(instance: &'a str, binding: &'a str) -> NewBinding<'a> {
    NewBinding { instance, binding, runtime: RUNTIME, lifetime: LIFETIME, predecessor: None }
}

impl Bench {
    /// An instance that has a runtime.
    async fn running(&self, id: &str) {
        self.made(id, json!({ "runtime_id": RUNTIME })).await;
    }

    async fn begin(&self, instance: &str, binding: &str) -> BeginBinding {
        self.store.begin_binding(&new(instance, binding), 10, HOLD).await.unwrap()
    }

    async fn begun(&self, instance: &str, binding: &str) -> Attempt {
        match self.begin(instance, binding).await {
            BeginBinding::Begun(attempt) => attempt,
            other => panic!("{other:?}"),
        }
    }

    async fn bound(&self, instance: &str, binding: &str) -> Attempt {
        let attempt = self.begun(instance, binding).await;
        let until = self.clock.now() + LIFETIME;
        assert!(self.store.finish_binding(attempt, SECRET.as_bytes(), until).await.unwrap());
        attempt
    }

    async fn binding(&self, instance: &str, binding: &str) -> Option<Binding> {
        self.store.find_binding(instance, binding).await.unwrap()
    }
}

pub(crate) async fn a_binding_is_written_down_before_it_is_made_and_forgotten_after_it_is_gone(
    b: Bench,
) {
    b.running("one").await;

    let attempt = b.begun("one", "b-1").await;
    let written = b.binding("one", "b-1").await.unwrap();
    let until = b.clock.now() + Duration::from_secs(900);
    let finished = b.store.finish_binding(attempt, SECRET.as_bytes(), until).await.unwrap();
    let active = b.binding("one", "b-1").await.unwrap();
    let removal = b.store.begin_unbinding(active.id, None, HOLD).await.unwrap().unwrap();
    let going = b.binding("one", "b-1").await.unwrap();
    let forgotten = b.store.forget_binding(removal).await.unwrap();

    assert_eq!((written.state, written.credentials), (BindingState::Creating, None));
    assert_eq!((written.runtime, written.lifetime), (RUNTIME, LIFETIME));
    assert!(finished && forgotten);
    assert_eq!((active.state, active.expires_at), (BindingState::Active, until));
    assert_eq!(active.credentials.as_deref(), Some(SECRET.as_bytes()));
    assert_eq!((going.state, going.credentials), (BindingState::Removing, None));
    assert_eq!(b.binding("one", "b-1").await, None);
}

pub(crate) async fn one_binding_id_is_one_binding_of_its_instance(b: Bench) {
    b.running("one").await;
    b.bound("one", "b-1").await;

    let again = b.begin("one", "b-1").await;

    assert_eq!(again, BeginBinding::Exists);
    assert_eq!(b.store.bindings_of("one").await.unwrap().len(), 1);
}

pub(crate) async fn a_binding_is_made_in_the_runtime_of_its_instance_only(b: Bench) {
    b.running("one").await;
    b.ready("without").await;
    let other = NewBinding { runtime: Uuid::from_u128(8), ..new("one", "b-1") };

    assert_eq!(b.store.begin_binding(&other, 10, HOLD).await.unwrap(), BeginBinding::Gone);
    assert_eq!(b.begin("without", "b-1").await, BeginBinding::Gone);
    assert_eq!(b.begin("unknown", "b-1").await, BeginBinding::Gone);
}

pub(crate) async fn bindings_go_with_their_instance(b: Bench) {
    b.running("one").await;
    b.bound("one", "b-1").await;

    b.execute("DELETE FROM instances WHERE id = 'one'").await;

    assert_eq!(b.binding("one", "b-1").await, None);
    assert_eq!(b.count("SELECT count(*) FROM bindings").await, 0);
}
