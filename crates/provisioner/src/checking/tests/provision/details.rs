//! Rules about issuers, domains and defaults of a new runtime.

use super::{
    super::samples::{self, AT, checked},
    broken,
};
use crate::{
    checking::{self, Defaults},
    requests::Provision,
};

#[test]
fn who_vouches_for_users_must_be_complete() {
    type Case = (fn(&mut crate::configuration::Oidc), &'static str);
    let cases: &[Case] = &[
        (|o| o.client_id.clear(), "clientID must not be empty"),
        (|o| o.groups_claim.clear(), "groupsClaim must not be empty"),
        (|o| o.issuer_url.clear(), "issuerURL must not be empty"),
        (|o| o.issuer_url = "http://issuer".into(), "issuerURL must begin with https://"),
        (|o| o.issuer_url = "https://".into(), "issuerURL must begin with https://"),
        (|o| o.issuer_url = "https:a".into(), "issuerURL must begin with https://"),
        (|o| o.issuer_url = "https://a ".into(), "issuerURL must not contain white space"),
        (|o| o.issuer_url = "https://a/x?y=z".into(), "issuerURL must not contain a query"),
        (|o| o.issuer_url = "https://a#f".into(), "issuerURL must not contain a fragment"),
        (
            |o| o.issuer_url = "https://u:p@a/".into(),
            "issuerURL must not contain a username or password",
        ),
        (|o| o.username_claim.clear(), "usernameClaim must not be empty"),
        (|o| o.username_prefix.clear(), "usernamePrefix must not be empty"),
        (|o| o.signing_algs.clear(), "signingAlgs must not be empty"),
        (
            |o| o.signing_algs.push("HS256".into()),
            "signingAlgs must be of RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, \
             PS512, not \"HS256\"",
        ),
    ];

    for (change, rule) in cases {
        let mut oidc = samples::oidc();
        change(&mut oidc);
        let message = broken(|cluster| cluster.oidc = Some(oidc));
        assert_eq!(message, format!("{AT}.oidcConfig.{rule}"));
    }
}

#[test]
fn names_in_the_dns_must_be_kept_by_somebody() {
    type Case = (fn(&mut crate::configuration::Dns), &'static str);
    let cases: &[Case] = &[
        (|d| d.domain = "Kyma.example".into(), "domain must be a domain in lower case"),
        (|d| d.providers[0].kind.clear(), "providers[0].type must not be empty"),
        (|d| d.providers[0].secret_name.clear(), "providers[0].secretName must not be empty"),
        (
            |d| d.providers[0].domains_include.push(String::new()),
            "providers[0].domainsInclude[1] must be a domain in lower case",
        ),
        (
            |d| d.providers.push(d.providers[0].clone()),
            "providers must have only one that is primary",
        ),
    ];

    for (change, rule) in cases {
        let mut dns = samples::dns();
        change(&mut dns);
        let message = broken(|cluster| cluster.dns = Some(dns));
        assert_eq!(message, format!("{AT}.dnsConfig.{rule}"));
    }
}

#[test]
fn complete_orders_are_accepted() {
    let mut request = samples::aws();
    request.cluster.oidc = Some(samples::oidc());
    request.cluster.dns = Some(samples::dns());
    request.cluster.control_plane_failure_tolerance = Some("zone".into());
    request.cluster.machine_image = Some("gardenlinux".into());
    request.cluster.machine_image_version = Some("1443.3.0".into());

    let cluster = checked(request).cluster;

    assert_eq!(cluster.oidc, Some(samples::oidc()));
    assert_eq!(cluster.dns, Some(samples::dns()));
    assert_eq!(cluster.control_plane_failure_tolerance.as_deref(), Some("zone"));
    assert_eq!(cluster.machine_image_version.as_deref(), Some("1443.3.0"));
}

#[test]
fn defaults_that_fit_nobody_are_refused_by_the_same_rules() {
    let defaults = Defaults { auto_scaler_min: 0, ..Defaults::default() };
    let mut request: Provision = samples::aws();
    request.cluster.auto_scaler_min = None;

    let error = checking::provision(request, &defaults).unwrap_err();

    assert_eq!(error.message, format!("{AT}.autoScalerMin must be at least 1"));
}
