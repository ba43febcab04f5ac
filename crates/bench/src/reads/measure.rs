//! The questions, and how long their answers take.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use reqwest::Client;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::{
    Figure,
    generate::{Generator, RARE},
    service::Service,
};
use crate::figures::{median, percentile};

const PAGE: usize = 100;
/// How many instances are asked for by name.
const NAMED: usize = 50;

pub(super) struct Measures<'a> {
    http: Client,
    address: String,
    token: String,
    generator: &'a Generator,
    times: usize,
}

impl<'a> Measures<'a> {
    pub(super) fn new(service: &Service, generator: &'a Generator, times: usize) -> Self {
        Self {
            http: Client::new(),
            address: service.address(),
            token: service.token().expose_secret().to_owned(),
            generator,
            times,
        }
    }

    /// Every question, the first page first.
    pub(super) async fn all(&self) -> anyhow::Result<Vec<Figure>> {
        let any = || fastrand::usize(..self.generator.count);
        let pages = self.pages().await?;
        let shoot = |number: usize| Generator::shoot(number);
        let mut figures = vec![
            self.ask("first page", String::new).await?,
            self.ask("next pages, one after the other", counting(2..pages + 1)).await?,
            self.ask("random page", || format!("page={}", fastrand::usize(1..=pages))).await?,
            self.ask("last page", || format!("page={pages}")).await?,
            self.ask("first page of one, with the count", || "page_size=1".into()).await?,
            self.ask("all states", || "state=all".into()).await?,
            self.ask("account", || format!("account={}", self.generator.account(any() | 1)))
                .await?,
            self.ask("large account", || "account=account-large".into()).await?,
            self.ask("subaccount", || format!("subaccount={}", Generator::subaccount(any())))
                .await?,
            self.ask("region", || "region=westeurope".into()).await?,
            self.ask("rare region", || "region=rare-1".into()).await?,
            self.ask("plan", || "plan=trial".into()).await?,
            self.ask("plan and region", || "plan=trial&region=rare-1".into()).await?,
            self.ask("state failed", || "state=failed".into()).await?,
            self.ask("state updating", || "state=updating".into()).await?,
            self.ask("state suspended and failed", || "state=suspended&state=failed".into())
                .await?,
            self.ask("removed", || "state=deprovisioned".into()).await?,
            self.ask("left over", || "state=deprovisionincomplete".into()).await?,
            self.ask("shoot", || format!("shoot={}", shoot(any()))).await?,
            self.ask("shoot pattern", || format!("shoot={}.%2A", &shoot(any())[..6])).await?,
            self.ask("instances by id", || named(&any)).await?,
            self.ask("nobody: region", || "region=nowhere".into()).await?,
            self.ask("nobody: plan", || "plan=nothing".into()).await?,
            self.ask("nobody: account", || "account=nobody".into()).await?,
            self.ask("nobody: state upgrading", || "state=upgrading".into()).await?,
            self.ask("nobody: plan and state", || "plan=aws&state=upgrading".into()).await?,
            self.ask("region and state", || "region=westeurope&state=failed".into()).await?,
            self.ask("nobody: shoot pattern", || "shoot=nobody.%2A".into()).await?,
        ];
        ensure!(
            self.found("region=rare-1&state=all").await?
                <= (self.generator.count / RARE + 1) as u64
        );
        let first = figures[0].median;
        for figure in &mut figures {
            figure.ratio = figure.median / first;
        }
        Ok(figures)
    }

    /// How many pages the list of all runtimes has.
    pub(super) async fn pages(&self) -> anyhow::Result<usize> {
        Ok(usize::try_from(self.found("").await?)?.div_ceil(PAGE).max(1))
    }

    /// How many runtimes are exported, and how long that takes.
    pub(super) async fn export(&self) -> anyhow::Result<(usize, Duration)> {
        let began = Instant::now();
        let address = format!("{}/runtimes/export", self.address);
        let request = self.http.get(address).bearer_auth(&self.token);
        let mut answer = request.send().await?.error_for_status()?;
        let mut lines = 0;
        while let Some(piece) = answer.chunk().await? {
            lines += piece.split(|byte| *byte == b'\n').count() - 1;
        }
        ensure!(lines as u64 == self.found("").await?, "an export has {lines} runtimes");
        Ok((lines, began.elapsed()))
    }

    async fn ask(
        &self,
        question: &'static str,
        mut query: impl FnMut() -> String,
    ) -> anyhow::Result<Figure> {
        let found = self.found(&query()).await?;
        let took = self.took(self.times, query).await?;
        eprintln!("  {question}: {:.1} ms", median(&took));
        let (median, p99) = (median(&took), percentile(&took, 0.99));
        Ok(Figure { question, found, median, p99, ratio: 1.0 })
    }

    /// The middle of how long answers take, in milliseconds.
    pub(super) async fn median(
        &self,
        times: usize,
        query: impl FnMut() -> String,
    ) -> anyhow::Result<f64> {
        Ok(median(&self.took(times, query).await?))
    }

    async fn took(
        &self,
        times: usize,
        mut query: impl FnMut() -> String,
    ) -> anyhow::Result<Vec<f64>> {
        let mut took = Vec::new();
        for _ in 0..times {
            let query = query();
            let began = Instant::now();
            self.answer(&query).await?;
            took.push(began.elapsed().as_secs_f64() * 1e3);
        }
        Ok(took)
    }

    async fn found(&self, query: &str) -> anyhow::Result<u64> {
        let page: Value = serde_json::from_slice(&self.answer(query).await?)?;
        page["totalCount"].as_u64().context("a page has no totalCount")
    }

    async fn answer(&self, query: &str) -> anyhow::Result<Vec<u8>> {
        let address = format!("{}/runtimes?{query}", self.address);
        let answer = self.http.get(address).bearer_auth(&self.token).send().await?;
        let (status, body) = (answer.status(), answer.bytes().await?);
        ensure!(status.is_success(), "{query}: {status} {}", String::from_utf8_lossy(&body));
        Ok(body.into())
    }
}

/// Pages one after the other, from the first of them again at the end.
fn counting(pages: std::ops::Range<usize>) -> impl FnMut() -> String {
    let mut pages = pages.cycle();
    move || format!("page={}", pages.next().unwrap_or(1))
}

fn named(any: &impl Fn() -> usize) -> String {
    let ids = (0..NAMED).map(|_| format!("instance_id={}", Generator::id(any())));
    ids.collect::<Vec<_>>().join("&")
}
