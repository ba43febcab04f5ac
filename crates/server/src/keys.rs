//! The keys that seal secrets: read at every start, generated only on request.
//!
//! What a reader would get wrong: a service never makes its keys. With a new one, everything that is stored could not be
//! opened any more, and other replicas could not open what this one stores.

use std::path::Path;

use anyhow::{Context, ensure};
use secrecy::SecretString;
pub use store::Set;
use store::{
    Database, Options, Sealer,
    rotate::{self, Rotation, RotationReport},
    sealed::Keys,
};

/// Reads the keys of a service.
pub(crate) fn read(path: &Path) -> anyhow::Result<Sealer> {
    let shown = path.display();
    ensure!(
        path.exists(),
        "database.sealing_keys: {shown} does not exist; copy it from another replica, or make the first one with \
         `kcp keys new {shown}`"
    );
    read_or_make(path)
}

/// Makes a file with a new key: `kcp keys new`. A file that is there stays as it is.
pub fn make(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    ensure!(!path.exists(), "{shown} exists already, and what was sealed with it needs it");
    read_or_make(path).map(drop)
}

/// Adds a new key to a file, behind the others: `kcp keys add`. Returns its id.
pub fn add(path: &Path) -> anyhow::Result<String> {
    Keys::add_to_file(path).with_context(|| format!("no key can be added to {}", path.display()))
}

/// A database whose values are to be sealed with the first of the keys.
#[derive(Debug)]
pub struct SealedDatabase<'a> {
    /// Where it is.
    pub url: &'a SecretString,
    /// The schema to work in (PostgreSQL only).
    pub schema: &'a str,
    /// The file with the keys.
    pub keys: &'a Path,
    /// The service's tables.
    pub set: Set,
}

/// Seals everything with the first key, and forgets the others when nothing needs them any more: `kcp keys rotate`.
/// Services may go on working meanwhile.
pub async fn rotate(sealed: SealedDatabase<'_>) -> anyhow::Result<RotationReport> {
    let sealer = read(sealed.keys)?;
    let options =
        Options { schema: Some(sealed.schema.to_owned()), ..Options::new(sealed.url.clone()) };
    let database = Database::open(&options).await.context("the database cannot be opened")?;
    for set in [Set::Engine, sealed.set] {
        let migrated = database.migrate(set).await;
        migrated.context("the database cannot be brought up to date")?;
    }
    let columns = rotate::columns_of(sealed.set);
    database.check_keys(&sealer, &columns).await.context("the sealing keys cannot be used")?;
    let mut all = RotationReport::default();
    loop {
        let rotated = Rotation::new(&database, &sealer, &columns).run().await?;
        all.resealed += rotated.resealed;
        (all.overtaken, all.refused) = (rotated.overtaken, rotated.refused);
        // A value that was written meanwhile may be under an older key: of a replica that seals with it still.
        if all.overtaken == 0 {
            break;
        }
    }
    if all.is_complete() {
        database.forget_older_keys(&sealer).await?;
    }
    database.close().await;
    Ok(all)
}

/// Reads the keys in a folder of ours, and makes them at the first start: `kcp up`.
pub(crate) fn read_or_make(path: &Path) -> anyhow::Result<Sealer> {
    Sealer::from_file_or_create(path).with_context(|| {
        let shown = path.display();
        format!("{shown}, the file with the keys that seal secrets, cannot be used")
    })
}

#[cfg(test)]
mod tests {
    use engine::{
        PlantedBug, Storage as _,
        storage::{NewOperation, Verdict},
    };
    use store::{EngineStore, engine::Time, testing::Databases};
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn s3_after_a_rotation_the_old_key_is_not_needed() {
        for (_, test) in Databases::both().await {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("broker.key");
            make(&path).unwrap();
            let database =
                Database::open(&Options::new(test.url()).in_schema("broker")).await.unwrap();
            database.migrate(Set::Engine).await.unwrap();
            let id = Uuid::now_v7();
            let operation = NewOperation {
                id,
                instance: "i".into(),
                kind: "provision".into(),
                data_version: 1,
                lane: "a".into(),
                input: b"input".to_vec(),
                data: b"data".to_vec(),
                digest: None,
            };
            let store = |sealer| {
                EngineStore::new(database.clone(), sealer, Time::Database, PlantedBug::Nothing)
            };
            store(read(&path).unwrap()).accept(operation, &|_| Verdict::Queue).await.unwrap();

            // The new key is moved to the front, as the documents say.
            let id_of_new = add(&path).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let lines: Vec<_> = text.lines().rev().collect();
            assert!(lines[0].starts_with(&id_of_new));
            std::fs::write(&path, lines.join("\n")).unwrap();
            let url = SecretString::from(test.url());
            let sealed =
                SealedDatabase { url: &url, schema: "broker", keys: &path, set: Set::Broker };
            let rotated = rotate(sealed).await.unwrap();
            assert_eq!((rotated.resealed, rotated.is_complete()), (2, true));

            std::fs::write(&path, lines[0]).unwrap();
            let sealer = read(&path).unwrap();
            database.check_keys(&sealer, &rotate::columns_of(Set::Broker)).await.unwrap();
            let found = store(sealer).read(id).await.unwrap().unwrap();
            assert_eq!(found.input, b"input");
        }
    }

    #[test]
    fn keys_are_made_when_asked_for_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("broker.key");

        let missing = format!("{:#}", read(&path).unwrap_err());
        assert!(missing.contains("kcp keys new"), "{missing}");
        assert!(!path.exists(), "nothing is made while reading");

        make(&path).unwrap();
        let made = std::fs::read(&path).unwrap();
        read(&path).unwrap();
        assert!(make(&path).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), made);
    }
}
