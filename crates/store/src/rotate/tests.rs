//! Rotation on both databases: complete, resumable, and second to everybody else's writes.

use ::engine::{
    PlantedBug, Storage,
    storage::{NewOperation, Verdict},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use secrecy::SecretString;
use sqlx::raw_sql;

use super::*;
use crate::{
    EngineStore,
    engine::Time,
    sealed::Keys,
    testing::{Databases, TestDatabase},
};

const NOTES: SealedColumn =
    SealedColumn { table: "notes", id: "name", kind: IdKind::Text, column: "body" };
const SECRETS: SealedColumn =
    SealedColumn { table: "secrets", id: "id", kind: IdKind::Uuid, column: "secret" };

/// Two tables with sealed columns, and the keys before and after.
struct Scenario {
    database: Database,
    old: Sealer,
    both: Sealer,
    ids: Vec<Uuid>,
}

impl Scenario {
    async fn on(test: &TestDatabase, rows: u32) -> Self {
        let database = test.database().await;
        let (uuid, bytes) = if database.is_sqlite() { ("BLOB", "BLOB") } else { ("uuid", "bytea") };
        let tables = format!(
            "CREATE TABLE secrets (id {uuid} NOT NULL PRIMARY KEY, secret {bytes});
             CREATE TABLE notes (name text NOT NULL PRIMARY KEY, body {bytes} NOT NULL)"
        );
        on!(database.writer(), |pool| raw_sql(AssertSqlSafe(tables)).execute(pool).await.map(drop))
            .unwrap();
        let keys = Keys::generate();
        let (old, both) = (Sealer::new(&keys), Sealer::new(&keys.rotated()));
        let mut scenario = Self { database, old, both, ids: Vec::new() };
        for number in 0..rows {
            let id = Uuid::from_u128(u128::from(number));
            let sealed = scenario.old.seal(place(&id.to_string()), number.to_string().as_bytes());
            scenario.insert("INSERT INTO secrets VALUES ($1, $2)", id, Some(sealed)).await;
            scenario.ids.push(id);
        }
        scenario
    }

    async fn insert<T: RowId>(&self, sql: &'static str, id: T, sealed: Option<Vec<u8>>) {
        on!(self.database.writer(), |pool| sqlx::query(sql)
            .bind(id)
            .bind(sealed)
            .execute(pool)
            .await
            .map(drop))
        .unwrap();
    }

    async fn stored(&self, id: Uuid) -> Vec<u8> {
        on!(self.database.reader(), |pool| sqlx::query_scalar(
            "SELECT secret FROM secrets WHERE id = $1"
        )
        .bind(id)
        .fetch_one(pool)
        .await)
        .unwrap()
    }

    /// A concurrent write of another replica.
    async fn write(&self, sealer: &Sealer, id: Uuid, plain: &[u8]) {
        let value = sealer.seal(place(&id.to_string()), plain);
        let sql = "UPDATE secrets SET secret = $2 WHERE id = $1";
        self.insert(sql, id, Some(value)).await;
    }

    async fn plain(&self, id: Uuid) -> Vec<u8> {
        let stored = self.stored(id).await;
        assert!(self.both.is_current(&stored));
        self.both.open(place(&id.to_string()), &stored).unwrap()
    }
}

fn place(row: &str) -> SealLocation<'_> {
    SealLocation { table: "secrets", column: "secret", row }
}

#[tokio::test]
async fn s3_every_value_is_under_the_new_key_afterwards_and_says_the_same() {
    for (name, test) in Databases::both().await {
        let s = Scenario::on(&test, 25).await;
        s.insert("INSERT INTO secrets VALUES ($1, $2)", Uuid::max(), None).await;
        let note = SealLocation { table: "notes", column: "body", row: "a/b" };
        let sealed = s.old.seal(note, b"text");
        s.insert("INSERT INTO notes VALUES ($1, $2)", "a/b".to_owned(), Some(sealed)).await;
        let columns = [SECRETS, NOTES];

        let rotated = Rotation::new(&s.database, &s.both, &columns).in_batches_of(10).run().await;

        let expected = RotationReport { resealed: 26, ..RotationReport::default() };
        assert_eq!(rotated.unwrap(), expected, "{name}");
        for (number, id) in s.ids.iter().enumerate() {
            assert_eq!(s.plain(*id).await, number.to_string().as_bytes(), "{name}");
        }
        let again = Rotation::new(&s.database, &s.both, &columns).run().await.unwrap();
        assert_eq!(again, RotationReport::default(), "{name}");
    }
}

