//! The defaults that are plain values, as a table.

use serde_json::Value;

use super::{super::list, set_missing};
use crate::garden::version::{
    Gardeners::{self, All, Newer, Older},
    Version,
};

/// Path, value as JSON, and who has it.
type Row = (&'static str, &'static str, Gardeners);

/// What is filled in where it is missing.
const ALWAYS: &[Row] = &[
    ("/spec/schedulerName", r#""default-scheduler""#, Newer),
    ("/spec/networking/ipFamilies", r#"["IPv4"]"#, All),
    ("/spec/addons/kubernetesDashboard/enabled", "false", All),
    ("/spec/addons/kubernetesDashboard/authenticationMode", r#""token""#, All),
    ("/spec/provider/workersSettings/sshAccess/enabled", "true", All),
    ("/spec/provider/workers/*/maxSurge", "1", All),
    ("/spec/provider/workers/*/maxUnavailable", "0", All),
    // Older ones look at the version of Kubernetes: `super::runtimes`.
    ("/spec/provider/workers/*/cri", r#"{"name": "containerd"}"#, Newer),
    ("/spec/provider/workers/*/machine/architecture", r#""amd64""#, All),
    ("/spec/provider/workers/*/systemComponents", r#"{"allow": true}"#, All),
    ("/spec/provider/workers/*/updateStrategy", r#""AutoRollingUpdate""#, Newer),
    ("/spec/kubernetes/kubeAPIServer/requests/maxNonMutatingInflight", "400", All),
    ("/spec/kubernetes/kubeAPIServer/requests/maxMutatingInflight", "200", All),
    ("/spec/kubernetes/kubeAPIServer/enableAnonymousAuthentication", "false", All),
    ("/spec/kubernetes/kubeAPIServer/eventTTL", r#""1h0m0s""#, All),
    ("/spec/kubernetes/kubeAPIServer/logging/verbosity", "2", All),
    ("/spec/kubernetes/kubeAPIServer/defaultNotReadyTolerationSeconds", "300", All),
    ("/spec/kubernetes/kubeAPIServer/defaultUnreachableTolerationSeconds", "300", All),
    ("/spec/kubernetes/kubeControllerManager/nodeMonitorGracePeriod", r#""2m0s""#, Older),
    ("/spec/kubernetes/kubeControllerManager/nodeMonitorGracePeriod", r#""40s""#, Newer),
    ("/spec/kubernetes/kubeScheduler/profile", r#""balanced""#, All),
    ("/spec/kubernetes/kubeProxy/mode", r#""IPTables""#, All),
    ("/spec/kubernetes/kubeProxy/enabled", "true", All),
    ("/spec/kubernetes/kubelet/failSwapOn", "true", All),
    ("/spec/kubernetes/kubelet/imageGCHighThresholdPercent", "50", All),
    ("/spec/kubernetes/kubelet/imageGCLowThresholdPercent", "40", All),
    ("/spec/kubernetes/kubelet/serializeImagePulls", "true", All),
    ("/spec/kubernetes/kubelet/kubeReserved/cpu", r#""80m""#, All),
    ("/spec/kubernetes/kubelet/kubeReserved/memory", r#""1Gi""#, All),
    ("/spec/kubernetes/kubelet/kubeReserved/pid", r#""20k""#, All),
];

/// What is filled in where the object around it is there.
const INSIDE: &[(&str, &[Row])] = &[
    ("/spec/addons/nginxIngress", &[("externalTrafficPolicy", r#""Cluster""#, All)]),
    (
        "/spec/kubernetes/clusterAutoscaler",
        &[
            ("scaleDownDelayAfterAdd", r#""1h0m0s""#, All),
            ("scaleDownDelayAfterDelete", r#""0s""#, All),
            ("scaleDownDelayAfterFailure", r#""3m0s""#, All),
            ("scaleDownUnneededTime", r#""30m0s""#, All),
            ("scaleDownUtilizationThreshold", "0.5", All),
            ("scanInterval", r#""10s""#, All),
            ("expander", r#""least-waste""#, All),
            ("maxNodeProvisionTime", r#""20m0s""#, All),
            ("maxGracefulTerminationSeconds", "600", All),
            ("ignoreDaemonsetsUtilization", "false", Newer),
            ("maxEmptyBulkDelete", "10", Newer),
            ("newPodScaleUpDelay", r#""0s""#, Newer),
            ("verbosity", "2", Newer),
        ],
    ),
    (
        "/spec/kubernetes/verticalPodAutoscaler",
        &[
            ("evictAfterOOMThreshold", r#""10m0s""#, All),
            ("evictionRateBurst", "1", All),
            ("evictionRateLimit", "-1", All),
            ("evictionTolerance", "0.5", All),
            ("recommendationMarginFraction", "0.15", All),
            ("updaterInterval", r#""1m0s""#, All),
            ("recommenderInterval", r#""1m0s""#, All),
            ("targetCPUPercentile", "0.9", Newer),
            ("recommendationLowerBoundCPUPercentile", "0.5", Newer),
            ("recommendationUpperBoundCPUPercentile", "0.95", Newer),
            ("targetMemoryPercentile", "0.9", Newer),
            ("recommendationLowerBoundMemoryPercentile", "0.5", Newer),
            ("recommendationUpperBoundMemoryPercentile", "0.95", Newer),
            ("cpuHistogramDecayHalfLife", r#""24h0m0s""#, Newer),
            ("memoryHistogramDecayHalfLife", r#""24h0m0s""#, Newer),
            ("memoryAggregationInterval", r#""24h0m0s""#, Newer),
            ("memoryAggregationIntervalCount", "8", Newer),
        ],
    ),
];

/// Fills in what is missing.
pub(super) fn fill(shoot: &mut Value, gardener: Version) {
    let is_workerless = list(shoot, "/spec/provider/workers").is_empty() && Newer.have(gardener);
    let rows = ALWAYS.iter().filter(|(.., gardeners)| gardeners.have(gardener));
    let rows = rows.filter(|(path, ..)| !is_workerless || !of_machines(path));
    for (path, value, _) in rows {
        set_missing(shoot, path, &parsed(value));
    }
    for (place, rows) in INSIDE {
        if shoot.pointer(place).is_some_and(Value::is_object) {
            for (key, value, _) in rows.iter().filter(|(.., who)| who.have(gardener)) {
                set_missing(shoot, &format!("{place}/{key}"), &parsed(value));
            }
        }
    }
}

/// Whether a default is for Shoots with machines only, where there are Shoots without.
fn of_machines(path: &str) -> bool {
    const PLACES: [&str; 9] = [
        "/spec/addons/",
        "/spec/provider/",
        "/spec/kubernetes/kubeAPIServer/defaultNotReady",
        "/spec/kubernetes/kubeAPIServer/defaultUnreachable",
        "/spec/kubernetes/kubeControllerManager/",
        "/spec/kubernetes/kubeScheduler/",
        "/spec/kubernetes/kubeProxy/",
        "/spec/kubernetes/kubelet/",
        "/spec/systemComponents/",
    ];
    PLACES.iter().any(|place| path.starts_with(place))
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).expect("the table holds JSON")
}
