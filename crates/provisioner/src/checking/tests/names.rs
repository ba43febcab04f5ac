//! Which names are names.

use super::samples::{self, AT, checked, refusal};
use crate::checking::shoot_name;

fn runtime(name: &str) -> Result<(), String> {
    let mut request = samples::gcp();
    request.name = name.into();
    crate::checking::provision(request, &crate::checking::Defaults::default())
        .map(drop)
        .map_err(|error| error.message)
}

fn shoot(name: &str) -> Result<(), String> {
    let mut request = samples::gcp();
    request.cluster.name = name.into();
    crate::checking::provision(request, &crate::checking::Defaults::default())
        .map(drop)
        .map_err(|error| error.message)
}

#[test]
fn a_runtime_is_named_by_the_rules_of_the_director() {
    let longest = "a".repeat(36);
    let letters =
        "runtimeInput.name must be made of lower-case letters, digits, and hyphens and dots inside";

    assert_eq!(runtime(&longest), Ok(()));
    assert_eq!(runtime("kyma.eu-1"), Ok(()));
    assert_eq!(runtime(""), Err("runtimeInput.name must not be empty".into()));
    let long = format!("{longest}a");
    assert_eq!(runtime(&long), Err("runtimeInput.name must have at most 36 characters".into()));
    assert_eq!(runtime("1demo"), Err("runtimeInput.name must not begin with a digit".into()));
    for name in ["Demo", "de mo", "demo_1", "-demo", "demo.", "d..e"] {
        assert_eq!(runtime(name), Err(letters.into()), "{name}");
    }
}

#[test]
fn a_shoot_is_named_by_the_rules_of_gardener() {
    let letters =
        format!("{AT}.name must be made of lower-case letters, digits and single hyphens inside");

    assert_eq!(shoot("f3a91b0"), Ok(()));
    assert_eq!(shoot(&"a".repeat(20)), Ok(()));
    let long = format!("{AT}.name must have at most 20 characters");
    assert_eq!(shoot(&"a".repeat(21)), Err(long));
    for name in ["", "Kyma", "a.b", "-a", "a-", "a--b"] {
        assert_eq!(shoot(name), Err(letters.clone()), "{name}");
    }
}

#[test]
fn a_shoot_and_its_project_share_twenty_one_characters() {
    let fits = shoot_name("c-7f3a91b", "kyma-dev-eu1");
    let long = shoot_name("c-7f3a91b", "kyma-dev-eu10").unwrap_err();

    assert_eq!(fits, Ok(()));
    let text = format!("{AT}.name must have at most 8 characters in project \"kyma-dev-eu10\"");
    assert_eq!(long.message, text);
}

#[test]
fn every_administrator_is_somebody_and_counts_once() {
    let mut request = samples::gcp();
    request.administrators = vec!["ada".into(), "grace".into(), "ada".into()];
    let twice = checked(request.clone()).administrators;
    request.administrators = vec!["ada".into(), " ".into()];
    let nobody = refusal(request.clone()).message;
    request.administrators = vec![];

    let none = checked(request).administrators;

    assert_eq!(twice, ["ada", "grace"]);
    assert_eq!(nobody, "clusterConfig.administrators[1] must not be empty");
    assert!(none.is_empty());
}
