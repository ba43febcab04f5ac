//! What pages cost against what a page has to cost: B11, B11a and B11b, in rounds of both sides in turns.
//!
//! What a reader would get wrong: the plain page is one statement on a connection that is there. A page of the broker is a request with a
//! token, the rows with everything sealed in them opened, their operations and the total.

use std::time::Instant;

use serde::Serialize;
use sqlx::{Connection as _, PgConnection};

use super::{measure::Measures, rows::Rows, service::Service};
use crate::{
    figures::median,
    targets::{self, Target},
};

pub(super) const ROUNDS: usize = 5;

// A hundred rows by key from anywhere.
const PLAIN: &str = "
    SELECT instances.* FROM instances
    WHERE (created_at, id) >
        ((SELECT min(created_at) + random() * (max(created_at) - min(created_at)) FROM instances), '')
    ORDER BY created_at, id LIMIT 100";
// The reference: a list, a count, and two statements for each row.
const LIST: &str = "SELECT id FROM instances ORDER BY created_at, id LIMIT 100 OFFSET $1";
const COUNT: &str = "SELECT count(*) FROM instances WHERE deleted_at IS NULL";
const FIRST: &str = "
    SELECT o.*, input, data FROM operations o JOIN operation_inputs i ON i.operation_id = o.id
    JOIN operation_data d ON d.operation_id = o.id
    WHERE instance = $1 AND kind = 'provision' ORDER BY created_at DESC LIMIT 1";
const OTHERS: &str = "
    SELECT o.*, input, data FROM operations o JOIN operation_inputs i ON i.operation_id = o.id
    JOIN operation_data d ON d.operation_id = o.id
    WHERE instance = $1 AND kind <> 'provision' ORDER BY created_at DESC";

/// One target, and what was reached.
#[derive(Debug, Clone, Serialize)]
pub struct JudgedTarget {
    pub id: &'static str,
    pub measure: &'static str,
    pub against: &'static str,
    /// The median of the rounds, and the smallest and the largest of them.
    pub ratio: f64,
    pub min: f64,
    pub max: f64,
    /// The medians of both sides, in milliseconds.
    pub system: f64,
    pub baseline: f64,
    /// The best mark that is reached.
    pub reached: &'static str,
}

/// Both sides of each round.
#[derive(Default)]
pub(super) struct Sides(pub(super) Vec<[f64; 2]>);

impl Sides {
    pub(super) fn judged(&self, target: &Target) -> JudgedTarget {
        let mut ratios: Vec<f64> =
            self.0.iter().map(|[system, baseline]| system / baseline).collect();
        ratios.sort_by(f64::total_cmp);
        let side = |at: usize| median(&self.0.iter().map(|sides| sides[at]).collect::<Vec<_>>());
        let ratio = median(&ratios);
        JudgedTarget {
            id: target.id,
            measure: target.measure,
            against: target.against,
            ratio,
            min: ratios.first().copied().unwrap_or(ratio),
            max: ratios.last().copied().unwrap_or(ratio),
            system: side(0),
            baseline: side(1),
            reached: target.verdict(ratio),
        }
    }
}

/// Measures every target; those against plain statements with PostgreSQL only.
pub(super) async fn all(
    service: &Service,
    measures: &Measures<'_>,
    times: usize,
) -> anyhow::Result<Vec<JudgedTarget>> {
    let mut connection = match service.rows().await? {
        Rows::Postgres(connection) => Some(connection),
        Rows::Sqlite(_) => None,
    };
    let times = times.div_ceil(ROUNDS);
    let pages = measures.pages().await?;
    let [mut to_plain, mut to_first, mut to_reference] = <[Sides; 3]>::default();
    for _ in 0..ROUNDS {
        let first = measures.median(times, String::new).await?;
        let last = measures.median(times, || format!("page={pages}")).await?;
        to_first.0.push([last, first]);
        let Some(connection) = &mut connection else { continue };
        let random =
            measures.median(times, || format!("page={}", fastrand::usize(1..=pages))).await?;
        to_plain.0.push([random, plain_page(connection, times).await?]);
        to_reference.0.push([random, reference_page(connection, pages).await?]);
    }
    let mut judged = vec![to_first.judged(&targets::B11A)];
    if let Some(connection) = connection {
        connection.close().await?;
        judged.insert(0, to_plain.judged(&targets::B11));
        judged.push(to_reference.judged(&targets::B11B));
    }
    Ok(judged)
}

pub(super) async fn plain_page(connection: &mut PgConnection, times: usize) -> anyhow::Result<f64> {
    let mut took = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        sqlx::query(PLAIN).fetch_all(&mut *connection).await?;
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(&took))
}

pub(super) async fn reference_page(
    connection: &mut PgConnection,
    pages: usize,
) -> anyhow::Result<f64> {
    let offset = i64::try_from(fastrand::usize(..pages) * 100)?;
    let began = Instant::now();
    let ids: Vec<String> =
        sqlx::query_scalar(LIST).bind(offset).fetch_all(&mut *connection).await?;
    sqlx::query(COUNT).fetch_one(&mut *connection).await?;
    for id in ids {
        for text in [FIRST, OTHERS] {
            sqlx::query(text).bind(&id).fetch_all(&mut *connection).await?;
        }
    }
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

impl JudgedTarget {
    /// In one line for people.
    pub(super) fn line(&self) -> String {
        let Self { id, measure, against, ratio, min, max, system, baseline, reached } = self;
        format!(
            "{id}: {measure} against {against}: {ratio:.2} ({min:.2}..{max:.2}), {system:.1} ms against {baseline:.2} ms: {reached}"
        )
    }
}
