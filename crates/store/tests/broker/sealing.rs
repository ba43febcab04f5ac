//! Orders, details and states are unreadable in the database, and stay readable through a rotation.

use std::{fs, path::Path};

use store::{
    Error, Sealer,
    broker::{InstanceFilter, NewRuntimeState},
    on,
    rotate::{self, Rotation, RotationReport},
};
use uuid::Uuid;

use crate::bench::{Bench, instance, keys};

const SECRET: &str = "correct horse battery staple";
const STORED: &str = "
    SELECT i.ordered, i.details, i.digest, s.payload
    FROM instances i JOIN runtime_states s ON s.instance = i.id";
const RUNTIME: Uuid = Uuid::from_u128(7);

impl Bench {
    /// An instance that is all secrets.
    async fn secretive(&self) {
        let mut new = instance("an-id-in-clear");
        new.order = SECRET.into();
        new.details = Some(SECRET.into());
        self.order(&new).await;
        let state = NewRuntimeState {
            instance: new.id,
            runtime: RUNTIME,
            operation: Uuid::nil(),
            holds: vec!["cluster-setup".into()],
            payload: SECRET.into(),
        };
        assert!(self.store.add_runtime_state(&state).await.unwrap());
    }
}

pub(crate) async fn s1_orders_details_and_states_are_nowhere_in_clear(b: Bench) {
    b.secretive().await;

    let found = b.find("an-id-in-clear").await;
    assert_eq!(
        (found.order.as_slice(), found.details.as_slice()),
        (SECRET.as_bytes(), SECRET.as_bytes())
    );
    assert!(!format!("{found:?}").contains(&format!("{:?}", SECRET.as_bytes())));
    let (order, details, digest, payload): (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>) =
        on!(b.database.reader(), |pool| sqlx::query_as(STORED).fetch_one(pool).await).unwrap();
    for stored in [order, details, payload] {
        assert!(!contains(&stored, SECRET));
    }
    assert!(!contains(&digest, "an-id-in-clear"), "the request is its id here");
    if let Some(file) = b.test.url().strip_prefix("sqlite://") {
        let raw = raw(Path::new(file));
        assert!(contains(&raw, "an-id-in-clear"), "the search finds what is there");
        assert!(!contains(&raw, SECRET));
    }
}

pub(crate) async fn s3_instances_are_read_without_the_old_key_after_a_rotation(b: Bench) {
    b.secretive().await;
    b.ready("without details").await;
    let sealer = Sealer::new(&keys(&["new", "old"]));

    let rotated = Rotation::new(&b.database, &sealer, &rotate::BROKER).run().await.unwrap();

    assert_eq!(rotated, RotationReport { resealed: 4, ..RotationReport::default() });
    let store = b.with_keys(&["new"]);
    let found = store.find("an-id-in-clear").await.unwrap().unwrap();
    assert_eq!(
        (found.order.as_slice(), found.details.as_slice()),
        (SECRET.as_bytes(), SECRET.as_bytes())
    );
    let found = store.find("without details").await.unwrap().unwrap();
    assert_eq!((found.order.as_slice(), found.details.as_slice()), (&b"order"[..], &b""[..]));
    let state = store.latest_runtime_state(RUNTIME, None).await.unwrap().unwrap();
    assert_eq!(state.payload, SECRET.as_bytes());
}

pub(crate) async fn an_order_opens_in_its_own_row_only(b: Bench) {
    b.order(&instance("one")).await;
    b.order(&instance("other")).await;

    b.execute(
        "UPDATE instances SET ordered = (SELECT ordered FROM instances WHERE id = 'one')
         WHERE id = 'other'",
    )
    .await;

    assert!(matches!(b.store.find("other").await.unwrap_err(), Error::Sealed(_)));
    assert_eq!(b.find("one").await.order, b"order");
}

pub(crate) async fn p26_a_row_that_cannot_be_read_does_not_fail_its_page(b: Bench) {
    for id in ["one", "two", "three"] {
        b.wait(1);
        b.order(&instance(id)).await;
    }
    b.execute(
        "UPDATE instances SET ordered = (SELECT ordered FROM instances WHERE id = 'one')
         WHERE id = 'two'",
    )
    .await;

    let filter = InstanceFilter { most: 10, ..InstanceFilter::default() };
    let page = b.store.list(&filter).await.unwrap();

    let ids: Vec<_> = page.instances.iter().map(|instance| instance.id.as_str()).collect();
    assert_eq!(ids, ["one", "three"]);
    assert_eq!(page.unreadable, ["two"]);
}

