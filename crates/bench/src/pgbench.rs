//! Baselines that `pgbench` runs, on tables of their own with the shape of ours.

use std::{fmt::Write as _, fs, time::Duration};

use anyhow::Context as _;

use super::{
    context::Bench,
    figures::{median, percentile},
};

/// Figures of `pgbench`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    /// Transactions per second.
    pub(super) rate: f64,
    /// Milliseconds, when single transactions were recorded.
    pub(super) p50: f64,
    pub(super) p99: f64,
    /// Bytes of changes logged per transaction.
    pub(super) logged: f64,
}

/// A baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// The built-in simple update.
    Update,
    /// The minimal statements of a step commit.
    Step,
    /// The minimal statements of an acceptance.
    Insert,
}

const TABLES: &str = "
    CREATE SCHEMA base;
    CREATE TABLE base.operations (LIKE kcp.operations INCLUDING ALL) WITH (fillfactor = 70);
    CREATE TABLE base.runs (LIKE kcp.runs INCLUDING ALL);
    CREATE TABLE base.instances (id uuid NOT NULL PRIMARY KEY, payload bytea NOT NULL);
    CREATE TABLE base.accepted (LIKE kcp.operations INCLUDING ALL);
    CREATE TABLE base.payloads (operation_id uuid NOT NULL PRIMARY KEY, payload bytea NOT NULL);
    CREATE TABLE base.notified (at timestamptz NOT NULL);
    CREATE TABLE base.claimable (
        id uuid NOT NULL PRIMARY KEY, owner uuid, epoch bigint NOT NULL DEFAULT 0,
        due_at timestamptz NOT NULL, payload bytea NOT NULL);
    CREATE INDEX ON base.claimable (due_at) WHERE owner IS NULL;
    CREATE TABLE base.reference (id bigint NOT NULL PRIMARY KEY, state text NOT NULL, data text NOT NULL);
    CREATE TABLE base.events (id bigserial PRIMARY KEY, operation bigint NOT NULL, message text NOT NULL)";

const ROWS: &str = "
    INSERT INTO base.operations (id, root, instance, kind, data_version, lane, state, stage, step,
                                 owner, epoch, held, due_at, created_at, updated_at)
    SELECT id, id, id::text, 'bench', 1, 'tenant-' || n % 10, 'in progress', 'create', 'Fifth',
           '00000000-0000-0000-0000-000000000001', 1, true, now(), now(), now()
    FROM (SELECT n, lpad(to_hex(n), 32, '0')::uuid AS id FROM generate_series(1, $1) n) numbered";

const STEP: &str = "WITH landed AS (UPDATE base.operations SET step = 'Sixth', serial = serial + 1, \
    runs = runs + 1, journal = journal + 1, updated_at = now() \
    WHERE id = lpad(to_hex(:n::bigint), 32, '0')::uuid AND epoch = 1 \
    RETURNING id, journal, epoch, owner, state, stage, step) \
    INSERT INTO base.runs (operation_id, seq, event, stage, step, run, epoch, replica, began_at, \
    ended_at, outcome, state, then_stage, then_step) \
    SELECT id, journal, 'run', stage, 'Fifth', journal, epoch, owner, now(), now(), 'done', state, \
    stage, step FROM landed;";

/// Makes the tables of the baselines.
pub(super) async fn prepare(bench: &Bench) -> anyhow::Result<()> {
    sqlx::raw_sql(TABLES).execute(&bench.pool).await?;
    let rows = i32::try_from(bench.scale.rows)?;
    sqlx::query(ROWS).bind(rows).execute(&bench.pool).await?;
    let scale = bench.scale.accounts.to_string();
    let mut command = bench.server.program("pgbench");
    command.args(["-i", "-q", "-s", &scale, "postgres"]);
    let output = command.output().await.context("pgbench cannot be run")?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Warms up and measures one baseline.
pub(super) async fn run(bench: &Bench, script: Script, clients: u32) -> anyhow::Result<Figures> {
    bench.checkpoint().await?;
    once(bench, script, clients, bench.scale.warm_up).await?;
    once(bench, script, clients, bench.scale.window).await
}

async fn once(
    bench: &Bench,
    script: Script,
    clients: u32,
    duration: Duration,
) -> anyhow::Result<Figures> {
    let folder = bench.server.folder();
    let mut command = bench.server.program("pgbench");
    let jobs = clients.min(2);
    command.args(["-n", "-M", "prepared", "-c", &clients.to_string(), "-j", &jobs.to_string()]);
    command.args(["-T", &duration.as_secs().max(1).to_string()]);
    if script == Script::Update {
        command.arg("-N");
    } else {
        let path = folder.join("script.sql");
        fs::write(&path, text(script, bench.scale.rows))?;
        command.arg("-f").arg(path);
    }
    let lone = clients == 1;
    if lone {
        command.arg("--log").arg(format!("--log-prefix={}", folder.join("pgbench").display()));
    }
    let logged = bench.logged().await?;
    let output = command.arg("postgres").output().await.context("pgbench cannot be run")?;
    let logged = bench.logged().await? - logged;
    let said = String::from_utf8_lossy(&output.stdout);
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let latencies = if lone { latencies(bench)? } else { Vec::new() };
    Ok(Figures {
        rate: number(&said, "tps = ")?,
        p50: median(&latencies),
        p99: percentile(&latencies, 0.99),
        logged: logged / number(&said, "number of transactions actually processed: ")?,
    })
}

fn text(script: Script, rows: usize) -> String {
    if script == Script::Step {
        return format!("\\set n random(1, {rows})\n{STEP}\n");
    }
    let mut bytes = String::new();
    for _ in 0..4_096 {
        let _ = write!(bytes, "{:02x}", fastrand::u8(..));
    }
    format!(
        "WITH i AS (INSERT INTO base.instances VALUES (gen_random_uuid(), '\\x{bytes}') RETURNING id), \
         o AS (INSERT INTO base.accepted (id, root, instance, kind, data_version, lane, state, due_at, \
         created_at, updated_at) SELECT id, id, id::text, 'bench', 1, 'tenant-1', 'pending', now(), \
         now(), now() FROM i RETURNING id) \
         INSERT INTO base.payloads SELECT id, '\\x{bytes}' FROM o;\n"
    )
}

/// The latencies of the last run, in milliseconds; the record is removed.
fn latencies(bench: &Bench) -> anyhow::Result<Vec<f64>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(bench.server.folder())? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !name.starts_with("pgbench.") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let third = |line: &str| line.split_whitespace().nth(2)?.parse::<f64>().ok();
        found.extend(text.lines().filter_map(third).map(|micros| micros / 1_000.0));
        fs::remove_file(path)?;
    }
    Ok(found)
}

fn number(said: &str, after: &str) -> anyhow::Result<f64> {
    said.lines()
        .find_map(|line| line.strip_prefix(after)?.split([' ', '/']).next()?.parse().ok())
        .with_context(|| format!("pgbench does not say \"{after}\":\n{said}"))
}
