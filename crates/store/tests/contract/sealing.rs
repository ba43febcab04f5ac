//! Input and data are unreadable in the database.

use engine::Storage as _;
use store::on;

use crate::bench::{OnDatabase, landed, new};

const STORED: &str = "
    SELECT input, data FROM operation_inputs i
    JOIN operation_data d ON d.operation_id = i.operation_id WHERE i.operation_id = $1";
const SECRET: &[u8] = b"correct horse battery staple";

pub(crate) async fn s1_sealed_columns_are_not_readable_in_the_database(bench: OnDatabase) {
    let replica = bench.join("r").await;
    let mut operation = new("i", "a");
    operation.input = SECRET.to_vec();
    operation.data = SECRET.to_vec();
    let (id, _) = bench.accept_new(operation).await;
    let held = bench.claim(replica, 1).await.remove(0);
    let mut commit = bench.done(&held);
    commit.data = Some([SECRET, b"!"].concat());
    assert!(landed(&bench.commit(replica, commit).await));

    let (input, data): (Vec<u8>, Vec<u8>) = on!(bench.database.reader(), |pool| {
        sqlx::query_as(STORED).bind(id).fetch_one(pool).await
    })
    .unwrap();

    for stored in [&input, &data] {
        assert!(!stored.windows(SECRET.len()).any(|window| window == SECRET));
    }
    let read = bench.read(id).await;
    assert_eq!((read.input.as_slice(), read.data), (SECRET, [SECRET, b"!"].concat()));
}

pub(crate) async fn what_cannot_be_opened_is_put_back_and_harms_no_other(bench: OnDatabase) {
    const SWAP: &str = "
        UPDATE operation_data SET data = (SELECT data FROM operation_data WHERE operation_id = $1)
        WHERE operation_id = $2";
    let replica = bench.join("r").await;
    let healthy = bench.accept("healthy").await;
    let spoilt = bench.accept("spoilt").await;
    on!(bench.database.writer(), |pool| {
        sqlx::query(SWAP).bind(healthy).bind(spoilt).execute(pool).await.map(drop)
    })
    .unwrap();

    let claimed = bench.claim(replica, 10).await;

    assert_eq!(claimed.iter().map(|held| held.id).collect::<Vec<_>>(), [healthy]);
    assert!(bench.store.read(spoilt).await.is_err());
    assert!(bench.claim(replica, 10).await.is_empty());
    assert_eq!(bench.ask(replica, 10, "", &[]).await.next_due, Some(bench.later(60)));
}
