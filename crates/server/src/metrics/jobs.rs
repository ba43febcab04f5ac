//! The newest runs of jobs, read at each scrape.

use std::sync::atomic::AtomicU64;

use broker::jobs::JobView;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};

type Number = Gauge<f64, AtomicU64>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfJob {
    job: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct InState {
    job: &'static str,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WithOutcome {
    job: &'static str,
    outcome: &'static str,
}

/// The metrics of jobs.
#[derive(Default)]
pub(super) struct JobMetrics {
    enabled: Family<OfJob, Number>,
    last_run: Family<OfJob, Number>,
    state: Family<InState, Number>,
    items: Family<WithOutcome, Number>,
}

impl JobMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("job_enabled", "Whether a job runs by itself", metrics.enabled.clone());
        let when = "When the newest run of a job was started";
        registry.register("job_last_run_timestamp_seconds", when, metrics.last_run.clone());
        let state = "The state of the newest run of a job";
        registry.register("job_last_run_state", state, metrics.state.clone());
        let items = "What became of the candidates of the newest run of a job";
        registry.register("job_last_run_items", items, metrics.items.clone());
        metrics
    }

    /// Takes the numbers over.
    #[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
    pub(super) fn read(&self, jobs: &[JobView]) {
        self.state.clear();
        for view in jobs {
            let job = view.name;
            self.enabled.get_or_create(&OfJob { job }).set(f64::from(u8::from(view.enabled)));
            let Some(run) = view.last_usual_run() else { continue };
            let started = run.started_at.as_second() as f64;
            self.last_run.get_or_create(&OfJob { job }).set(started);
            self.state.get_or_create(&InState { job, state: run.state.as_str() }).set(1.0);
            let report = &run.report;
            for (outcome, count) in
                [("done", report.done), ("skipped", report.skipped), ("failed", report.failed)]
            {
                self.items.get_or_create(&WithOutcome { job, outcome }).set(count as f64);
            }
        }
    }

    /// Gives every metric a value.
    #[cfg(test)]
    pub(super) fn fill(&self) {
        self.enabled.get_or_create(&OfJob { job: "a" }).set(1.0);
        self.last_run.get_or_create(&OfJob { job: "a" }).set(1.0);
        self.state.get_or_create(&InState { job: "a", state: "failed" }).set(1.0);
        self.items.get_or_create(&WithOutcome { job: "a", outcome: "done" }).set(1.0);
    }
}

#[cfg(test)]
mod tests {
    use broker::jobs::{LastRun, Report};
    use domain::OperationId;
    use engine::State;
    use prometheus_client::encoding::text::encode;

    use super::*;

    fn view(name: &'static str, enabled: bool, last_run: Option<LastRun>) -> JobView {
        JobView {
            name,
            about: "",
            enabled,
            dry_run: false,
            every_seconds: 60,
            obstacle: None,
            next_run_at: None,
            last_run,
            last_dry_run: None,
        }
    }

    fn run(state: State) -> LastRun {
        let report = Report { candidates: 6, done: 3, skipped: 2, failed: 1, ..Report::default() };
        LastRun {
            operation: OperationId::new(),
            state,
            requested_by: None,
            started_at: "2026-01-01T12:00:00Z".parse().unwrap(),
            ended_at: None,
            failure: None,
            report,
        }
    }

    #[test]
    fn of_a_job_whose_runs_are_dry_runs_the_newest_dry_run_is_listed() {
        let mut registry = Registry::default();
        let metrics = JobMetrics::register(&mut registry);
        let last_dry_run = Some(run(State::Succeeded));

        let dry_run = true;
        metrics.read(&[JobView { dry_run, last_dry_run, ..view("expiry", true, None) }]);

        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "job_last_run_state{job=\"expiry\",state=\"succeeded\"} 1.0",
            "job_last_run_timestamp_seconds{job=\"expiry\"} 1767268800.0",
        ] {
            assert!(text.lines().any(|it| it == line), "{text}");
        }
    }

    #[test]
    fn the_newest_run_of_each_job_is_told_and_its_state_only_once() {
        let mut registry = Registry::default();
        let metrics = JobMetrics::register(&mut registry);

        metrics.read(&[view("expiry", true, Some(run(State::InProgress)))]);
        metrics
            .read(&[view("expiry", true, Some(run(State::Succeeded))), view("drift", false, None)]);

        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let mut values: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        values.sort_unstable();
        assert_eq!(
            values,
            [
                "job_enabled{job=\"drift\"} 0.0",
                "job_enabled{job=\"expiry\"} 1.0",
                "job_last_run_items{job=\"expiry\",outcome=\"done\"} 3.0",
                "job_last_run_items{job=\"expiry\",outcome=\"failed\"} 1.0",
                "job_last_run_items{job=\"expiry\",outcome=\"skipped\"} 2.0",
                "job_last_run_state{job=\"expiry\",state=\"succeeded\"} 1.0",
                "job_last_run_timestamp_seconds{job=\"expiry\"} 1767268800.0",
            ]
        );
    }
}
