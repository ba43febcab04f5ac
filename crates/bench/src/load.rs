//! Stores operations in bulk, sealed as the product seals them.

use anyhow::Context as _;
use sqlx::{Connection as _, SqliteConnection};
use store::{SealLocation, Sealer};
use uuid::Uuid;

use super::{
    context::Bench,
    plan::{Begins, Payload, Shape},
};

/// How many go into one statement.
const AT_ONCE: usize = 500;
/// How many tenants share the work.
const LANES: usize = 10;

/// One operation to be stored.
struct Row {
    id: Uuid,
    instance: String,
    lane: String,
    input: Vec<u8>,
    data: Vec<u8>,
}

impl Row {
    fn new(sealer: &Sealer, begins: Begins, number: usize) -> anyhow::Result<Self> {
        let id = Uuid::now_v7();
        let row = id.to_string();
        let input = serde_json::to_vec(&Shape { begins })?;
        let data = serde_json::to_vec(&Payload::random())?;
        let (table, column) = ("operation_inputs", "input");
        let input = sealer.seal(SealLocation { table, column, row: &row }, &input);
        let (table, column) = ("operation_data", "data");
        let data = sealer.seal(SealLocation { table, column, row: &row }, &data);
        Ok(Self { id, instance: row, lane: format!("tenant-{}", number % LANES), input, data })
    }
}

/// Final operations that are just there.
pub(super) async fn stored(bench: &Bench, count: usize) -> anyhow::Result<()> {
    insert(bench, Begins::AtOnce, count, false).await
}

/// Operations that are due now.
pub(super) async fn due(bench: &Bench, begins: Begins, count: usize) -> anyhow::Result<()> {
    insert(bench, begins, count, true).await
}

async fn insert(bench: &Bench, begins: Begins, count: usize, due: bool) -> anyhow::Result<()> {
    const SQL: &str = "
        WITH given AS (
            SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::bytea[])
                AS g (id, instance, lane, input, data)
        ), stored AS (
            INSERT INTO kcp.operations (id, root, instance, kind, data_version, lane, state, due_at,
                                        created_at, updated_at, ended_at)
            SELECT id, id, instance, CASE WHEN $6 THEN 'bench' ELSE 'stored' END, 1, lane,
                   CASE WHEN $6 THEN 'pending' ELSE 'succeeded' END, CASE WHEN $6 THEN now() END,
                   now(), now(), CASE WHEN $6 THEN NULL ELSE now() END
            FROM given
        ), inputs AS (
            INSERT INTO kcp.operation_inputs SELECT id, input FROM given
        )
        INSERT INTO kcp.operation_data SELECT id, data FROM given";
    let mut left = count;
    while left > 0 {
        let part = left.min(AT_ONCE);
        let rows = (0..part)
            .map(|at| Row::new(&bench.sealer, begins, left - at))
            .collect::<anyhow::Result<Vec<_>>>()?;
        left -= part;
        sqlx::query(SQL)
            .bind(rows.iter().map(|row| row.id).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| row.instance.as_str()).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| row.lane.as_str()).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| row.input.as_slice()).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| row.data.as_slice()).collect::<Vec<_>>())
            .bind(due)
            .execute(&bench.pool)
            .await
            .context("operations cannot be stored")?;
    }
    Ok(())
}

/// The same in the embedded database: final ones, and ones that are due.
pub(super) async fn embedded(
    connection: &mut SqliteConnection,
    bench: &Bench,
    stored: usize,
    due: usize,
) -> anyhow::Result<()> {
    const OPERATION: &str = "
        INSERT INTO operations (id, root, instance, kind, data_version, lane, state, due_at,
                                created_at, updated_at, ended_at)
        VALUES ($1, $1, $2, $3, 1, $4, $5, $6, $7, $7, $8)";
    let now = bench.clock.now().as_microsecond();
    let mut transaction = connection.begin().await?;
    for number in 0..stored + due {
        let due = number >= stored;
        let row = Row::new(&bench.sealer, Begins::AtOnce, number)?;
        sqlx::query(OPERATION)
            .bind(row.id)
            .bind(&row.instance)
            .bind(if due { "bench" } else { "stored" })
            .bind(&row.lane)
            .bind(if due { "pending" } else { "succeeded" })
            .bind(due.then_some(now))
            .bind(now)
            .bind((!due).then_some(now))
            .execute(&mut *transaction)
            .await?;
        for (text, bytes) in [
            ("INSERT INTO operation_inputs VALUES ($1, $2)", row.input),
            ("INSERT INTO operation_data VALUES ($1, $2)", row.data),
        ] {
            sqlx::query(text).bind(row.id).bind(bytes).execute(&mut *transaction).await?;
        }
    }
    transaction.commit().await?;
    Ok(())
}
