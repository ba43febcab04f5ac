//! Which Gardener a garden has, and how Shoots are written for it, in plain words.

use clients::gardener::{Features, Field, SUPPORTED};
use provisioner::shoots::Dialect;

/// For `kcp check`: one line.
pub(super) fn described(features: &Features) -> String {
    let (oldest, newest) = SUPPORTED;
    let version = features.version().unwrap_or("of unknown version");
    let range = match features.version().and_then(minor) {
        Some(found) if Some(found) < minor(oldest) => {
            format!("older than {oldest}, which is not supported")
        }
        Some(found) if Some(found) > minor(newest) => {
            format!("newer than {newest}, the newest that was tried")
        }
        _ => format!("supported are {oldest} to {newest}"),
    };
    let issuers =
        match (features.has(Field::OidcConfig), features.has(Field::StructuredAuthentication)) {
            (true, true) => {
                "issuers in oidcConfig up to Kubernetes 1.31, in structuredAuthentication from 1.32"
            }
            (false, true) => "issuers in structuredAuthentication",
            _ => "issuers in oidcConfig",
        };
    let names = if Dialect::of(features, "1.34.0").new_names {
        "cloudProfile and credentialsBindingName from Kubernetes 1.34"
    } else {
        "cloudProfileName and secretBindingName"
    };
    let refused = refused(features);
    format!("Gardener {version} ({range}); {issuers}; {names}; {refused}")
}

/// What is said about the old ways in: a static token and passwords.
fn refused(features: &Features) -> String {
    let first = Dialect::of(features, "1.26.0");
    let token = match (first.static_token, Dialect::of(features, "1.27.0").static_token) {
        (true, true) => "false",
        (true, false) => "false up to Kubernetes 1.26, then not sent",
        _ => "not sent",
    };
    let passwords = if first.basic_authentication { "false" } else { "not sent" };
    format!("enableStaticTokenKubeconfig {token}; enableBasicAuthentication {passwords}")
}

/// The number behind `1.`.
fn minor(version: &str) -> Option<u32> {
    version.trim_start_matches('v').strip_prefix("1.")?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_its_range_and_what_follows_from_it_are_told() {
        let without_passwords = |field: &Field| *field != Field::BasicAuthentication;
        let fields = Field::ALL.into_iter().filter(without_passwords);
        let today = Features::new(Some("v1.117.0"), fields);
        let beyond = Features::new(Some("v1.200.0"), [Field::StructuredAuthentication]);

        assert_eq!(
            described(&today),
            "Gardener v1.117.0 (supported are 1.65 to 1.149); issuers in oidcConfig up to Kubernetes 1.31, in \
             structuredAuthentication from 1.32; cloudProfile and credentialsBindingName from Kubernetes 1.34; \
             enableStaticTokenKubeconfig false up to Kubernetes 1.26, then not sent; enableBasicAuthentication not sent"
        );
        assert!(described(&beyond).contains("newer than 1.149"), "{}", described(&beyond));
        assert!(described(&Features::oldest()).starts_with("Gardener of unknown version"));
    }

    #[test]
    fn a_garden_is_asked_to_refuse_static_tokens_and_passwords_where_it_has_the_fields() {
        let newest = Features::new(Some("v1.149.0"), [Field::StructuredAuthentication]);

        for (features, expected) in [
            (
                Features::oldest(),
                "enableStaticTokenKubeconfig false; enableBasicAuthentication false",
            ),
            (newest, "enableStaticTokenKubeconfig not sent; enableBasicAuthentication not sent"),
        ] {
            let said = described(&features);
            assert!(said.ends_with(expected), "{said}");
        }
    }

    #[test]
    fn the_oldest_and_the_newest_version_that_were_tried_are_in_range_and_others_are_not() {
        let (oldest, newest) = SUPPORTED;
        let said = |version: &str| described(&Features::new(Some(version), Field::ALL));

        for within in [format!("v{oldest}.2"), format!("v{newest}.0")] {
            assert!(said(&within).contains("supported are"), "{}", said(&within));
        }
        assert!(said("v1.64.9").contains("older than 1.65, which is not supported"));
        assert!(said("v1.150.0").contains("newer than 1.149, the newest that was tried"));
    }
}
