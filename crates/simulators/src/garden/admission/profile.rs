//! Checks against the cloud profile: region, zones, seeds and exposure.

use std::sync::Arc;

use cluster::{Admission, Cause, Status};
use serde_json::Value;

use super::{list, operation, text, unsupported};
use crate::garden::{kinds, version::Version};

/// The profile that a Shoot names, in the older or the newer way.
pub(super) fn of(write: &Admission<'_>) -> Option<Arc<Value>> {
    let older = text(write.object, "/spec/cloudProfileName");
    // No project of this garden has profiles of its own.
    if write.object["spec"]["cloudProfile"]["kind"] == "NamespacedCloudProfile" {
        return None;
    }
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

/// Refuses a new Shoot that names its profile in both ways.
pub(super) fn named_twice(write: &Admission<'_>, gardener: Version) -> Result<(), Status> {
    let spec = &write.object["spec"];
    let both = text(spec, "/cloudProfileName").is_some() && spec["cloudProfile"].is_object();
    if write.old.is_some() || !both || gardener < Version::V1_117 {
        return Ok(());
    }
    let why = "new shoot can only specify either cloudProfileName or cloudProfile reference";
    Err(Status::new(500, "InternalError", why))
}

/// Counts a change of the older or the newer name as it is sent, also where both are made the same afterwards.
pub(super) fn count(write: &mut Admission<'_>, gardener: Version) {
    let Some(old) = write.old else { return };
    let differs = |key: &str| old["spec"][key] != write.object["spec"][key];
    let renamed = differs("cloudProfileName") || differs("cloudProfile");
    write.new_generation |=
        gardener >= Version::V1_117 && renamed && !operation::is_confined(write.object);
}

/// Refuses a Shoot that names something which the garden does not have.
pub(super) fn references(write: &Admission<'_>, gardener: Version) -> Result<(), Status> {
    let shoot = &*write.object;
    let named =
        text(shoot, "/spec/cloudProfileName").or_else(|| text(shoot, "/spec/cloudProfile/name"));
    let missing = |kind: &str, name: &str| format!("{kind}.core.gardener.cloud {name:?} not found");
    let forbidden = |why: String| Err(Status::forbidden(write.kind, super::name(shoot), &why));
    match named {
        None if write.old.is_some() => return forbidden(missing("cloudprofile", "")),
        None => {
            let missing = if gardener < Version::V1_117 {
                missing("cloudprofile", "")
            } else {
                "no cloudprofile reference has been provided".to_owned()
            };
            return Err(Status::internal(format!(
                "could not find referenced cloud profile: {missing}"
            )));
        }
        Some(named) if of(write).is_none() => return forbidden(missing("cloudprofile", named)),
        Some(_) => {}
    }
    for (path, word, kind) in [
        ("/spec/seedName", "seed", kinds::SEEDS),
        ("/spec/exposureClassName", "exposureclass", kinds::EXPOSURE_CLASSES),
    ] {
        let named = shoot.pointer(path).and_then(Value::as_str);
        let lost = named.filter(|name| write.find(kind, "", name).is_none());
        if let Some(name) = lost {
            return forbidden(missing(word, name));
        }
    }
    Ok(())
}

/// Names what does not fit; says whether the profile is one for this Shoot at all.
pub(super) fn check(write: &Admission<'_>, causes: &mut Vec<Cause>) -> bool {
    let shoot = &*write.object;
    let Some(profile) = of(write) else { return false };
    let wanted = text(shoot, "/spec/provider/type").unwrap_or_default();
    let offered = text(&profile, "/spec/type").unwrap_or_default();
    if wanted != offered {
        let why = format!(
            "provider type in shoot must equal provider type of referenced CloudProfile: {offered:?}"
        );
        causes.push(Cause::invalid("spec.provider.type", wanted, &why));
        return false;
    }
    let regions: Vec<&str> =
        list(&profile, "/spec/regions").iter().filter_map(|one| one["name"].as_str()).collect();
    let region = text(shoot, "/spec/region").unwrap_or_default();
    let before = write.old.and_then(|old| text(old, "/spec/region"));
    if !region.is_empty() && before != Some(region) && !regions.contains(&region) {
        causes.push(unsupported("spec.region", region, regions));
    }
    true
}
