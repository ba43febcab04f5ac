//! Providers, and what platform regions mean.

use super::{Catalog, Findings, files};

pub(super) fn providers(catalog: &Catalog, findings: &mut Findings<'_>) {
    for (provider, data) in &catalog.providers {
        if !data.zone_name.value.contains("{zone}") {
            let rule = format!("zoneName of {provider} does not say where {{zone}} goes");
            findings.at(files::PROVIDERS, &data.zone_name, rule);
        }
        for (region, zones) in &data.regions {
            if zones.value.is_empty() {
                let rule = format!("region \"{region}\" of {provider} has no zones");
                findings.at(files::PROVIDERS, zones, rule);
            }
        }
    }
}

pub(super) fn mappings(catalog: &Catalog, findings: &mut Findings<'_>) {
    let trial = &catalog.regions.trial;
    for (platform, area) in &trial.platform_regions {
        if !trial.areas.contains_key(&area.value) {
            let rule = format!("{platform} lies in \"{}\", which is no area", area.value);
            findings.at(files::REGIONS, area, rule);
        }
    }
    for (provider, region) in trial.areas.values().flatten() {
        findings.region(catalog, files::REGIONS, *provider, region);
    }
    for (provider, region) in &catalog.eu_access.cluster_regions {
        findings.region(catalog, files::EU_ACCESS, *provider, region);
    }
    if catalog.eu_access.message.is_empty() {
        findings.key(files::EU_ACCESS, "message", "message is empty".into());
    }
}
