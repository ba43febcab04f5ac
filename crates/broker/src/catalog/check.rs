//! Whether the catalog's files fit together. Every broken rule is found, not only the first.

mod plans;
mod regions;

use domain::{parameters::SIGNING_ALGORITHMS, plan::Provider};
use serde_saphyr::Spanned;
use uuid::Uuid;

use super::{Catalog, CatalogError, Files, Finding, files, oidc, resolve::PURPOSES};

pub(super) fn all(catalog: &Catalog, files: Option<&Files>) -> Result<(), CatalogError> {
    let mut findings = Findings { found: vec![], files };
    service(catalog, &mut findings);
    regions::providers(catalog, &mut findings);
    regions::mappings(catalog, &mut findings);
    plans::all(catalog, &mut findings);
    defaults(catalog, &mut findings);
    if findings.found.is_empty() { Ok(()) } else { Err(CatalogError::Broken(findings.found)) }
}

/// The findings so far.
struct Findings<'a> {
    found: Vec<Finding>,
    files: Option<&'a Files>,
}

impl Findings<'_> {
    /// The rule is broken by what stands there.
    fn at<T>(&mut self, file: &'static str, place: &Spanned<T>, rule: String) {
        self.add(Finding { file, line: place.defined.line(), rule });
    }

    /// The rule is broken by a key of the topmost level.
    fn key(&mut self, file: &'static str, key: &str, rule: String) {
        let line = self.files.map_or(0, |files| files.line_of(file, key));
        self.add(Finding { file, line, rule });
    }

    /// Adds a finding; one that several plans share is kept once.
    fn add(&mut self, finding: Finding) {
        if !self.found.contains(&finding) {
            self.found.push(finding);
        }
    }

    /// The region is one of the provider's.
    fn region(
        &mut self,
        catalog: &Catalog,
        file: &'static str,
        provider: Provider,
        region: &Spanned<String>,
    ) {
        let known = catalog
            .providers
            .get(&provider)
            .is_some_and(|data| data.regions.contains_key(&region.value));
        if !known {
            self.at(file, region, format!("region \"{}\" is unknown to {provider}", region.value));
        }
    }
}

fn service(catalog: &Catalog, findings: &mut Findings<'_>) {
    let service = &catalog.service;
    if Uuid::parse_str(&service.id).is_err() {
        findings.key(files::SERVICE, "id", format!("id \"{}\" is not a UUID", service.id));
    }
    for (key, text) in [("name", &service.name), ("description", &service.description)] {
        if text.is_empty() {
            findings.key(files::SERVICE, key, format!("{key} is empty"));
        }
    }
}

fn defaults(catalog: &Catalog, findings: &mut Findings<'_>) {
    let defaults = &catalog.defaults;
    if defaults.kubernetes_version.is_empty() {
        findings.key(files::DEFAULTS, "kubernetesVersion", "kubernetesVersion is empty".into());
    }
    if !PURPOSES.contains(&defaults.purpose.as_str()) {
        let rule = format!("purpose \"{}\" is none of {}", defaults.purpose, PURPOSES.join(", "));
        findings.key(files::DEFAULTS, "purpose", rule);
    }
    if let Some(tolerance) = &defaults.failure_tolerance
        && !["node", "zone"].contains(&tolerance.as_str())
    {
        let rule = format!("failureTolerance \"{tolerance}\" is neither node nor zone");
        findings.key(files::DEFAULTS, "failureTolerance", rule);
    }
    if let Err(refusal) = oidc::check(Some(&defaults.oidc)) {
        findings.key(files::DEFAULTS, "oidc", format!("oidc: {refusal}"));
    } else if !defaults.oidc.is_provided() || defaults.oidc.signing_algs.is_empty() {
        let rule = format!("oidc needs an issuer and some of {}", SIGNING_ALGORITHMS.join(", "));
        findings.key(files::DEFAULTS, "oidc", rule);
    }
    let trial = |plan: &&super::Plan| plan.kind() == domain::plan::Kind::Trial;
    for plan in catalog.plans.iter().filter(trial) {
        if plan.cluster(defaults.trial_provider).is_none() {
            let provider = defaults.trial_provider;
            let rule =
                format!("trialProvider {provider} has no cluster in plan \"{}\"", plan.name());
            findings.key(files::DEFAULTS, "trialProvider", rule);
        }
    }
}
