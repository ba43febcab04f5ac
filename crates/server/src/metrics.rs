//! Metrics: from the engine's events, and of unfinished operations at each scrape.

mod answers;
mod calls;
mod jobs;

use std::sync::{Arc, Mutex, PoisonError, atomic::AtomicU64};

use api::Error;
use axum::{
    Router, extract::State, http::header::CONTENT_TYPE, response::IntoResponse, routing::get,
};
use base::failure::chain;
use broker::{
    answers::{Answers, Gauges},
    jobs::{JobView, Jobs},
};
use clients::Observer;
use engine::{Engine, Event};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};
use store::{EngineStore, engine::OperationCount};
use tokio::sync::broadcast::{Receiver, error::RecvError};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Run {
    kind: String,
    step: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    kind: String,
    state: &'static str,
}

/// All metrics of a service.
pub struct Metrics {
    registry: Registry,
    runs: Family<Run, Counter>,
    durations: Family<Run, Histogram>,
    ended: Family<OperationLabels, Counter>,
    unfinished: Family<OperationLabels, Gauge<f64, AtomicU64>>,
    missed: Counter,
    /// Connections that came back to their pool inside of a transaction.
    in_transaction: Counter,
    calls: calls::Calls,
    jobs: jobs::JobMetrics,
    answers: answers::AnswerMetrics,
    /// Gauges by kind, under the names that dashboards of the reference know.
    in_progress: Vec<(&'static str, Gauge)>,
    /// Gauges that the provisioner has computed about its operations.
    kept: Mutex<Gauges>,
    /// Held while numbers are taken over and printed: another scrape would find them half.
    printing: Mutex<()>,
}

/// The kinds whose unfinished operations the reference's provisioner counts.
const COUNTED: [&str; 8] = [
    "provision",
    "provision_no_install",
    "deprovision",
    "deprovision_no_install",
    "upgrade",
    "upgrade_shoot",
    "hibernate",
    "reconnect",
];

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("kcp");
        let runs = Family::default();
        let durations = Family::new_with_constructor(histogram as fn() -> Histogram);
        let (ended, unfinished, missed) =
            (Family::default(), Family::default(), Counter::default());
        registry.register("step_runs", "Runs of steps, by how they ended", runs.clone());
        registry.register("step_run_seconds", "How long runs of steps took", durations.clone());
        registry.register("operations_ended", "Operations that became final", ended.clone());
        registry.register(
            "operations_unfinished",
            "Operations that are not final",
            unfinished.clone(),
        );
        registry.register("events_missed", "Events that were not counted", missed.clone());
        let in_transaction = Counter::default();
        registry.register(
            "database_connections_released_in_transaction",
            "Database connections that were released inside of a transaction, and closed",
            in_transaction.clone(),
        );
        let calls = calls::Calls::register(&mut registry);
        let jobs = jobs::JobMetrics::register(&mut registry);
        let answers = answers::AnswerMetrics::register(&mut registry);
        let in_progress = Vec::new();
        Self {
            registry,
            runs,
            durations,
            ended,
            unfinished,
            missed,
            in_transaction,
            calls,
            jobs,
            answers,
            in_progress,
            kept: Mutex::default(),
            printing: Mutex::default(),
        }
    }
}

fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 4.0, 10))
}

impl Metrics {
    /// The same with the gauges of the provisioner.
    pub fn of_provisioner() -> Self {
        let mut metrics = Self::default();
        for kind in COUNTED {
            let gauge = Gauge::default();
            let name = format!("provisioner_in_progress_{kind}_operations_total");
            metrics.registry.register(name, "Operations that are not final", gauge.clone());
            metrics.in_progress.push((kind, gauge));
        }
        metrics
    }

    /// The observer of calls.
    pub(crate) fn calls(&self) -> Arc<dyn Observer> {
        Arc::new(self.calls.clone())
    }

