//! What the pages of the console cost, by how many instances there are: opened with a session, as a browser does.
//!
//! What a reader would get wrong: a page of the console is answered with everything it shows, so that there is no second request. Styles and
//! the script are not asked for: a browser keeps them.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use base::Clock;
use reqwest::{
    Client, Method, RequestBuilder,
    header::{COOKIE, HeaderName, LOCATION, SET_COOKIE},
    redirect::Policy,
};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use serde_json::{Value, json};
use sqlx::Connection as _;

use super::{
    generate::{Generator, RARE},
    judged::{JudgedTarget, ROUNDS, Sides, plain_page, reference_page},
    rows::Rows,
    service::Service,
};
use crate::{
    figures::{median, percentile},
    targets::{self, Target},
};

/// How many runtimes are on a page.
const PAGE: usize = 50;
/// How long it may take until all runtimes of an orchestration are chosen.
const PATIENCE: Duration = Duration::from_mins(5);
const LOOK: Duration = Duration::from_millis(100);
const RANDOM: Target = Target { measure: "console: random page of runtimes, p50", ..targets::B11 };
const LAST: Target = Target { measure: "console: last page of runtimes, p50", ..targets::B11A };
const REFERENCE: Target =
    Target { measure: "console: random page of runtimes, p50", ..targets::B11B };

/// One page, and how long its answers took.
#[derive(Debug, Clone, Serialize)]
pub struct PageFigure {
    /// The page.
    pub page: &'static str,
    /// Its size when it was last opened, in bytes.
    pub bytes: usize,
    /// The middle value, in milliseconds.
    pub median: f64,
    /// All but the slowest hundredth, in milliseconds.
    pub p99: f64,
}

impl PageFigure {
    /// The heads of the columns.
    pub const HEAD: [&str; 4] = ["page of the console", "KiB", "median ms", "p99 ms"];

    /// The cells of its line.
    pub fn row(&self) -> Vec<String> {
        let kib = self.bytes.div_ceil(1024).to_string();
        let (median, p99) = (format!("{:.1}", self.median), format!("{:.1}", self.p99));
        vec![self.page.to_owned(), kib, median, p99]
    }
}

/// A browser that has signed in.
pub(super) struct Browser<'a> {
    http: Client,
    service: &'a Service,
    session: String,
    times: usize,
}

impl<'a> Browser<'a> {
    /// Signs in with the user of the landscape.
    pub(super) async fn sign_in(service: &'a Service, times: usize) -> anyhow::Result<Self> {
        let http = Client::builder().redirect(Policy::none()).build()?;
        let header = |answer: &reqwest::Response, name: HeaderName| {
            let value = answer.headers().get(name).and_then(|it| it.to_str().ok());
            let value = value.map(str::to_owned);
            value.with_context(|| format!("a sign-in is answered with {}", answer.status()))
        };
        let begin = http.get(format!("{}/console/sign-in", service.address())).send().await?;
        let cookie = header(&begin, SET_COOKIE)?;
        let (user, password) = service.user();
        let form =
            [("username", user), ("password", password.expose_secret()), ("decision", "allow")];
        let login = http.post(header(&begin, LOCATION)?).form(&form).send().await?;
        let back = http.get(header(&login, LOCATION)?).header(COOKIE, pair(&cookie));
        let session = pair(&header(&back.send().await?, SET_COOKIE)?).to_owned();
        Ok(Self { http, service, session, times })
    }

