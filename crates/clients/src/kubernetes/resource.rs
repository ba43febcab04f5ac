//! Where objects of a kind stand, and how their addresses are written.

use url::form_urlencoded;

use crate::http::segment;

/// A kind of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource {
    /// Its API group; empty for the core.
    pub group: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its kind: `Shoot`.
    pub kind: &'static str,
    /// As it stands in paths: `shoots`.
    pub plural: &'static str,
}

impl Resource {
    /// A kind of the core group.
    pub const fn core(kind: &'static str, plural: &'static str) -> Self {
        Self { group: "", version: "v1", kind, plural }
    }

    /// As objects say it of themselves.
    pub fn api_version(&self) -> String {
        match self.group {
            "" => self.version.into(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The path of all objects of the kind; `None` when the namespace is invalid.
    pub(crate) fn path(&self, namespace: Option<&str>) -> Option<String> {
        let root = if self.group.is_empty() { "/api" } else { "/apis" };
        let place = match namespace {
            Some(namespace) => format!("namespaces/{}/", name_in_path(namespace)?),
            None => String::new(),
        };
        Some(format!("{root}/{}/{place}{}", self.api_version(), self.plural))
    }

    /// As `kube` wants to know it.
    pub(crate) fn for_kube(&self) -> kube::core::ApiResource {
        let version = kube::core::GroupVersionKind::gvk(self.group, self.version, self.kind);
        kube::core::ApiResource::from_gvk_with_plural(&version, self.plural)
    }
}

/// A name as one segment of a path. API servers split paths after they have unescaped them, so a name
/// with a slash in it, escaped or not, would be another object or a part of one.
pub(super) fn name_in_path(name: &str) -> Option<String> {
    segment(name).filter(|_| !name.contains(['/', '%']))
}

/// A query, escaped; with the `?` unless it is empty.
pub(super) fn query(pairs: &[(&str, &str)]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    format!("?{query}")
}

/// The resource of a path, with all names left out: `shoots/adminkubeconfig`.
pub(super) fn kind_of(path: &str) -> String {
    let mut parts = path.trim_matches('/').split('/');
    // `api/v1` or `apis/group/version`
    let skipped = usize::from(parts.next() == Some("apis"));
    let rest: Vec<_> = parts.skip(skipped + 1).collect();
    match rest.as_slice() {
        [] => "discovery".into(),
        ["namespaces", _, plural] | ["namespaces", _, plural, _] | [plural] | [plural, _] => {
            (*plural).into()
        }
        ["namespaces", _, plural, _, sub, ..] | [plural, _, sub, ..] => format!("{plural}/{sub}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOOTS: Resource = Resource {
        group: "core.gardener.cloud",
        version: "v1beta1",
        kind: "Shoot",
        plural: "shoots",
    };

    #[test]
    fn paths_are_those_of_kubernetes() {
        assert_eq!(
            Resource::core("Secret", "secrets").path(Some("a")).unwrap(),
            "/api/v1/namespaces/a/secrets"
        );
        assert_eq!(SHOOTS.path(None).unwrap(), "/apis/core.gardener.cloud/v1beta1/shoots");
        assert_eq!(
            SHOOTS.path(Some("a?b c")).unwrap(),
            "/apis/core.gardener.cloud/v1beta1/namespaces/a%3Fb%20c/shoots"
        );
        for unusable in ["", "..", "a/b", "a%2Fb"] {
            assert_eq!(SHOOTS.path(Some(unusable)), None);
        }
    }

    #[test]
    fn routes_name_kinds_and_no_objects() {
        let shoots = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots";

        assert_eq!(kind_of(shoots), "shoots");
        assert_eq!(kind_of(&format!("{shoots}/c-1")), "shoots");
        assert_eq!(kind_of(&format!("{shoots}/c-1/adminkubeconfig")), "shoots/adminkubeconfig");
        assert_eq!(kind_of("/api/v1/namespaces/kyma-system"), "namespaces");
        assert_eq!(kind_of("/api/v1/namespaces"), "namespaces");
        assert_eq!(kind_of("/apis"), "discovery");
    }
}
