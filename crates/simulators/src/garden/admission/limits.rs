//! Numbers, shares and durations of Kubernetes' components: how small and how large they may be.

use cluster::Cause;
use serde_json::Value;

use super::{duration, places::places};
use crate::garden::version::{
    Gardeners::{self, All, Newer, Older},
    Version,
};

/// What a number may be; durations count in seconds.
#[derive(Clone, Copy)]
enum Limit {
    Least(f64),
    /// Nought means that there is no limit.
    LeastUnlessNone(f64),
    Above(f64),
    Most(f64),
}

use Limit::{Above, Least, LeastUnlessNone, Most};

impl Limit {
    fn holds(self, number: f64) -> bool {
        match self {
            Least(least) => number >= least,
            LeastUnlessNone(least) => number <= 0.0 || number >= least,
            Above(limit) => number > limit,
            Most(most) => number <= most,
        }
    }
}

/// Path below a place, limit, what is said of a number that breaks it, and who has the rule.
type Row = (&'static str, Limit, &'static str, Gardeners);

const COUNT: &str = "must be greater than or equal to 0";
const NEGATIVE: &str = "can not be negative";
const DURATION: &str = "must be non-negative";
const SHARE: &str = "can not be greater than 1.0";
const PERCENT: &str = "value must be in [0,100]";
const PERCENTILE: &str = "percentile value must be in the range [0, 1]";
const DAY: f64 = 24.0 * 3_600.0;

/// Below `/spec/kubernetes`.
const KUBERNETES: &[Row] = &[
    ("kubeAPIServer/requests/maxNonMutatingInflight", Least(0.0), COUNT, All),
    (
        "kubeAPIServer/requests/maxNonMutatingInflight",
        Most(800.0),
        "cannot set higher than 800",
        All,
    ),
    ("kubeAPIServer/requests/maxMutatingInflight", Least(0.0), COUNT, All),
    ("kubeAPIServer/requests/maxMutatingInflight", Most(400.0), "cannot set higher than 400", All),
    ("kubeAPIServer/logging/verbosity", Least(0.0), COUNT, All),
    ("kubeAPIServer/logging/httpAccessVerbosity", Least(0.0), COUNT, All),
    ("kubeAPIServer/defaultNotReadyTolerationSeconds", Least(0.0), COUNT, All),
    ("kubeAPIServer/defaultUnreachableTolerationSeconds", Least(0.0), COUNT, All),
    ("kubeAPIServer/watchCacheSizes/default", Least(0.0), COUNT, All),
    ("kubeAPIServer/watchCacheSizes/resources/*/size", Least(0.0), COUNT, All),
    ("kubeAPIServer/eventTTL", Least(0.0), NEGATIVE, All),
    ("kubeAPIServer/eventTTL", Most(7.0 * DAY), "can not be longer than 7d", All),
    ("kubeAPIServer/serviceAccountConfig/maxTokenExpiration", Least(0.0), NEGATIVE, All),
    (
        "kubeAPIServer/serviceAccountConfig/maxTokenExpiration",
        LeastUnlessNone(30.0 * DAY),
        "must be at least 720h (30d)",
        All,
    ),
    (
        "kubeAPIServer/serviceAccountConfig/maxTokenExpiration",
        Most(90.0 * DAY),
        "must be at most 2160h (90d)",
        All,
    ),
    ("kubeControllerManager/podEvictionTimeout", Above(0.0), "must be larger than 0", All),
    ("kubeControllerManager/nodeMonitorGracePeriod", Above(0.0), "must be larger than 0", All),
    (
        "kubeControllerManager/horizontalPodAutoscaler/syncPeriod",
        Least(1.0),
        "must not be less than a second",
        All,
    ),
    (
        "kubeControllerManager/horizontalPodAutoscaler/tolerance",
        Above(0.0),
        "must be greater than 0",
        All,
    ),
    (
        "kubeControllerManager/horizontalPodAutoscaler/downscaleStabilization",
        Least(1.0),
        "must not be less than a second",
        All,
    ),
    (
        "kubeControllerManager/horizontalPodAutoscaler/initialReadinessDelay",
        Above(0.0),
        "must be greater than 0",
        All,
    ),
    (
        "kubeControllerManager/horizontalPodAutoscaler/cpuInitializationPeriod",
        Least(1.0),
        "must not be less than a second",
        All,
    ),
    ("clusterAutoscaler/scaleDownUtilizationThreshold", Least(0.0), NEGATIVE, All),
    ("clusterAutoscaler/scaleDownUtilizationThreshold", Most(1.0), SHARE, All),
    ("clusterAutoscaler/maxNodeProvisionTime", Least(0.0), NEGATIVE, All),
    ("clusterAutoscaler/maxGracefulTerminationSeconds", Least(0.0), NEGATIVE, All),
    ("clusterAutoscaler/newPodScaleUpDelay", Least(0.0), NEGATIVE, Newer),
    ("clusterAutoscaler/maxEmptyBulkDelete", Least(0.0), NEGATIVE, Newer),
    ("verticalPodAutoscaler/evictAfterOOMThreshold", Least(0.0), NEGATIVE, All),
    ("verticalPodAutoscaler/updaterInterval", Least(0.0), NEGATIVE, All),
    ("verticalPodAutoscaler/recommenderInterval", Least(0.0), NEGATIVE, All),
    ("verticalPodAutoscaler/cpuHistogramDecayHalfLife", Least(0.0), DURATION, Newer),
    ("verticalPodAutoscaler/memoryHistogramDecayHalfLife", Least(0.0), DURATION, Newer),
    ("verticalPodAutoscaler/memoryAggregationInterval", Least(0.0), DURATION, Newer),
    ("verticalPodAutoscaler/memoryAggregationIntervalCount", Least(0.0), COUNT, Newer),
];