    /// Every page.
    pub(super) async fn all(&self, generator: &Generator) -> anyhow::Result<Vec<PageFigure>> {
        self.fill_audit().await?;
        let any = || fastrand::usize(..generator.count);
        // Of those that are rare there is a runtime, whatever the number is.
        let there = || fastrand::usize(..generator.count.div_ceil(RARE)) * RARE + RARE / 2;
        let runtimes = "/console/runtimes";
        let pages = self.pages().await?;
        let operations = self.text("/console/operations").await?;
        let operation = link(&operations, "/console/operations/")?;
        let older = link(&operations, "/console/operations?after=");
        let older = older.unwrap_or_else(|_| "/console/operations".into());
        let mut figures = vec![
            self.page("overview", || "/".into()).await?,
            self.page("runtimes, first page", || runtimes.into()).await?,
            self.page("runtimes, random page", || {
                format!("{runtimes}?page={}", fastrand::usize(1..=pages))
            })
            .await?,
            self.page("runtimes, last page", || format!("{runtimes}?page={pages}")).await?,
            self.page("runtimes of all states", || format!("{runtimes}?state=all")).await?,
            self.page("runtimes that failed", || format!("{runtimes}?state=failed")).await?,
            self.page("runtimes of a plan and state", || {
                format!("{runtimes}?plan=trial&state=error")
            })
            .await?,
            self.page("search: an id", || format!("{runtimes}?q={}", Generator::id(any()))).await?,
            self.page("search: a Shoot", || format!("{runtimes}?q={}", Generator::shoot(any())))
                .await?,
            self.page("search: nothing fits", || format!("{runtimes}?q=nobody")).await?,
            self.page("a runtime", || {
                format!("{runtimes}/{}", Generator::id(there().min(generator.count - 1)))
            })
            .await?,
            self.page("operations", || "/console/operations".into()).await?,
            self.page("operations, older", || older.clone()).await?,
            self.page("operations that failed", || "/console/operations?state=failed".into())
                .await?,
            self.page("operations of a runtime", || {
                format!("/console/operations?instance={}", Generator::id(any()))
            })
            .await?,
            self.page("an operation", || operation.clone()).await?,
            self.page("order", || "/console/order".into()).await?,
            self.page("jobs", || "/console/jobs".into()).await?,
            self.page("a job", || "/console/jobs/drift".into()).await?,
            self.page("pool", || "/console/pool".into()).await?,
            self.page("audit", || "/console/audit".into()).await?,
            self.page("audit of an action", || "/console/audit?action=update".into()).await?,
            self.page("audit of a runtime", || {
                format!("/console/audit?instance={}", Generator::id(any()))
            })
            .await?,
            self.page("what may exist", || "/console/may-exist".into()).await?,
        ];
        // What is ordered here stands in the way of nothing that is measured before.
        let orchestration = self.orchestration().await?;
        figures.push(self.page("orchestrations", || "/console/orchestrations".into()).await?);
        figures.push(self.page("an orchestration", || orchestration.clone()).await?);
        Ok(figures)
    }

    /// The targets of lists, for the list of runtimes; those against plain statements with PostgreSQL only.
    pub(super) async fn judged(&self) -> anyhow::Result<Vec<JudgedTarget>> {
        let mut connection = match self.service.rows().await? {
            Rows::Postgres(connection) => Some(connection),
            Rows::Sqlite(_) => None,
        };
        let times = self.times.div_ceil(ROUNDS);
        let pages = self.pages().await?;
        let [mut to_plain, mut to_first, mut to_reference] = <[Sides; 3]>::default();
        let address = |page: usize| format!("/console/runtimes?page={page}");
        for _ in 0..ROUNDS {
            let first = median(&self.took(times, || address(1)).await?.0);
            let last = median(&self.took(times, || address(pages)).await?.0);
            to_first.0.push([last, first]);
            let Some(connection) = &mut connection else { continue };
            let random = || address(fastrand::usize(1..=pages));
            let random = median(&self.took(times, random).await?.0);
            to_plain.0.push([random, plain_page(connection, times).await?]);
            let pages = pages.div_ceil(2);
            to_reference.0.push([random, reference_page(connection, pages).await?]);
        }
        let mut judged = vec![to_first.judged(&LAST)];
        if let Some(connection) = connection {
            connection.close().await?;
            judged.insert(0, to_plain.judged(&RANDOM));
            judged.push(to_reference.judged(&REFERENCE));
        }
        Ok(judged)
    }

    async fn page(
        &self,
        page: &'static str,
        address: impl FnMut() -> String,
    ) -> anyhow::Result<PageFigure> {
        let (took, bytes) = self.took(self.times, address).await?;
        eprintln!("  {page}: {:.1} ms", median(&took));
        Ok(PageFigure { page, bytes, median: median(&took), p99: percentile(&took, 0.99) })
    }

    /// How long answers take, in milliseconds, and the size of the last one.
    async fn took(
        &self,
        times: usize,
        mut address: impl FnMut() -> String,
    ) -> anyhow::Result<(Vec<f64>, usize)> {
        let (mut took, mut bytes) = (Vec::new(), 0);
        for _ in 0..times.max(1) {
            let address = address();
            let began = Instant::now();
            bytes = self.text(&address).await?.len();
            took.push(began.elapsed().as_secs_f64() * 1e3);
        }
        Ok((took, bytes))
    }

