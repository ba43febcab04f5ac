//! Credentials of bindings are sealed, and read after a rotation of the keys.

use std::{fs, path::Path};

use store::{
    Sealer, on,
    rotate::{self, Rotation},
};

use super::SECRET;
use crate::bench::{Bench, keys};

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
