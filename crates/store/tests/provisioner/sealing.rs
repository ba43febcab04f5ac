//! Documents and kubeconfigs are unreadable in the database, and stay readable through a rotation.

use std::{fs, path::Path};

use secrecy::ExposeSecret as _;
use store::{
    Error, Sealer, on,
    rotate::{self, Rotation, RotationReport},
};

use crate::bench::{Bench, keys, kubeconfig, runtime};

const SECRET: &str = "correct horse battery staple";
const STORED: &str = "SELECT document, kubeconfig FROM runtimes";

pub(crate) async fn s1_documents_and_kubeconfigs_are_nowhere_in_clear(b: Bench) {
    let mut new = runtime("a-name-in-clear");
    new.document = SECRET.as_bytes().to_vec();
    b.order(&new).await;

    b.store.save_kubeconfig(new.id, &kubeconfig(SECRET)).await.unwrap();

    let found = b.find(new.id).await;
    assert_eq!(found.document, SECRET.as_bytes());
    assert_eq!(found.kubeconfig.unwrap().text.expose_secret(), SECRET);
    let (document, kubeconfig): (Vec<u8>, Vec<u8>) =
        on!(b.database.reader(), |pool| sqlx::query_as(STORED).fetch_one(pool).await).unwrap();
    assert!(!contains(&document, SECRET) && !contains(&kubeconfig, SECRET));
    if let Some(file) = b.test.url().strip_prefix("sqlite://") {
        let raw = raw(Path::new(file));
        assert!(contains(&raw, "a-name-in-clear"), "the search finds what is there");
        assert!(!contains(&raw, SECRET));
    }
}

pub(crate) async fn s3_runtimes_are_read_without_the_old_key_after_a_rotation(b: Bench) {
    let (with, without) = (b.ready("with").await, b.ready("without").await);
    b.store.save_kubeconfig(with.id, &kubeconfig(SECRET)).await.unwrap();
    let sealer = Sealer::new(&keys(&["new", "old"]));

    let rotated = Rotation::new(&b.database, &sealer, &rotate::PROVISIONER).run().await.unwrap();

    assert_eq!(rotated, RotationReport { resealed: 3, ..RotationReport::default() });
    let store = b.with_keys(&["new"]);
    let found = store.find(with.id).await.unwrap().unwrap();
    assert_eq!(found.document, with.document);
    assert_eq!(found.kubeconfig.unwrap().text.expose_secret(), SECRET);
    let found = store.find(without.id).await.unwrap().unwrap();
    assert_eq!((found.document, found.kubeconfig.is_none()), (without.document, true));
}

pub(crate) async fn a_document_opens_in_its_own_row_only(b: Bench) {
    const SWAP: &str = "UPDATE runtimes SET document = (SELECT document FROM runtimes WHERE id = $1) WHERE id = $2";
    let (one, other) = (runtime("one"), runtime("other"));
    b.order(&one).await;
    b.order(&other).await;

    on!(b.database.writer(), |pool| {
        sqlx::query(SWAP).bind(one.id).bind(other.id).execute(pool).await.map(drop)
    })
    .unwrap();

    assert!(matches!(b.store.find(other.id).await.unwrap_err(), Error::Sealed(_)));
    assert_eq!(b.find(one.id).await.document, b"document");
}

/// All that SQLite has written, the log that runs ahead of its file included.
fn raw(file: &Path) -> Vec<u8> {
    let folder = fs::read_dir(file.parent().unwrap()).unwrap();
    folder.flat_map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
