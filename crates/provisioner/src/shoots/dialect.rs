//! How a garden wants a Shoot to be written: decided from the fields that it has and the version of Kubernetes.
//!
//! What a reader would get wrong: no setting decides this. docs/gardener.md has the table of Gardener's versions.

use clients::gardener::{Features, Field};

use super::versions::Version;

/// From this version on Gardener takes issuers of users from a `ConfigMap` only.
const STRUCTURED: Version = Version::new(1, 32, 0);
/// From this version on Gardener takes profile and account by their newer names only.
const NEW_NAMES: Version = Version::new(1, 34, 0);
/// The first version for which Gardener keeps no kubeconfig with a static token.
pub(super) const NO_STATIC_TOKEN: Version = Version::new(1, 27, 0);

/// How a garden wants a Shoot with one version of Kubernetes to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one field of Shoots")]
pub struct Dialect {
    /// Whether issuers of users are in a `ConfigMap`, and not in the Shoot.
    pub structured_authentication: bool,
    /// Whether a static token has to be refused.
    pub static_token: bool,
    /// Whether passwords have to be refused.
    pub basic_authentication: bool,
    /// Whether profile and account go by their newer names.
    pub new_names: bool,
}

impl Dialect {
    /// The dialect of a garden for a version of Kubernetes.
    pub fn of(features: &Features, kubernetes: &str) -> Self {
        let version = Version::parse(kubernetes);
        let structured = features.has(Field::StructuredAuthentication);
        let only_structured = version >= Some(STRUCTURED) || !features.has(Field::OidcConfig);
        // Where it is needed no more, newer gardens warn of it.
        let static_token = version < Some(NO_STATIC_TOKEN) || !structured;
        let new_names =
            features.has(Field::CloudProfile) && features.has(Field::CredentialsBinding);
        Self {
            structured_authentication: structured && only_structured,
            static_token: features.has(Field::StaticToken) && static_token,
            basic_authentication: features.has(Field::BasicAuthentication),
            new_names: new_names && version >= Some(NEW_NAMES),
        }
    }

    /// The same for a live Shoot: versions only go up.
    pub fn of_change(features: &Features, live: Option<&str>, wanted: &str) -> Self {
        let next = live.filter(|live| Version::parse(live) > Version::parse(wanted));
        Self::of(features, next.unwrap_or(wanted))
    }
}

/// Whether a change of versions leads to the newer names.
pub(super) fn crosses_new_names(live: Option<Version>, next: Option<Version>) -> bool {
    live < Some(NEW_NAMES) && next >= Some(NEW_NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_the_garden_and_the_version_of_kubernetes_decide() {
        let oldest = Features::oldest();
        let today = Features::new(
            Some("v1.117.0"),
            Field::ALL.into_iter().filter(|field| *field != Field::BasicAuthentication),
        );
        let newest =
            [Field::StructuredAuthentication, Field::CloudProfile, Field::CredentialsBinding];
        let newest = Features::new(Some("v1.149.0"), newest);
        let of = |features: &Features, version: &str| {
            let dialect = Dialect::of(features, version);
            (
                dialect.structured_authentication,
                dialect.static_token,
                dialect.basic_authentication,
                dialect.new_names,
            )
        };

        let table = [
            (of(&oldest, "1.26.5"), (false, true, true, false)),
            (of(&oldest, "1.32.4"), (false, true, true, false)),
            (of(&oldest, "1.34.0"), (false, true, true, false)),
            (of(&today, "1.26.5"), (false, true, false, false)),
            (of(&today, "1.31.9"), (false, false, false, false)),
            (of(&today, "1.32.0"), (true, false, false, false)),
            (of(&today, "1.34.0"), (true, false, false, true)),
            (of(&newest, "1.32.0"), (true, false, false, false)),
            (of(&newest, "1.34.1"), (true, false, false, true)),
        ];
        for (place, (found, expected)) in table.into_iter().enumerate() {
            assert_eq!(found, expected, "row {place}");
        }
        let change = Dialect::of_change(&today, Some("1.32.1"), "1.31.9");
        assert!(change.structured_authentication, "versions only go up");
    }
}