    /// How many pages the list of runtimes has.
    async fn pages(&self) -> anyhow::Result<usize> {
        let first = self.text("/console/runtimes").await?;
        let Some((_, rest)) = first.split_once("Page 1 of ") else { return Ok(1) };
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().with_context(|| format!("a list with pages of {PAGE} has no number of them"))
    }

    async fn text(&self, path: &str) -> anyhow::Result<String> {
        let request = self.http.get(format!("{}{path}", self.service.address()));
        let request = request.header(COOKIE, &self.session);
        let text = answered(path, request).await?;
        ensure!(text.starts_with("<!DOCTYPE html>"), "{path} is no page: {text}");
        Ok(text)
    }

    /// An entry in the audit for every operation.
    async fn fill_audit(&self) -> anyhow::Result<()> {
        const COLUMNS: &str = "INSERT INTO audit (id, at, action, subject, issuer, instance, operation_id, details, \
            result, seq, digest) SELECT id, created_at, kind, 'bench', 'bench', instance, id, '{}', 'accepted', \
            (SELECT COALESCE(max(seq), 0) FROM audit) + row_number() OVER (ORDER BY id)";
        const REST: &str =
            " FROM operations; UPDATE audit_chain SET seq = (SELECT max(seq) FROM audit)";
        let text = |digest: &str| sqlx::AssertSqlSafe(format!("{COLUMNS}, {digest}{REST}"));
        match self.service.rows().await? {
            Rows::Postgres(mut connection) => {
                sqlx::raw_sql(text("'\\x00'::bytea")).execute(&mut *connection).await?;
                sqlx::raw_sql("ANALYZE audit").execute(&mut *connection).await?;
                connection.close().await?;
            }
            Rows::Sqlite(mut connection) => {
                sqlx::raw_sql(text("x'00'")).execute(&mut *connection).await?;
                connection.close().await?;
            }
        }
        Ok(())
    }

    /// Where an upgrade of a tenth of all is shown that begins tomorrow.
    async fn orchestration(&self) -> anyhow::Result<String> {
        let tomorrow = Clock::running().now().checked_add(Duration::from_hours(24))?;
        let order = json!({
            "targets": {"include": [{"globalAccount": "account-large"}]},
            "strategy": {
                "type": "parallel", "schedule": tomorrow.to_string(), "parallel": {"workers": 20},
            },
            "kyma": {},
        });
        let created = self.api(Method::POST, "/upgrade/kyma", Some(&order)).await?;
        let id = created["orchestrationID"].as_str().context("there is no orchestration")?;
        let began = Instant::now();
        loop {
            let found = self.api(Method::GET, &format!("/orchestrations/{id}"), None).await?;
            if found["state"] == "in progress" {
                return Ok(format!("/console/orchestrations/{id}"));
            }
            ensure!(began.elapsed() < PATIENCE, "the runtimes are not chosen: {found}");
            Clock::running().sleep(LOOK).await;
        }
    }

    async fn api(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let request = self.http.request(method, format!("{}{path}", self.service.address()));
        let request = request.bearer_auth(self.service.token().expose_secret());
        let request = if let Some(body) = body { request.json(body) } else { request };
        Ok(serde_json::from_str(&answered(path, request).await?)?)
    }
}

async fn answered(path: &str, request: RequestBuilder) -> anyhow::Result<String> {
    let answer = request.send().await?;
    let (status, text) = (answer.status(), answer.text().await?);
    ensure!(status.is_success(), "{path} is answered with {status}: {text}");
    Ok(text)
}

/// The name and the value of a cookie.
fn pair(cookie: &str) -> &str {
    cookie.split(';').next().unwrap_or_default()
}

/// The first link of a page that begins like this.
fn link(page: &str, start: &str) -> anyhow::Result<String> {
    let (_, rest) = page
        .split_once(&format!("href=\"{start}"))
        .with_context(|| format!("a page has no link to {start}"))?;
    let rest = rest.split('"').next().unwrap_or_default();
    Ok(format!("{start}{}", rest.replace("&amp;", "&")))
}
