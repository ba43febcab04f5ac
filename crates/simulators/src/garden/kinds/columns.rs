//! The columns of `kubectl get` for Gardener's kinds, with the headings and words that people know from it.

use cluster::Column;
use serde_json::Value;

use crate::garden::version::Version;

const AGE: &str = ".metadata.creationTimestamp";
const UNKNOWN: &str = "<unknown>";
/// The conditions of a Shoot, and how short their headings are.
const CONDITIONS: [(&str, &str); 5] = [
    ("APIServer", "APIServerAvailable"),
    ("Control", "ControlPlaneHealthy"),
    ("Observability", "ObservabilityComponentsHealthy"),
    ("Nodes", "EveryNodeReady"),
    ("System", "SystemComponentsHealthy"),
];

pub(super) fn shoot() -> Vec<Column> {
    let status = r".metadata.labels.shoot\.gardener\.cloud/status";
    let mut columns = vec![
        Column::words("CloudProfile", ".spec.cloudProfileName", profile),
        Column::text("Provider", ".spec.provider.type"),
        Column::text("Region", ".spec.region"),
        Column::text("Seed", ".spec.seedName").or("<none>").wide(),
        Column::text("K8S Version", ".spec.kubernetes.version"),
        Column::words("Hibernation", ".status.hibernated", hibernation),
        Column::words("Last Operation", ".status.lastOperation.state", last_operation),
        Column::text("Status", status).or("<pending>"),
        Column::text("Purpose", ".spec.purpose").or("<none>").wide(),
        Column::text("Gardener Version", ".status.gardener.version").or(UNKNOWN).wide(),
    ];
    columns.extend(CONDITIONS.map(|(name, kind)| condition(name, kind).or(UNKNOWN).wide()));
    columns.push(Column::age("Age", AGE));
    columns
}

pub(super) fn seed(version: Version) -> Vec<Column> {
    let ready = r#".status.conditions[?(@.type=="GardenletReady")].status"#;
    let operation = Column::words("Last Operation", ".status.lastOperation.state", last_operation);
    let mut columns = vec![Column::words("Status", ready, readiness)];
    columns.extend((version >= Version::V1_117).then_some(operation));
    columns.extend([
        Column::text("Provider", ".spec.provider.type"),
        Column::text("Region", ".spec.provider.region"),
        Column::age("Age", AGE),
        Column::text("Version", ".status.gardener.version").or(UNKNOWN),
        Column::text("K8S Version", ".status.kubernetesVersion").or(UNKNOWN),
    ]);
    columns
}

pub(super) fn project() -> Vec<Column> {
    vec![
        Column::text("Namespace", ".spec.namespace").or(UNKNOWN),
        Column::text("Status", ".status.phase").or(UNKNOWN),
        Column::text("Owner", ".spec.owner.name").or(UNKNOWN),
        Column::text("Creator", ".spec.createdBy.name").or(UNKNOWN),
    ]
}

pub(super) fn quota() -> Vec<Column> {
    vec![
        Column::words("Scope", ".spec.scope.kind", scope),
        Column::words("Cluster Lifetime", ".spec.clusterLifetimeDays", lifetime),
    ]
}

pub(super) fn secret_binding() -> Vec<Column> {
    vec![
        Column::words("Secret", ".secretRef.name", |it| place(&it["secretRef"])),
        Column::text("Provider", ".provider.type").or("<none>"),
    ]
}

pub(super) fn credentials_binding() -> Vec<Column> {
    vec![
        Column::text("Provider", ".provider.type"),
        Column::text("APIVersion", ".credentialsRef.apiVersion"),
        Column::text("Kind", ".credentialsRef.kind"),
        Column::words("Name", ".credentialsRef.name", |it| place(&it["credentialsRef"])),
    ]
}

fn condition(name: &str, kind: &str) -> Column {
    Column::text(name, &format!(r#".status.conditions[?(@.type=="{kind}")].status"#))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn place(reference: &Value) -> String {
    format!("{}/{}", text(&reference["namespace"]), text(&reference["name"]))
}

fn profile(shoot: &Value) -> String {
    let spec = &shoot["spec"];
    let name = text(&spec["cloudProfile"]["name"]);
    if spec["cloudProfile"]["kind"] == "NamespacedCloudProfile" {
        return format!("{}/{name}", text(&shoot["metadata"]["namespace"]));
    }
    if name.is_empty() { text(&spec["cloudProfileName"]).to_owned() } else { name.to_owned() }
}

fn hibernation(shoot: &Value) -> String {
    let wanted = shoot["spec"]["hibernation"]["enabled"] == true;
    let word = match (wanted, shoot["status"]["hibernated"] == true) {
        (true, true) => "Hibernated",
        (true, false) => "Hibernating",
        (false, true) => "Waking Up",
        (false, false) => "Awake",
    };
    word.to_owned()
}

fn last_operation(object: &Value) -> String {
    let last = &object["status"]["lastOperation"];
    if !last.is_object() {
        return "<pending>".to_owned();
    }
    let progress = last["progress"].as_i64().unwrap_or_default();
    format!("{} {} ({progress}%)", text(&last["type"]), text(&last["state"]))
}

fn readiness(seed: &Value) -> String {
    let mut conditions = seed["status"]["conditions"].as_array().into_iter().flatten();
    let gardenlet = conditions.find(|one| one["type"] == "GardenletReady");
    let word = match gardenlet.map(|one| text(&one["status"])) {
        Some("True") => "Ready",
        Some("Unknown") => "Unknown",
        _ => "NotReady",
    };
    word.to_owned()
}

fn scope(quota: &Value) -> String {
    let scope = &quota["spec"]["scope"];
    format!("{}.{}", text(&scope["apiVersion"]), text(&scope["kind"]))
}

fn lifetime(quota: &Value) -> String {
    let days = quota["spec"]["clusterLifetimeDays"].as_i64();
    days.map_or_else(|| "<unspecified>".to_owned(), |days| format!("{days} days"))
}