pub(crate) async fn p26_content_that_cannot_be_read_does_not_fail_its_page(b: Bench) {
    let first = b.order(&instance("one")).await;
    let second = b.order(&instance("two")).await;
    for (instance, runtime) in [("one", RUNTIME), ("two", Uuid::from_u128(8))] {
        let state = NewRuntimeState {
            instance: instance.into(),
            runtime,
            operation: Uuid::nil(),
            holds: vec!["cluster-setup".into()],
            payload: instance.into(),
        };
        assert!(b.store.add_runtime_state(&state).await.unwrap());
    }
    b.execute(
        "UPDATE operation_inputs SET input = (
             SELECT i.input FROM operation_inputs i JOIN operations o ON o.id = i.operation_id
             WHERE o.instance = 'one')
         WHERE operation_id = (SELECT id FROM operations WHERE instance = 'two')",
    )
    .await;
    b.execute(
        "UPDATE runtime_states SET payload = (
             SELECT payload FROM runtime_states WHERE instance = 'one')
         WHERE instance = 'two'",
    )
    .await;

    let ids = [first, second];
    let contents = b.engine.readable_contents(&ids).await.unwrap();
    let runtimes = [RUNTIME, Uuid::from_u128(8)];
    let states = b.store.latest_runtime_states(&runtimes, "cluster-setup").await.unwrap();

    assert_eq!(contents.iter().map(|content| content.operation).collect::<Vec<_>>(), [first]);
    assert_eq!(states.iter().map(|state| state.runtime).collect::<Vec<_>>(), [RUNTIME]);
    // An input that is not wanted is not opened.
    let mut data = b.engine.readable_data(&ids, &[first]).await.unwrap();
    data.sort_by_key(|content| content.operation != first);
    assert_eq!(data.iter().map(|content| content.operation).collect::<Vec<_>>(), ids);
    assert_eq!(data.iter().map(|it| it.input.is_empty()).collect::<Vec<_>>(), [false, true]);
    // Who works with what an operation knows must not take it for nothing.
    assert!(matches!(b.engine.contents(&ids).await, Err(Error::Sealed(_))));
}

pub(crate) async fn p26_keys_that_do_not_open_what_is_stored_are_refused(b: Bench) {
    let check = async |sealer: &Sealer| b.database.check_keys(sealer, &rotate::BROKER).await;
    let wrong = async |sealer: &Sealer, key: &str| {
        let error = check(sealer).await.unwrap_err();
        assert!(matches!(&error, Error::WrongKeys(text) if text.contains(key)), "{error}");
    };
    // From before keys were written down: what is stored decides.
    b.secretive().await;
    wrong(&Sealer::new(&keys(&["other"])), "\"old\"").await;
    check(&Sealer::new(&keys(&["old"]))).await.unwrap();

    wrong(&Sealer::new(&keys(&["new"])), "\"old\"").await;
    wrong(&Sealer::generate(), "\"old\"").await;
    // A new key in front, then the replicas that do not have it are refused.
    check(&Sealer::new(&keys(&["new", "old"]))).await.unwrap();
    wrong(&Sealer::new(&keys(&["old"])), "\"new\"").await;
    // After a rotation the old one is not needed any more.
    let current = Sealer::new(&keys(&["new", "old"]));
    Rotation::new(&b.database, &current, &rotate::BROKER).run().await.unwrap();
    assert_eq!(b.database.forget_older_keys(&current).await.unwrap(), 1);
    check(&Sealer::new(&keys(&["new"]))).await.unwrap();
}

pub(crate) async fn p26_of_two_keys_under_one_id_the_second_is_refused(b: Bench) {
    let key = |byte: u8| {
        let text = format!(
            "k:{}",
            base64::Engine::encode(&base64::engine::general_purpose::STANDARD, [byte; 32])
        );
        Sealer::new(&store::sealed::Keys::parse(&text.into()).unwrap())
    };

    b.database.check_keys(&key(1), &[]).await.unwrap();

    assert!(matches!(b.database.check_keys(&key(2), &[]).await, Err(Error::WrongKeys(_))));
    b.database.check_keys(&key(1), &[]).await.unwrap();
}

/// All that SQLite has written, the log that runs ahead of its file included.
fn raw(file: &Path) -> Vec<u8> {
    let folder = fs::read_dir(file.parent().unwrap()).unwrap();
    folder.flat_map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
