//! Parses a path.

/// The thing behind a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Whether the server is there.
    Health,
    /// Which Kubernetes this is.
    Version,
    /// The list of paths.
    Root,
    /// The versions of the core group.
    CoreVersions,
    /// All other groups.
    Groups,
    /// One group.
    Group(String),
    /// The kinds of a group in a version.
    Kinds { group: String, version: String },
    /// The old description of everything.
    OpenApi2,
    /// The list of new descriptions.
    OpenApi3,
    /// The description of a group in a version.
    OpenApi3Of { group: String, version: String },
    /// Objects.
    Objects(ObjectPath),
}

/// Where objects are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ObjectPath {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

impl Target {
    /// Reads the part of a path that follows the cluster's name.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let version_of = |group: &str, version: &str| (group.to_owned(), version.to_owned());
        Some(match parts.as_slice() {
            [] => Self::Root,
            ["healthz" | "livez" | "readyz", ..] => Self::Health,
            ["version"] => Self::Version,
            ["openapi", "v2"] => Self::OpenApi2,
            ["openapi", "v3"] => Self::OpenApi3,
            ["openapi", "v3", "api", version] => {
                let (group, version) = version_of("", version);
                Self::OpenApi3Of { group, version }
            }
            ["openapi", "v3", "apis", group, version] => {
                let (group, version) = version_of(group, version);
                Self::OpenApi3Of { group, version }
            }
            ["api"] => Self::CoreVersions,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group((*group).to_owned()),
            ["api", version] => {
                let (group, version) = version_of("", version);
                Self::Kinds { group, version }
            }
            ["apis", group, version] => {
                let (group, version) = version_of(group, version);
                Self::Kinds { group, version }
            }
            ["api", version, rest @ ..] => Self::Objects(place("", version, rest)?),
            ["apis", group, version, rest @ ..] => Self::Objects(place(group, version, rest)?),
            _ => return None,
        })
    }
}

fn place(group: &str, version: &str, rest: &[&str]) -> Option<ObjectPath> {
    let own = |text: &&str| (*text).to_owned();
    // Namespaces are objects themselves: `namespaces/x/status` is not a kind called status.
    let is_object = matches!(rest, ["namespaces", _] | ["namespaces", _, "status" | "finalize"]);
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !is_object => (Some(own(namespace)), rest),
        rest => (None, rest),
    };
    let (plural, name, subresource) = match rest {
        [plural] => (plural, None, None),
        [plural, name] => (plural, Some(name), None),
        [plural, name, subresource] => (plural, Some(name), Some(subresource)),
        _ => return None,
    };
    Some(ObjectPath {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: own(plural),
        namespace,
        name: name.map(own),
        subresource: subresource.map(own),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_of(path: &str) -> (String, Option<String>, Option<String>, Option<String>) {
        match Target::parse(path) {
            Some(Target::Objects(place)) => {
                (place.plural, place.namespace, place.name, place.subresource)
            }
            other => panic!("{path} is {other:?}"),
        }
    }

    #[test]
    fn namespaces_are_both_places_and_objects() {
        let some = |text: &str| Some(text.to_owned());
        let plural = |text: &str| text.to_owned();

        assert_eq!(place_of("api/v1/namespaces"), (plural("namespaces"), None, None, None));
        assert_eq!(place_of("api/v1/namespaces/a"), (plural("namespaces"), None, some("a"), None));
        assert_eq!(
            place_of("api/v1/namespaces/a/status"),
            (plural("namespaces"), None, some("a"), some("status"))
        );
        assert_eq!(
            place_of("apis/g/v1/namespaces/a/shoots/b/adminkubeconfig"),
            (plural("shoots"), some("a"), some("b"), some("adminkubeconfig"))
        );
    }
}
