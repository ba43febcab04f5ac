//! A catalog that is wrong stops the start, and says where.

use std::fs;

use broker::catalog::{Catalog, CatalogError, Files, Offer};

/// Replaces the first `from` of a file; the line on which it stands, and what loading says.
fn broken(file: &str, from: &str, to: &str) -> (usize, String) {
    let files = Files::embedded();
    let text = files.text(file).unwrap();
    let line = text[..text.find(from).unwrap()].matches('\n').count() + 1;
    let changed = text.replacen(from, to, 1);
    let error = Catalog::load(&files.with(file, changed)).unwrap_err();
    (line, error.to_string())
}

#[test]
fn the_embedded_catalog_has_the_known_plans() {
    let catalog = Catalog::embedded().unwrap();

    let known = [
        ("azure", "4deee563-e5ec-4731-b9b1-53b42d855f0c"),
        ("azure_lite", "8cb22518-aa26-44c5-91a0-e669ec9bf443"),
        ("gcp", "ca6e5357-707f-4565-bbbd-b3ab732597c6"),
        ("aws", "361c511f-f939-4621-b228-d0fb79a1fe15"),
        ("openstack", "03b812ac-c991-4528-b5bd-08b303523a63"),
        ("trial", "7d55d31d-35ae-4438-bf13-6ffdfa107d9f"),
        ("free", "b1a5764e-2ea1-4f95-94c0-2b4538b37b55"),
        ("own_cluster", "03e3cb66-a4c6-4c6a-b4b0-5d42224debea"),
        ("preview", "5cb3d976-b85c-42ea-a636-79cadda109a9"),
    ];
    assert_eq!(catalog.service_id(), "47c9dcbf-ff30-448e-ab36-d3bad66ba281");
    assert_eq!(catalog.service_name(), "kymaruntime");
    assert_eq!(catalog.plans().len(), known.len());
    for (name, id) in known {
        assert_eq!(catalog.plan_named(name).unwrap().id(), id);
        assert_eq!(catalog.plan(id).unwrap().name(), name);
    }
}

#[test]
fn wrong_data_is_refused_with_file_line_and_rule() {
    let cases = [
        ("plans.yaml", "id: 361c", "id: x361c", "is not a UUID"),
        (
            "plans.yaml",
            "8cb22518-aa26-44c5-91a0-e669ec9bf443",
            "4deee563-e5ec-4731-b9b1-53b42d855f0c",
            "belongs to two plans",
        ),
        ("plans.yaml", "name: gcp", "name: aws", "name \"aws\" belongs to two plans"),
        ("plans.yaml", "[azure]", "[azur]", "upgradableTo: there is no plan \"azur\""),
        ("plans.yaml", "[azure]", "[azure_lite]", "upgradableTo: plan \"azure_lite\" is this plan"),
        ("plans.yaml", "[azure]", "[trial]", "upgradableTo: plan \"trial\" uses other accounts"),
        ("plans.yaml", "[azure]", "[gcp]", "upgradableTo: plan \"gcp\" has none of its providers"),
        (
            "plans.yaml",
            "region: eastus",
            "region: eastus9",
            "region \"eastus9\" is unknown to azure",
        ),
        (
            "plans.yaml",
            "[europe-west3, asia",
            "[europe-west3, europe-west3, asia",
            "regions has \"europe-west3\" twice",
        ),
        (
            "plans.yaml",
            "machineType: m5.xlarge",
            "machineType: m6i.xlarge",
            "is not one that can be chosen",
        ),
        (
            "plans.yaml",
            "create: [g_c4_m16, g_c8_m32]",
            "create: [g_c4_m16, g_c9]",
            "machine type \"g_c9\" is unknown to openstack",
        ),
        (
            "plans.yaml",
            "min: {minimum: 3, default: 3}",
            "min: {minimum: 3, default: 2}",
            "default 2 is not between 3 and 80",
        ),
        (
            "plans.yaml",
            "maximum: 40, default: 10",
            "maximum: 9, default: 10",
            "default 10 is not between 2 and 9",
        ),
        (
            "plans.yaml",
            "nodes: {min: 4, max: 8}",
            "nodes: {min: 9, max: 8}",
            "min is larger than max",
        ),
        ("plans.yaml", "workerCidr: 10.250.0.0/16", "workerCidr: 10.250.0.0", "is not a network"),
        ("plans.yaml", "zones: {count: 1}", "zones: {count: 0}", "zones: there are one to four"),
        ("plans.yaml", "kind: managed", "kind: rented", "rented"),
        ("plans.yaml", "diskType: gp2", "discType: gp2", "discType"),
        (
            "providers.yaml",
            "us-west-1: [a, b]",
            "us-west-1: []",
            "region \"us-west-1\" of aws has no zones",
        ),
        ("providers.yaml", "\"{region}-{zone}\"", "\"{region}\"", "does not say where {zone} goes"),
        ("providers.yaml", "gcp:", "gpc:", "gpc"),
        ("regions.yaml", "cf-us10: us", "cf-us10: mars", "cf-us10 lies in \"mars\""),
        (
            "regions.yaml",
            "aws: us-east-1",
            "aws: us-east-9",
            "region \"us-east-9\" is unknown to aws",
        ),
        (
            "eu-access.yaml",
            "aws: eu-central-1",
            "aws: eu-central-9",
            "region \"eu-central-9\" is unknown to aws",
        ),
        ("service.yaml", "id: 47c9", "id: 47c9x", "is not a UUID"),
        ("defaults.yaml", "purpose: development", "purpose: fun", "purpose \"fun\" is none of"),
        (
            "defaults.yaml",
            "trialProvider: azure",
            "trialProvider: openstack",
            "trialProvider openstack has no cluster",
        ),
    ];
    for (file, from, to, rule) in cases {
        let (line, said) = broken(file, from, to);

        let found = said.split("; ").any(|finding| {
            finding.starts_with(&format!("{file}:{line}: ")) && finding.contains(rule)
        });
        assert!(found, "{from} → {to}: expected {file}:{line} and \"{rule}\", got: {said}");
    }
}

