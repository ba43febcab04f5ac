//! The place where releases of Kyma lie: the installer's objects and the list of components, each as one file per
//! version.
//!
//! What a reader would get wrong: `tiller.yaml` is asked for and never there, as for every release that
//! came after Helm 2.

use std::sync::Arc;

use axum::{
    Router,
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};

use super::{INSTALLATION, definitions, installer::LITE, kinds::INSTALLER};
use crate::{
    landscape::MountedSystem,
    store::Error,
    system::{Object, System},
};

/// Where its paths begin.
const BASE: &str = "/kyma-releases";
/// The releases that are there. Builds of `main-…`, `main` and `PR-…` are there as well.
pub(crate) const VERSIONS: [&str; 15] = [
    "1.11.0", "1.12.0", "1.13.0", "1.14.0", "1.15.1", "1.16.0", "1.17.1", "1.18.1", "1.19.1",
    "1.20.0", "1.22.0", "1.24.11", "2.9.3", "2.10.0", "2.11.0",
];
/// Components that are installed first, with their namespaces where they differ from the default.
const PREREQUISITES: [(&str, Option<&str>); 3] = [
    ("cluster-essentials", None),
    ("istio", Some("istio-system")),
    ("certificates", Some("istio-system")),
];
/// The rest. Some are there for certain plans only, some on demand.
const COMPONENTS: [(&str, Option<&str>); 18] = [
    ("istio-resources", None),
    ("ory", None),
    ("api-gateway", None),
    ("cluster-users", None),
    ("logging", None),
    ("telemetry", None),
    ("monitoring", None),
    ("kiali", None),
    ("tracing", None),
    ("eventing", None),
    ("serverless", None),
    ("nats-streaming", Some("natss")),
    ("knative-eventing-kafka", Some("knative-eventing")),
    ("application-connector", Some("kyma-integration")),
    ("connectivity-proxy", None),
    ("busola-migrator", None),
    ("btp-operator", None),
    ("service-manager-proxy", None),
];
/// The component that is not part of Kyma's own charts, and where its chart is.
const SOURCE: (&str, &str) =
    ("btp-operator", "https://github.com/kyma-project/kyma/releases/btp-operator.tgz");
/// The names of everything that releases list.
pub(super) fn component_names() -> impl Iterator<Item = &'static str> {
    PREREQUISITES.iter().chain(&COMPONENTS).map(|(name, _)| *name)
}

/// The files of a release.
const FILES: [&str; 2] = ["kyma-installer-cluster.yaml", "kyma-components.yaml"];

/// The bucket.
struct Releases;

/// The bucket as a system of the landscape.
pub(crate) fn mounted() -> MountedSystem {
    let routes = Router::new()
        .route("/kyma-releases/{version}/kyma-installer-cluster.yaml", get(installer))
        .route("/kyma-releases/{version}/kyma-components.yaml", get(components))
        .route("/kyma-releases/{version}/{file}", get(async || StatusCode::NOT_FOUND));
    MountedSystem::new(Arc::new(Releases), routes)
}

fn is_there(version: &str) -> bool {
    let built = version.starts_with("main-") || version.starts_with("PR-") || version == "main";
    built || VERSIONS.contains(&version)
}

async fn installer(Path(version): Path<String>) -> Response {
    if !is_there(&version) {
        return StatusCode::NOT_FOUND.into_response();
    }
    ([(header::CONTENT_TYPE, "application/yaml")], objects(&version)).into_response()
}

async fn components(Path(version): Path<String>) -> Response {
    if !is_there(&version) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let listed = |all: &[(&str, Option<&str>)]| -> Vec<Value> {
        let each = all.iter().map(|(name, namespace)| {
            let mut listed = json!({"name": name});
            if let Some(namespace) = namespace {
                listed["namespace"] = json!(namespace);
            }
            if *name == SOURCE.0 {
                listed["source"] = json!({"url": SOURCE.1});
            }
            listed
        });
        each.collect()
    };
    let list = json!({
        "defaultNamespace": "kyma-system",
        "prerequisites": listed(&PREREQUISITES),
        "components": listed(&COMPONENTS),
    });
    // JSON is YAML.
    ([(header::CONTENT_TYPE, "application/yaml")], format!("{list:#}\n")).into_response()
}

/// The installer's objects as YAML documents.
fn objects(version: &str) -> String {
    let labels = json!({"name": INSTALLER});
    let deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": INSTALLER, "namespace": INSTALLER, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{
                    "name": "kyma-installer-container",
                    "image": format!("registry.example.com/kyma-installer:{version}"),
                }]},
            },
        },
    });
    let components: Vec<Value> = LITE
        .iter()
        .map(|(name, namespace)| json!({"name": name, "namespace": namespace}))
        .collect();
    let installation = json!({
        "apiVersion": "installer.kyma-project.io/v1alpha1",
        "kind": "Installation",
        "metadata": {"name": INSTALLATION.1, "namespace": INSTALLATION.0},
        "spec": {"version": version, "url": "", "components": components},
    });
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": INSTALLER}});
    let all = [namespace, definitions::installation(), deployment, installation];
    // JSON is YAML.
    all.map(|object| format!("---\n{object:#}\n")).concat()
}

impl System for Releases {
    fn name(&self) -> &'static str {
        "kyma-releases"
    }

    fn purpose(&self) -> &'static str {
        "keeps the installers of Kyma's releases"
    }

    fn base(&self) -> &'static str {
        BASE
    }

    fn objects(&self) -> Vec<Object> {
        let file = |version: &&str| Object {
            kind: "release",
            id: (*version).to_owned(),
            value: json!({"files": FILES}),
        };
        VERSIONS.iter().map(file).collect()
    }

    fn delete(&self, _: &str, _: &str) -> Result<bool, Error> {
        Ok(false)
    }

    fn reset(&self) -> Result<(), Error> {
        Ok(())
    }
}
