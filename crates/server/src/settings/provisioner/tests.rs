//! The provisioner's settings: what works, what is refused, and the sample file.

use provisioner::limits::StageLimits;

use super::*;

#[test]
fn the_defaults_are_those_of_the_plans() {
    assert_eq!(load(None).unwrap().limits.limits(), StageLimits::default());
}

#[test]
fn kyma_lite_is_what_the_settings_say() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("provisioner.toml");
    let read = |list: &str| {
        std::fs::write(&file, format!("[kyma]\nlite = {list}\n")).unwrap();
        load(Some(&file))
    };
    let lite = |settings: &ProvisionerSettings| crate::provisioner::defaults(settings).kyma_lite;

    let own = lite(&read(r#"["istio/istio-system", "api-gateway/kyma-system"]"#).unwrap());
    let wrong = format!("{:#}", read(r#"["istio"]"#).unwrap_err());

    let names: Vec<_> = own.iter().map(|one| (&*one.component, &*one.namespace)).collect();
    assert_eq!(names, [("istio", "istio-system"), ("api-gateway", "kyma-system")]);
    assert!(wrong.contains("istio/istio-system"), "{wrong}");
    let known = provisioner::checking::Defaults::default().kyma_lite;
    assert_eq!(lite(&load(None).unwrap()), known);
}

#[test]
fn the_sample_file_is_made_of_the_comments() {
    super::super::tests::is_kept_as("provisioner.toml", &sample());
}
