//! Orders, details and states are unreadable in the database, and stay readable through a rotation.

use std::{fs, path::Path};

use store::{
    Error, Sealer,
    broker::NewRuntimeState,
    on,
    rotate::{self, Rotated, Rotation},
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

    assert_eq!(rotated, Rotated { resealed: 4, ..Rotated::default() });
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

/// All that SQLite has written, the log that runs ahead of its file included.
fn raw(file: &Path) -> Vec<u8> {
    let folder = fs::read_dir(file.parent().unwrap()).unwrap();
    folder.flat_map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
