//! Bindings: written down before they are made, one attempt at a time, sealed, gone with their instance.

use std::{fs, path::Path, time::Duration};

use futures::future::join_all;
use serde_json::json;
use store::{
    Sealer,
    broker::{Attempt, BeginBinding, Binding, BindingState, NewBinding},
    on,
    rotate::{self, Rotation},
};
use uuid::Uuid;

use crate::bench::{Bench, keys};

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

pub(crate) async fn of_twenty_bindings_at_once_only_as_many_are_begun_as_may_be(b: Bench) {
    b.running("one").await;
    let ids: Vec<String> = (0..20).map(|at| format!("b-{at}")).collect();

    let begun = join_all(ids.iter().map(|id| b.begin("one", id))).await;

    let count = |wanted: fn(&BeginBinding) -> bool| begun.iter().filter(|it| wanted(it)).count();
    assert_eq!(count(|it| matches!(it, BeginBinding::Begun(_))), 10);
    assert_eq!(count(|it| matches!(it, BeginBinding::Full)), 10);
    assert_eq!(b.store.bindings_of("one").await.unwrap().len(), 10);
}

pub(crate) async fn what_has_expired_or_goes_does_not_count_to_the_limit(b: Bench) {
    b.running("one").await;
    for at in 0..10 {
        b.bound("one", &format!("b-{at}")).await;
    }
    assert_eq!(b.begin("one", "more").await, BeginBinding::Full);

    let first = b.binding("one", "b-0").await.unwrap();
    b.store.begin_unbinding(first.id, None, HOLD).await.unwrap().unwrap();
    b.begun("one", "more").await;
    assert_eq!(b.begin("one", "one-too-many").await, BeginBinding::Full);
    b.wait(601);

    b.begun("one", "after-all-have-expired").await;
}

pub(crate) async fn what_went_with_a_runtime_neither_counts_to_the_limit_nor_is_gone_on_with(
    b: Bench,
) {
    const NEXT: Uuid = Uuid::from_u128(8);
    b.running("one").await;
    for at in 0..10 {
        b.begun("one", &format!("b-{at}")).await;
    }
    let of_before = b.binding("one", "b-0").await.unwrap();
    b.wait(120);
    on!(b.database.writer(), |pool| {
        sqlx::query("UPDATE instances SET runtime_id = $1").bind(NEXT).execute(pool).await.map(drop)
    })
    .unwrap();

    let resumed = b.store.resume_binding(&of_before, HOLD).await.unwrap();
    let next = NewBinding { runtime: NEXT, ..new("one", "next") };
    let begun = b.store.begin_binding(&next, 1, HOLD).await.unwrap();

    assert_eq!(resumed, None);
    assert!(matches!(begun, BeginBinding::Begun(_)), "{begun:?}");
    let more = NewBinding { binding: "more", ..next };
    assert_eq!(b.store.begin_binding(&more, 1, HOLD).await.unwrap(), BeginBinding::Full);
}

pub(crate) async fn an_attempt_that_was_taken_over_neither_finishes_nor_forgets_a_binding(
    b: Bench,
) {
    b.running("one").await;
    let slow = b.begun("one", "b-1").await;
    let stored = b.binding("one", "b-1").await.unwrap();

    assert_eq!(b.store.resume_binding(&stored, HOLD).await.unwrap(), None);
    assert_eq!(b.store.begin_unbinding(stored.id, None, HOLD).await.unwrap(), None);
    b.wait(120);
    let second = b.store.resume_binding(&stored, HOLD).await.unwrap().unwrap();

    let until = b.clock.now() + LIFETIME;
    assert!(!b.store.finish_binding(slow, b"late", until).await.unwrap());
    assert!(!b.store.forget_binding(slow).await.unwrap());
    assert_eq!(b.store.begin_unbinding(stored.id, Some(slow), HOLD).await.unwrap(), None);
    assert!(b.store.finish_binding(second, SECRET.as_bytes(), until).await.unwrap());
    let found = b.binding("one", "b-1").await.unwrap();
    assert_eq!(found.credentials.as_deref(), Some(SECRET.as_bytes()));
}

pub(crate) async fn of_many_who_clean_up_one_gets_each_binding(b: Bench) {
    b.running("one").await;
    b.bound("one", "expired").await;
    b.begun("one", "abandoned").await;
    assert_eq!(b.store.due_bindings(10).await.unwrap(), []);
    b.wait(600);
    let due = b.store.due_bindings(10).await.unwrap();
    assert_eq!(due.len(), 2);

    for binding in due {
        let takes = (0..10).map(|_| b.store.begin_unbinding(binding.id, None, HOLD));
        let taken: Vec<Attempt> =
            join_all(takes).await.into_iter().filter_map(Result::unwrap).collect();
        assert_eq!(taken.len(), 1, "{binding:?}");
        b.store.postpone_unbinding(taken[0], Duration::from_secs(30)).await.unwrap();
    }

    assert_eq!(b.store.due_bindings(10).await.unwrap(), []);
    let expired = b.binding("one", "expired").await.unwrap();
    let asked = b.store.begin_unbinding(expired.id, None, HOLD).await.unwrap();
    let also = b.store.begin_unbinding(expired.id, None, HOLD).await.unwrap();
    assert!(asked.is_some() && also.is_none(), "a removal that was given up is nobody's");
    b.store.postpone_unbinding(asked.unwrap(), Duration::from_secs(30)).await.unwrap();
    b.wait(30);
    assert_eq!(b.store.due_bindings(10).await.unwrap().len(), 2);
    assert_eq!(b.store.due_bindings(1).await.unwrap().len(), 1);
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

pub(crate) async fn s1_credentials_of_bindings_are_nowhere_in_clear(b: Bench) {
    b.running("one").await;
    b.bound("one", "an-id-in-clear").await;

    let found = b.binding("one", "an-id-in-clear").await.unwrap();
    let (stored,): (Vec<u8>,) = on!(b.database.reader(), |pool| {
        sqlx::query_as("SELECT credentials FROM bindings").fetch_one(pool).await
    })
    .unwrap();

    assert!(!contains(&stored, SECRET));
    assert!(!format!("{found:?}").contains(&format!("{:?}", SECRET.as_bytes())));
    let listed = b.store.bindings_of("one").await.unwrap();
    assert_eq!(listed[0].credentials, None);
    if let Some(file) = b.test.url().strip_prefix("sqlite://") {
        let mut raw = fs::read(Path::new(file)).unwrap();
        raw.extend(fs::read(format!("{file}-wal")).unwrap_or_default());
        assert!(contains(&raw, "an-id-in-clear"), "the search finds what is there");
        assert!(!contains(&raw, SECRET));
    }
}

pub(crate) async fn s3_bindings_are_read_without_the_old_key_after_a_rotation(b: Bench) {
    b.running("one").await;
    b.bound("one", "b-1").await;
    let sealer = Sealer::new(&keys(&["new", "old"]));

    let rotated = Rotation::new(&b.database, &sealer, &rotate::BROKER).run().await.unwrap();

    assert!(rotated.is_complete() && rotated.resealed >= 2, "{rotated:?}");
    let found = b.with_keys(&["new"]).find_binding("one", "b-1").await.unwrap().unwrap();
    assert_eq!(found.credentials.as_deref(), Some(SECRET.as_bytes()));
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
