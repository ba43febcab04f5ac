//! What operators watch: stuck operations, how operations of each plan end today, the pool of accounts. Computed twice a minute by
//! the broker, and taken over by each scrape.

use std::sync::atomic::AtomicU64;

use broker::answers::Gauges;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};

type Number = Gauge<f64, AtomicU64>;
/// No labels: a family has no value before it is given one, and the provisioner gives it none.
type NoLabels = [(&'static str, &'static str); 0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AtStep {
    kind: String,
    step: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfPlan {
    kind: String,
    plan: String,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AccountLabels {
    hyperscaler: String,
    eu_access: String,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PoolLabels {
    hyperscaler: String,
    eu_access: String,
}

/// The metrics of operators' answers.
#[derive(Default)]
pub(super) struct AnswerMetrics {
    computed: Family<NoLabels, Number>,
    stuck: Family<AtStep, Number>,
    replicas: Family<NoLabels, Number>,
    ended: Family<OfPlan, Number>,
    accounts: Family<AccountLabels, Number>,
    per_day: Family<PoolLabels, Number>,
    days_left: Family<PoolLabels, Number>,
}

impl AnswerMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let computed = "When the numbers about operations and the pool were computed";
        registry.register("answers_timestamp_seconds", computed, metrics.computed.clone());
        let stuck = "Operations without progress for longer than usual";
        registry.register("operations_stuck", stuck, metrics.stuck.clone());
        registry.register("replicas_alive", "Replicas that live", metrics.replicas.clone());
        let ended = "Operations that ended today, by plan and state";
        registry.register("operations_ended_today", ended, metrics.ended.clone());
        let accounts = "Accounts of the pool, by state";
        registry.register("pool_accounts", accounts, metrics.accounts.clone());
        let per_day = "How many more accounts of the pool are used each day";
        registry.register("pool_used_per_day", per_day, metrics.per_day.clone());
        let days_left = "How many days the free accounts of the pool last";
        registry.register("pool_days_left", days_left, metrics.days_left.clone());
        metrics
    }

    /// Takes the numbers over.
    #[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
    pub(super) fn read(&self, gauges: &Gauges) {
        let Some(at) = gauges.at else { return };
        self.computed.get_or_create(&[]).set(at.as_second() as f64);
        self.replicas.get_or_create(&[]).set(gauges.replicas as f64);
        self.stuck.clear();
        for ((kind, step), count) in &gauges.stuck {
            let labels = AtStep { kind: kind.clone(), step: step.clone() };
            self.stuck.get_or_create(&labels).set(*count as f64);
        }
        self.ended.clear();
        for day in &gauges.ended_today {
            let (kind, plan) = (&day.kind, &day.plan);
            for (state, count) in
                [("succeeded", day.succeeded), ("failed", day.failed), ("canceled", day.canceled)]
            {
                let labels = OfPlan { kind: kind.clone(), plan: plan.clone(), state };
                self.ended.get_or_create(&labels).set(count as f64);
            }
        }
        self.read_pool(gauges);
    }

    #[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
    fn read_pool(&self, gauges: &Gauges) {
        self.accounts.clear();
        for counts in &gauges.accounts {
            for (state, count) in [
                ("free", counts.free),
                ("claimed", counts.claimed),
                ("dirty", counts.dirty),
                ("shared", counts.shared),
            ] {
                let hyperscaler = counts.hyperscaler.clone();
                let eu_access = counts.eu_access.to_string();
                let labels = AccountLabels { hyperscaler, eu_access, state };
                self.accounts.get_or_create(&labels).set(count as f64);
            }
        }
        self.per_day.clear();
        self.days_left.clear();
        for capacity in &gauges.capacity {
            let (hyperscaler, eu_access) =
                (capacity.hyperscaler.clone(), capacity.eu_access.to_string());
            let labels = PoolLabels { hyperscaler, eu_access };
            if let Some(rate) = capacity.used_per_day {
                self.per_day.get_or_create(&labels).set(rate);
            }
            if let Some(days) = capacity.days_left {
                self.days_left.get_or_create(&labels).set(days);
            }
        }
    }

    /// Gives every metric a value.
    #[cfg(test)]
    pub(super) fn fill(&self) {
        self.computed.get_or_create(&[]).set(1.0);
        self.replicas.get_or_create(&[]).set(1.0);
        let text = || String::from("a");
        self.stuck.get_or_create(&AtStep { kind: text(), step: text() }).set(1.0);
        let plan = OfPlan { kind: text(), plan: text(), state: "failed" };
        self.ended.get_or_create(&plan).set(1.0);
        let (hyperscaler, eu_access) = (text(), text());
        let labels = AccountLabels { hyperscaler, eu_access, state: "free" };
        self.accounts.get_or_create(&labels).set(1.0);
        let labels = PoolLabels { hyperscaler: text(), eu_access: text() };
        self.per_day.get_or_create(&labels).set(1.0);
        self.days_left.get_or_create(&labels).set(1.0);
    }
}
