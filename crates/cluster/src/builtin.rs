//! The kinds that every cluster has from the start.
//!
//! They are stored like any other; no controller stands behind them, so a Deployment makes no Pods.

use std::sync::{Arc, LazyLock};

use crate::kind::{Column, Kind, Names};

fn native(group: &str, version: &str, plural: &str, kind: &str, short: &[&str]) -> Kind {
    let mut kind = Kind::new(group, version, plural, kind);
    kind.native = true;
    kind.counts_generations = false;
    kind.short_names = short.iter().map(ToString::to_string).collect();
    kind
}

/// All of them.
pub(crate) fn kinds() -> &'static [Arc<Kind>] {
    static KINDS: LazyLock<Vec<Arc<Kind>>> = LazyLock::new(|| {
        let kinds = core().into_iter().chain(workloads()).chain(access());
        kinds.chain([definitions()]).map(Arc::new).collect()
    });
    &KINDS
}

fn core() -> Vec<Kind> {
    let mut namespaces = native("", "v1", "namespaces", "Namespace", &["ns"])
        .subresource("status")
        .column(Column::text("Status", ".status.phase"));
    namespaces.names = Names::Label;
    vec![
        namespaces,
        native("", "v1", "secrets", "Secret", &[])
            .namespaced()
            .column(Column::text("Type", ".type"))
            .column(Column::count("Data", ".data")),
        native("", "v1", "configmaps", "ConfigMap", &["cm"])
            .namespaced()
            .column(Column::count("Data", ".data")),
        native("", "v1", "serviceaccounts", "ServiceAccount", &["sa"])
            .namespaced()
            .subresource("token")
            .column(Column::count("Secrets", ".secrets")),
        native("", "v1", "events", "Event", &["ev"])
            .namespaced()
            .column(Column::age("Last Seen", ".lastTimestamp"))
            .column(Column::text("Type", ".type"))
            .column(Column::text("Reason", ".reason"))
            .column(Column::text("Object", ".involvedObject.name"))
            .column(Column::text("Message", ".message")),
        native("", "v1", "nodes", "Node", &["no"])
            .subresource("status")
            .column(Column::text("Ready", r#".status.conditions[?(@.type=="Ready")].status"#))
            .column(Column::text("Version", ".status.nodeInfo.kubeletVersion")),
        native("", "v1", "pods", "Pod", &["po"])
            .namespaced()
            .subresource("status")
            .column(Column::text("Status", ".status.phase"))
            .column(Column::text("IP", ".status.podIP").wide())
            .column(Column::text("Node", ".spec.nodeName").wide()),
        native("", "v1", "services", "Service", &["svc"])
            .namespaced()
            .subresource("status")
            .column(Column::text("Type", ".spec.type"))
            .column(Column::text("Cluster-IP", ".spec.clusterIP")),
        native("", "v1", "endpoints", "Endpoints", &["ep"]).namespaced(),
        native("", "v1", "resourcequotas", "ResourceQuota", &["quota"])
            .namespaced()
            .subresource("status"),
        native("", "v1", "limitranges", "LimitRange", &["limits"]).namespaced(),
    ]
}

fn workloads() -> Vec<Kind> {
    let mut kinds = vec![
        native("apps", "v1", "deployments", "Deployment", &["deploy"])
            .column(Column::integer("Ready", ".status.readyReplicas"))
            .column(Column::integer("Up-to-date", ".status.updatedReplicas"))
            .column(Column::integer("Available", ".status.availableReplicas")),
        native("apps", "v1", "replicasets", "ReplicaSet", &["rs"])
            .column(Column::integer("Desired", ".spec.replicas"))
            .column(Column::integer("Ready", ".status.readyReplicas")),
        native("apps", "v1", "statefulsets", "StatefulSet", &["sts"])
            .column(Column::integer("Ready", ".status.readyReplicas")),
        native("apps", "v1", "daemonsets", "DaemonSet", &["ds"])
            .column(Column::integer("Ready", ".status.numberReady")),
    ];
    for kind in &mut kinds {
        kind.namespaced = true;
        kind.counts_generations = true;
        kind.subresources.push("status".to_owned());
        kind.categories.push("all".to_owned());
        if kind.kind != "DaemonSet" {
            kind.subresources.push("scale".to_owned());
        }
    }
    kinds.push(
        native("coordination.k8s.io", "v1", "leases", "Lease", &[])
            .namespaced()
            .column(Column::text("Holder", ".spec.holderIdentity")),
    );
    kinds
}

fn access() -> Vec<Kind> {
    let group = "rbac.authorization.k8s.io";
    let role = Column::text("Role", ".roleRef.name");
    let mut kinds = vec![
        native(group, "v1", "roles", "Role", &[]).namespaced(),
        native(group, "v1", "rolebindings", "RoleBinding", &[]).namespaced().column(role.clone()),
        native(group, "v1", "clusterroles", "ClusterRole", &[]),
        native(group, "v1", "clusterrolebindings", "ClusterRoleBinding", &[]).column(role),
    ];
    for kind in &mut kinds {
        // Role names such as system:masters are no domain names.
        kind.names = Names::PathSegment;
    }
    kinds
}

fn definitions() -> Kind {
    let group = "apiextensions.k8s.io";
    let mut kind = native(
        group,
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        &["crd", "crds"],
    )
    .subresource("status")
    .column(Column::text("Created At", ".metadata.creationTimestamp"));
    kind.counts_generations = true;
    kind
}
