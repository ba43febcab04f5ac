//! The parts of an installation, and the installer's status.

use serde_json::Value;

use crate::runtime::releases;

/// The components of Kyma Lite: name and namespace.
pub(in crate::runtime) const LITE: [(&str, &str); 14] = [
    ("cluster-essentials", "kyma-system"),
    ("istio", "istio-system"),
    ("xip-patch", "kyma-installer"),
    ("istio-kyma-patch", "istio-system"),
    ("knative-serving", "knative-serving"),
    ("knative-eventing", "knative-eventing"),
    ("dex", "kyma-system"),
    ("ory", "kyma-system"),
    ("api-gateway", "kyma-system"),
    ("service-catalog", "kyma-system"),
    ("service-catalog-addons", "kyma-system"),
    ("core", "kyma-system"),
    ("application-connector", "kyma-integration"),
    ("compass-runtime-agent", "compass-system"),
];

/// One component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Component {
    pub(super) name: String,
    pub(super) namespace: String,
    /// Whether it comes from somewhere else than the release.
    pub(super) has_source: bool,
}

impl Component {
    /// Whether there is nothing of this name to install.
    pub(super) fn is_unknown(&self) -> bool {
        let known = LITE.iter().map(|(name, _)| *name).chain(releases::component_names());
        !self.has_source && known.into_iter().all(|name| name != self.name)
    }
}

/// The current task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Install,
    Uninstall,
}

impl Task {
    fn prefix(self) -> &'static str {
        match self {
            Self::Install => "Install component ",
            Self::Uninstall => "Uninstall component ",
        }
    }

    /// The description while a component is worked on.
    pub(super) fn says(self, component: &str) -> String {
        format!("{}{component}", self.prefix())
    }

    /// Reads a description.
    pub(super) fn read(said: &str) -> Option<(Self, String)> {
        [Self::Install, Self::Uninstall]
            .into_iter()
            .find_map(|task| Some((task, said.strip_prefix(task.prefix())?.to_owned())))
    }
}

/// The components of an installation, in order.
pub(super) fn components(spec: &Value) -> Vec<Component> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let named = spec["components"].as_array().into_iter().flatten();
    let named: Vec<Component> = named
        .map(|one| Component {
            name: text(&one["name"]),
            namespace: text(&one["namespace"]),
            has_source: !one["source"].is_null(),
        })
        .filter(|component| !component.name.is_empty())
        .collect();
    if !named.is_empty() {
        return named;
    }
    let lite = LITE.iter();
    lite.map(|(name, namespace)| Component {
        name: (*name).into(),
        namespace: (*namespace).into(),
        has_source: false,
    })
    .collect()
}