/// Shares of the vertical autoscaler, which newer Gardeners check.
const PERCENTILES: [&str; 6] = [
    "targetCPUPercentile",
    "recommendationLowerBoundCPUPercentile",
    "recommendationUpperBoundCPUPercentile",
    "targetMemoryPercentile",
    "recommendationLowerBoundMemoryPercentile",
    "recommendationUpperBoundMemoryPercentile",
];

/// Below each kubelet.
const KUBELET: &[Row] = &[
    ("maxPods", Least(0.0), COUNT, All),
    ("podPidsLimit", Least(100.0), "podPIDsLimit value must be at least 100", All),
    ("imagePullProgressDeadline", Least(0.0), DURATION, Older),
    ("evictionPressureTransitionPeriod", Least(0.0), DURATION, All),
    ("evictionMaxPodGracePeriod", Least(0.0), COUNT, All),
    ("evictionSoftGracePeriod/memoryAvailable", Least(0.0), DURATION, All),
    ("evictionSoftGracePeriod/imageFSAvailable", Least(0.0), DURATION, All),
    ("evictionSoftGracePeriod/imageFSInodesFree", Least(0.0), DURATION, All),
    ("evictionSoftGracePeriod/nodeFSAvailable", Least(0.0), DURATION, All),
    ("imageGCHighThresholdPercent", Least(0.0), PERCENT, All),
    ("imageGCHighThresholdPercent", Most(100.0), PERCENT, All),
    ("imageGCLowThresholdPercent", Least(0.0), PERCENT, All),
    ("imageGCLowThresholdPercent", Most(100.0), PERCENT, All),
    ("registryPullQPS", Least(0.0), COUNT, All),
    ("registryBurst", Least(0.0), COUNT, All),
    ("containerLogMaxFiles", Least(2.0), "value must be >= 2.", All),
    ("streamingConnectionIdleTimeout", Least(30.0), "value must be between 30s and 4h", All),
    (
        "streamingConnectionIdleTimeout",
        Most(4.0 * 3_600.0),
        "value must be between 30s and 4h",
        All,
    ),
];

/// Below the autoscaler's options of each group of machines.
const OPTIONS: &[Row] = &[
    ("scaleDownUtilizationThreshold", Least(0.0), NEGATIVE, Newer),
    ("scaleDownUtilizationThreshold", Most(1.0), SHARE, Newer),
    ("scaleDownGpuUtilizationThreshold", Least(0.0), NEGATIVE, Newer),
    ("scaleDownGpuUtilizationThreshold", Most(1.0), SHARE, Newer),
    ("scaleDownUnneededTime", Least(0.0), NEGATIVE, Newer),
    ("scaleDownUnreadyTime", Least(0.0), NEGATIVE, Newer),
    ("maxNodeProvisionTime", Least(0.0), NEGATIVE, Newer),
];

/// Fields that Gardener calls otherwise when it refuses them.
const CALLED: [(&str, &str); 5] = [
    (".podPidsLimit", ".podPIDsLimit"),
    (".imageFSAvailable", ".imagefsAvailable"),
    (".imageFSInodesFree", ".imagefsInodesFree"),
    (".nodeFSAvailable", ".nodefsAvailable"),
    (".clusterAutoscaler.", ".autoscaler."),
];

/// Names the numbers that are too small or too large.
pub(super) fn check(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let mut rows = |place: &str, rows: &[Row]| {
        for (path, limit, why, _) in rows.iter().filter(|(.., who)| who.have(gardener)) {
            for (field, value) in places(shoot, &format!("{place}/{path}")) {
                causes.extend(look(&field, value, *limit, why));
            }
        }
    };
    rows("/spec/kubernetes", KUBERNETES);
    for kubelet in super::kubelet::PLACES {
        rows(kubelet, KUBELET);
    }
    rows("/spec/provider/workers/*/clusterAutoscaler", OPTIONS);
    let percentiles = PERCENTILES.iter().flat_map(|path| {
        [(*path, Least(0.0), PERCENTILE, Newer), (*path, Most(1.0), PERCENTILE, Newer)]
    });
    let percentiles: Vec<Row> = percentiles.collect();
    rows("/spec/kubernetes/verticalPodAutoscaler", &percentiles);
}

fn look(field: &str, value: &Value, limit: Limit, why: &str) -> Option<Cause> {
    let number = match value {
        Value::String(written) => duration::seconds(written)?,
        value => value.as_f64()?,
    };
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    (!limit.holds(number)).then(|| Cause::invalid(called(field), &shown, why))
}

/// A field as Gardener calls it when it refuses it.
pub(super) fn called(field: &str) -> String {
    let workers = field.starts_with("spec.provider.workers");
    let names = CALLED.iter().filter(|(json, _)| workers || !json.ends_with('.'));
    names.fold(field.to_owned(), |field, (json, called)| field.replace(json, called))
}
