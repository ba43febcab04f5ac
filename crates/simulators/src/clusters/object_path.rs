//! The object of a Kubernetes path.

use axum::http::{Method, Uri};

/// The garden's cluster.
pub(super) const GARDEN: &str = crate::garden::CLUSTER;
/// The control plane's own cluster.
pub(super) const CONTROL_PLANE: &str = "kcp";

/// Objects of a cluster that a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ObjectPath {
    pub(super) cluster: String,
    /// The plural with the group, such as `shoots.core.gardener.cloud`.
    pub(super) resource: String,
    pub(super) plural: String,
    /// Empty for objects of the whole cluster.
    pub(super) namespace: String,
    /// Empty for collections.
    pub(super) name: String,
    pub(super) subresource: Option<String>,
}

/// The cluster that a path leads to.
pub(super) fn cluster(path: &str) -> Option<&str> {
    path.strip_prefix("/clusters/")?.split('/').next()
}

/// Whether a request may change something.
pub(super) fn changes(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether a query has this parameter, and it is not false.
pub(super) fn has(uri: &Uri, parameter: &str) -> bool {
    let pairs = uri.query().unwrap_or_default().split('&');
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "true")))
        .any(|(name, value)| name == parameter && !matches!(value, "" | "0" | "false"))
}

impl ObjectPath {
    /// Reads a path; nothing if it names no objects.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let ["clusters", cluster, rest @ ..] = parts.as_slice() else { return None };
        let (group, rest) = match rest {
            ["api", _, rest @ ..] => ("", rest),
            ["apis", group, _, rest @ ..] => (*group, rest),
            _ => return None,
        };
        // A namespace is a place, and an object itself.
        let itself = matches!(rest, ["namespaces", _] | ["namespaces", _, "status" | "finalize"]);
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] if !itself => (*namespace, rest),
            rest => ("", rest),
        };
        let (plural, name, subresource) = match rest {
            [plural] => (*plural, "", None),
            [plural, name] => (*plural, *name, None),
            [plural, name, subresource] => (*plural, *name, Some((*subresource).to_owned())),
            _ => return None,
        };
        let dot = if group.is_empty() { "" } else { "." };
        Some(Self {
            cluster: (*cluster).to_owned(),
            resource: format!("{plural}{dot}{group}"),
            plural: plural.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource,
        })
    }

    /// The object in the words of the ledger: `shoots/garden-kyma/abc`.
    pub(super) fn object(&self) -> String {
        let parts = [self.plural.as_str(), &self.namespace, &self.name];
        let parts = parts.into_iter().chain(self.subresource.as_deref());
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        parts.join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_objects_in_the_words_of_the_ledger() {
        for (path, resource, object) in [
            (
                "/clusters/garden/apis/core.gardener.cloud/v1beta1/namespaces/n/shoots/abc",
                "shoots.core.gardener.cloud",
                "shoots/n/abc",
            ),
            (
                "/clusters/c/apis/g.io/v1/namespaces/n/shoots/a/status",
                "shoots.g.io",
                "shoots/n/a/status",
            ),
            ("/clusters/c/api/v1/namespaces/n", "namespaces", "namespaces/n"),
            ("/clusters/c/api/v1/namespaces/n/secrets", "secrets", "secrets/n"),
            ("/clusters/c/api/v1/nodes/one", "nodes", "nodes/one"),
        ] {
            let place = ObjectPath::parse(path).unwrap();
            assert_eq!((place.resource.as_str(), place.object().as_str()), (resource, object));
        }
        assert_eq!(ObjectPath::parse("/clusters/c/version"), None);
        assert_eq!(cluster("/clusters/c/version"), Some("c"));
    }

    #[test]
    fn a_parameter_counts_unless_it_says_no() {
        let uri = |text: &str| text.parse::<Uri>().unwrap();

        assert!(has(&uri("/a?x=1&watch=true"), "watch") && has(&uri("/a?watch"), "watch"));
        assert!(!has(&uri("/a?watch=false"), "watch") && !has(&uri("/a?unwatch=1"), "watch"));
    }
}