    /// Counts events until there are no more.
    pub async fn count(self: Arc<Self>, mut events: Receiver<Arc<Event>>) {
        loop {
            match events.recv().await {
                Ok(event) => self.note(&event),
                Err(RecvError::Lagged(count)) => drop(self.missed.inc_by(count)),
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn note(&self, event: &Event) {
        let run = Run {
            kind: event.kind.clone(),
            step: event.step.clone(),
            outcome: event.outcome.as_str(),
        };
        let took = event.ended_at.duration_since(event.began_at).as_secs_f64();
        self.durations.get_or_create(&run).observe(took);
        self.runs.get_or_create(&run).inc();
        if event.state.is_final() {
            let stand = OperationLabels { kind: event.kind.clone(), state: event.state.as_str() };
            self.ended.get_or_create(&stand).inc();
        }
    }

    /// Keeps what was computed about operations for the next scrapes.
    pub(crate) fn keep(&self, gauges: Gauges) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = gauges;
    }

    fn kept(&self) -> Gauges {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes numbers over and prints everything, as one: a scrape at the same time sees the numbers before or after.
    fn text(&self, reading: Reading) -> Result<String, std::fmt::Error> {
        let _one = self.printing.lock().unwrap_or_else(PoisonError::into_inner);
        self.jobs.read(&reading.jobs);
        self.answers.read(&reading.gauges);
        self.unfinished.clear();
        for (kind, gauge) in &self.in_progress {
            let ours = reading.unfinished.iter().filter(|one| one.kind == *kind);
            let sum: u64 = ours.map(|one| one.operations).sum();
            gauge.set(i64::try_from(sum).unwrap_or(i64::MAX));
        }
        for one in reading.unfinished {
            let stand = OperationLabels { kind: one.kind, state: one.state.as_str() };
            #[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
            self.unfinished.get_or_create(&stand).set(one.operations as f64);
        }
        self.in_transaction
            .inc_by(reading.in_transaction.saturating_sub(self.in_transaction.get()));
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// The values of a scrape.
#[derive(Default)]
struct Reading {
    jobs: Vec<JobView>,
    gauges: Gauges,
    unfinished: Vec<OperationCount>,
    /// Connections that came back to their pool inside of a transaction, so far.
    in_transaction: u64,
}

/// `/metrics`; the caller puts a door in front of it.
pub fn router(metrics: Arc<Metrics>, engine: Engine<EngineStore>) -> Router {
    let source = Source { metrics, engine, of_broker: None };
    Router::new().route("/metrics", get(scrape)).with_state(source)
}

/// The same, with the broker's jobs and what operators watch.
pub fn of_broker(
    metrics: Arc<Metrics>,
    engine: Engine<EngineStore>,
    jobs: Jobs,
    answers: Answers,
) -> Router {
    let source = Source { metrics, engine, of_broker: Some((jobs, answers)) };
    Router::new().route("/metrics", get(scrape)).with_state(source)
}

/// Where the numbers come from.
#[derive(Clone)]
struct Source {
    metrics: Arc<Metrics>,
    engine: Engine<EngineStore>,
    of_broker: Option<(Jobs, Answers)>,
}

impl Source {
    async fn read(&self) -> Result<Reading, Error> {
        let (jobs, gauges) = match &self.of_broker {
            Some((jobs, answers)) => (jobs.list().await?, answers.gauges()),
            None => (Vec::new(), self.metrics.kept()),
        };
        let store = self.engine.storage();
        let unfinished = store.count().await.map_err(|error| {
            tracing::warn!(error = chain(&error), "unfinished operations cannot be counted");
            Error::Unavailable
        })?;
        let in_transaction = store.database().released().found_in_transaction();
        Ok(Reading { jobs, gauges, unfinished, in_transaction })
    }
}

async fn scrape(State(source): State<Source>) -> Result<impl IntoResponse, Error> {
    let reading = source.read().await?;
    let text = source.metrics.text(reading).map_err(|_| Error::Unavailable)?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(CONTENT_TYPE, kind)], text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
        let document = std::fs::read_to_string(path).unwrap();
        let metrics = Metrics::of_provisioner();
        // What has no value yet is not printed.
        let run = Run { kind: "a".into(), step: "b".into(), outcome: "done" };
        let stand = OperationLabels { kind: "a".into(), state: "failed" };
        metrics.runs.get_or_create(&run).inc();
        metrics.durations.get_or_create(&run).observe(1.0);
        metrics.ended.get_or_create(&stand).inc();
        metrics.unfinished.get_or_create(&stand).set(1.0);
        metrics.jobs.fill();
        metrics.answers.fill();
        metrics.calls().finished(&clients::CallReport {
            component: clients::Component::GARDENER,
            route: "create shoots",
            outcome: "ok",
            waited: std::time::Duration::ZERO,
            took: std::time::Duration::ZERO,
        });
        let mut text = String::new();
        encode(&mut text, &metrics.registry).unwrap();
        let names = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
        let names: Vec<&str> = names.map(|(name, _)| name).collect();

        assert!(names.contains(&"kcp_outside_calls") && names.len() > 8, "{names:?}");
        for name in names.iter().filter(|name| !name.contains("_in_progress_")) {
            let told = [format!("`{name}`"), format!("`{name}_total`")];
            assert!(
                told.iter().any(|told| document.contains(told)),
                "{name} is not in docs/metrics.md"
            );
        }
    }

    #[test]
    fn scrapes_at_the_same_time_see_all_numbers_or_none_of_them() {
        let metrics = Arc::new(Metrics::default());
        let reading = || Reading {
            gauges: Gauges {
                at: Some(jiff::Timestamp::UNIX_EPOCH),
                stuck: (0..50).map(|at| (("provision".into(), format!("Step_{at}")), 1)).collect(),
                ..Gauges::default()
            },
            ..Reading::default()
        };
        let scrape = |metrics: &Arc<Metrics>| {
            let metrics = metrics.clone();
            std::thread::spawn(move || {
                let texts = (0..50).map(|_| metrics.text(reading()).unwrap());
                texts.map(|text| text.matches("kcp_operations_stuck{").count()).collect::<Vec<_>>()
            })
        };

        let scrapes: Vec<_> = (0..4).map(|_| scrape(&metrics)).collect();

        for seen in scrapes.into_iter().flat_map(|scrape| scrape.join().unwrap()) {
            assert_eq!(seen, 50);
        }
    }
}