#[tokio::test]
async fn s3_a_rotation_that_was_interrupted_is_finished_by_the_next_one() {
    for (name, test) in Databases::both().await {
        let s = Scenario::on(&test, 7).await;
        let mut interrupted = Rotation::new(&s.database, &s.both, &[SECRETS]).in_batches_of(3);
        assert!(interrupted.next_batch().await.unwrap());
        assert_eq!(interrupted.rotated().resealed, 3, "{name}");

        let rest = Rotation::new(&s.database, &s.both, &[SECRETS]).run().await.unwrap();

        assert_eq!(rest.resealed, 4, "{name}");
        assert!(rest.is_complete());
    }
}

#[tokio::test]
async fn a_writer_in_between_wins() {
    for (name, test) in Databases::both().await {
        let s = Scenario::on(&test, 2).await;
        let rotation = Rotation::new(&s.database, &s.both, &[SECRETS]);
        let read = rotation.read(&SECRETS, None::<Uuid>).await.unwrap();

        s.write(&s.old, s.ids[0], b"newer").await;
        for (id, old) in &read {
            let new = s.both.reseal(place(&id.to_string()), old).unwrap().unwrap();
            let replaced = rotation.replace(&SECRETS, id, old, new).await.unwrap();
            assert_eq!(replaced, *id != s.ids[0], "{name}");
        }

        let rest = Rotation::new(&s.database, &s.both, &[SECRETS]).run().await.unwrap();
        assert_eq!((rest.resealed, rest.overtaken), (1, 0), "{name}");
        assert_eq!(s.plain(s.ids[0]).await, b"newer", "{name}");
    }
}

#[tokio::test]
async fn a_value_that_does_not_open_is_reported_and_does_not_stop_the_others() {
    for (name, test) in Databases::both().await {
        let s = Scenario::on(&test, 3).await;
        let moved = s.stored(s.ids[0]).await;
        let sql = "UPDATE secrets SET secret = $2 WHERE id = $1";
        s.insert(sql, s.ids[1], Some(moved.clone())).await;

        let rotated = Rotation::new(&s.database, &s.both, &[SECRETS]).run().await.unwrap();

        assert_eq!(rotated.resealed, 2, "{name}");
        assert!(!rotated.is_complete());
        assert_eq!(rotated.refused[0].0, s.ids[1].to_string(), "{name}");
        assert_eq!(s.stored(s.ids[1]).await, moved, "{name}");
    }
}

#[tokio::test]
async fn s3_operations_are_read_without_the_old_key_after_a_rotation() {
    let key = |id: &str, byte: u8| format!("{id}:{}", STANDARD.encode([byte; 32]));
    let sealer = |keys: String| Sealer::new(&Keys::parse(&SecretString::from(keys)).unwrap());
    for (name, test) in Databases::both().await {
        let database = test.database().await;
        database.migrate(crate::Set::Engine).await.unwrap();
        let store = |sealer: Sealer| {
            EngineStore::new(database.clone(), sealer, Time::Database, PlantedBug::Nothing)
        };
        let order = NewOperation {
            id: Uuid::from_u128(7),
            instance: "instance".into(),
            kind: "provision".into(),
            data_version: 1,
            lane: "tenant".into(),
            input: b"input".into(),
            data: b"data".into(),
            digest: None,
        };
        let id = order.id;
        store(sealer(key("old", 1))).accept(order, &|_| Verdict::Queue).await.unwrap();

        let both = sealer(format!("{},{}", key("new", 2), key("old", 1)));
        let rotated = Rotation::new(&database, &both, &ENGINE).run().await.unwrap();

        assert_eq!(rotated, RotationReport { resealed: 2, ..RotationReport::default() }, "{name}");
        let seen = store(sealer(key("new", 2))).read(id).await.unwrap().unwrap();
        assert_eq!((seen.input, seen.data), (b"input".to_vec(), b"data".to_vec()), "{name}");
    }
}
