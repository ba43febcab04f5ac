//! What the cloud profile allows: region, zones, seeds and exposure.

use std::sync::Arc;

use cluster::{Admission, Cause};
use serde_json::Value;

use super::{list, text, unsupported};
use crate::garden::kinds;

/// The profile that a Shoot names, in the older or the newer way.
pub(super) fn of(write: &Admission<'_>) -> Option<Arc<Value>> {
    let older = text(write.object, "/spec/cloudProfileName");
    let name = older.or_else(|| text(write.object, "/spec/cloudProfile/name"))?;
    write.find(kinds::PROFILES, "", name)
}

/// The zones of the region of a Shoot.
pub(super) fn zones<'a>(profile: &'a Value, shoot: &Value) -> Vec<&'a str> {
    let wanted = text(shoot, "/spec/region");
    let regions = list(profile, "/spec/regions").iter();
    let region = regions.filter(|region| region["name"].as_str() == wanted);
    region.flat_map(|region| list(region, "/zones")).filter_map(|z| z["name"].as_str()).collect()
}

/// Names what does not fit.
pub(super) fn check(write: &Admission<'_>, causes: &mut Vec<Cause>) {
    let shoot = &*write.object;
    for (path, field) in
        [("/spec/region", "spec.region"), ("/spec/provider/type", "spec.provider.type")]
    {
        if text(shoot, path).is_none() {
            causes.push(Cause::required(field, "must be set"));
        }
    }
    let named =
        text(shoot, "/spec/cloudProfileName").or_else(|| text(shoot, "/spec/cloudProfile/name"));
    match (named, of(write)) {
        (None, _) => causes.push(Cause::required("spec.cloudProfileName", "must be set")),
        (Some(named), None) => causes.push(Cause {
            reason: "FieldValueNotFound",
            field: "spec.cloudProfileName".to_owned(),
            message: format!("Not found: {named:?}"),
        }),
        (Some(_), Some(profile)) => inside(&profile, shoot, causes),
    }
    for (path, field, kind) in [
        ("/spec/seedName", "spec.seedName", kinds::SEEDS),
        ("/spec/exposureClassName", "spec.exposureClassName", kinds::EXPOSURE_CLASSES),
    ] {
        let missing = text(shoot, path).filter(|name| write.find(kind, "", name).is_none());
        if let Some(name) = missing {
            causes.push(Cause::invalid(field, name, "there is no such object in the garden"));
        }
    }
}

fn inside(profile: &Value, shoot: &Value, causes: &mut Vec<Cause>) {
    let wanted = text(shoot, "/spec/provider/type").unwrap_or_default();
    let offered = text(profile, "/spec/type").unwrap_or_default();
    if wanted != offered {
        let why =
            format!("provider type in shoot must match provider type of CloudProfile ({offered})");
        causes.push(Cause::invalid("spec.provider.type", wanted, &why));
        return;
    }
    let regions: Vec<&str> =
        list(profile, "/spec/regions").iter().filter_map(|one| one["name"].as_str()).collect();
    let region = text(shoot, "/spec/region").unwrap_or_default();
    if !regions.contains(&region) {
        causes.push(unsupported("spec.region", region, regions));
    }
}
