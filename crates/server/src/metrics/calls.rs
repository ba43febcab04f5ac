//! Metrics of calls to outside systems, reported by the gates.

use clients::{CallReport, Component, Observer};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    system: &'static str,
    route: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct System {
    system: &'static str,
}

/// Counts calls.
#[derive(Debug, Clone)]
pub(crate) struct Calls {
    counts: Family<Call, Counter>,
    durations: Family<System, Histogram>,
    waits: Family<System, Histogram>,
    warnings: Family<System, Counter>,
}

impl Calls {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let seconds = || Histogram::new(exponential_buckets(0.001, 4.0, 10));
        let calls = Self {
            counts: Family::default(),
            durations: Family::new_with_constructor(seconds),
            waits: Family::new_with_constructor(seconds),
            warnings: Family::default(),
        };
        registry.register("outside_calls", "Calls to outside systems", calls.counts.clone());
        registry.register(
            "outside_call_seconds",
            "How long calls to outside systems took, waiting included",
            calls.durations.clone(),
        );
        registry.register(
            "outside_call_wait_seconds",
            "How long calls to outside systems waited for their turn",
            calls.waits.clone(),
        );
        registry.register(
            "outside_warnings",
            "Warnings that came with answers of outside systems",
            calls.warnings.clone(),
        );
        calls
    }
}

impl Observer for Calls {
    fn finished(&self, seen: &CallReport<'_>) {
        let system = seen.component.0;
        let call = Call { system, route: seen.route.to_owned(), outcome: seen.outcome };
        self.counts.get_or_create(&call).inc();
        let system = System { system };
        self.durations.get_or_create(&system).observe(seen.took.as_secs_f64());
        self.waits.get_or_create(&system).observe(seen.waited.as_secs_f64());
    }

    fn warned(&self, component: Component) {
        self.warnings.get_or_create(&System { system: component.0 }).inc();
    }
}