#[test]
fn a_plan_without_what_its_kind_needs_is_refused() {
    let cases = [
        ("accounts: none", "accounts: shared", "needs accounts unless it is own_cluster"),
        ("kind: own_cluster", "kind: managed", "is managed and needs exactly one provider"),
        ("kind: trial", "kind: free", "is free and needs regions"),
        ("kind: free", "kind: trial", "is a trial: its regions are in regions.yaml"),
        ("    nodes: *large\n", "", "is managed and needs nodes"),
    ];
    for (from, to, rule) in cases {
        let (_, said) = broken("plans.yaml", from, to);

        assert!(said.contains(rule), "{from} → {to}: {said}");
    }
}

#[test]
fn all_broken_rules_are_named_at_once() {
    let files = Files::embedded();
    let text = files.text("plans.yaml").unwrap();
    let text = text.replacen("region: eastus", "region: nowhere", 1).replacen("4deee563", "x", 1);

    let error = Catalog::load(&files.with("plans.yaml", text)).unwrap_err();

    assert!(matches!(error, CatalogError::Broken(findings) if findings.len() == 2));
}

#[test]
fn what_several_plans_share_is_found_once() {
    let (line, said) = broken("plans.yaml", "machineType: m5.xlarge", "machineType: m9");

    let unknown = format!("plans.yaml:{line}: machine type \"m9\" is unknown to aws");
    assert_eq!(said.matches(&unknown).count(), 1, "{said}");
}

#[test]
fn a_folder_replaces_files_and_may_not_hold_unknown_ones() {
    let folder = tempfile::tempdir().unwrap();
    let text = Files::embedded().text("service.yaml").unwrap().replace("kymaruntime", "other");
    fs::write(folder.path().join("service.yaml"), text).unwrap();
    fs::write(folder.path().join("README.md"), "not data").unwrap();

    let catalog = Catalog::load(&Files::folder(folder.path()).unwrap()).unwrap();

    assert_eq!((catalog.service_name(), catalog.plans().len()), ("other", 9));
    fs::write(folder.path().join("plan.yaml"), "plans: []").unwrap();
    assert!(matches!(Files::folder(folder.path()), Err(CatalogError::Unknown { .. })));
    let missing = folder.path().join("missing");
    assert!(matches!(Files::folder(&missing), Err(CatalogError::Unreadable { .. })));
}

#[test]
fn settings_may_adjust_the_defaults_but_not_break_them() {
    let catalog = Catalog::embedded().unwrap();

    let adjusted = catalog.clone().adjusted(|defaults| defaults.multi_zone = true).unwrap();
    let broken = catalog.adjusted(|defaults| defaults.oidc.issuer_url = "http://x.test".into());

    assert!(adjusted.defaults().multi_zone);
    assert!(broken.unwrap_err().to_string().contains("issuerURL must have https scheme"));
}

#[test]
fn only_plans_that_exist_can_be_offered() {
    let catalog = Catalog::embedded().unwrap();
    let offer = |name: &str| Offer { plans: vec![name.to_owned()], ..Offer::default() };

    assert!(offer("gcp").check(&catalog).is_ok());
    let error = offer("gpc").check(&catalog).unwrap_err();
    assert_eq!(error.to_string(), "unrecognized gpc plan name");
}
