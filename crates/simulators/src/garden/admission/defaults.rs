//! What Gardener fills in where a Shoot says nothing.

use cluster::Admission;
use serde_json::{Value, json};

use super::{list, name, namespace, profile, text, version};
use crate::garden::{SCENARIO, SCENARIO_DEFAULTS, scenario::Scenario, settings::Settings};

/// Fills it in. What an update leaves out stays as it was.
pub(super) fn fill(write: &mut Admission<'_>, settings: &Settings) {
    if write.old.is_none() {
        default_scenario(write);
    }
    let domain = domain(write, settings);
    let profile = profile::of(write);
    let (old, object) = (write.old, &mut *write.object);
    if !object["spec"].is_object() {
        return;
    }
    let kept = |path: &str| old.and_then(|old| old.pointer(path)).filter(|kept| !kept.is_null());
    let defaults = [
        ("/spec/purpose", Some(json!("evaluation"))),
        ("/spec/networking/type", Some(json!("calico"))),
        ("/spec/networking/pods", Some(json!("100.96.0.0/11"))),
        ("/spec/networking/services", Some(json!("100.64.0.0/13"))),
        ("/spec/dns/domain", domain.map(Value::from)),
        ("/spec/seedName", None),
        ("/spec/schedulerName", Some(json!("default-scheduler"))),
    ];
    for (path, default) in defaults {
        if let Some(value) = kept(path).cloned().or(default) {
            set_missing(object, path, value);
        }
    }
    if let Some(profile) = profile {
        let name = profile["metadata"]["name"].clone();
        if object["spec"]["cloudProfile"].is_null() {
            set_missing(object, "/spec/cloudProfileName", name);
        }
        version::complete(&profile, object);
        images(&profile, old, object);
    }
}

/// The scenario of all Shoots to come, if there is one.
fn default_scenario(write: &mut Admission<'_>) {
    let inside = namespace(write.object).to_owned();
    let Some(defaults) = write.find("configmaps", &inside, SCENARIO_DEFAULTS) else { return };
    let Some(scenario) = defaults["data"]["shoots"].as_str().filter(|text| !text.is_empty()) else {
        return;
    };
    if super::annotation(write.object, SCENARIO).is_none() {
        let metadata = &mut write.object["metadata"];
        if matches!(metadata["annotations"], Value::Object(_) | Value::Null) {
            metadata["annotations"][SCENARIO] = json!(scenario);
        }
    }
}

fn domain(write: &Admission<'_>, settings: &Settings) -> Option<String> {
    let shoot = &*write.object;
    let late = write.old.is_some()
        || Scenario::parse(super::annotation(shoot, SCENARIO).unwrap_or_default()).domain_late;
    (!late).then(|| settings.domain_of(name(shoot)))
}

/// Workers without an image keep theirs, or get the newest.
fn images(profile: &Value, old: Option<&Value>, object: &mut Value) {
    let newest = list(profile, "/spec/machineImages").first().and_then(|image| {
        let version = list(image, "/versions").last()?["version"].clone();
        Some(json!({"name": image["name"], "version": version}))
    });
    let before = old.map(|old| list(old, "/spec/provider/workers")).unwrap_or_default();
    let workers = object.pointer_mut("/spec/provider/workers").and_then(Value::as_array_mut);
    for worker in workers.into_iter().flatten().filter(|worker| worker["machine"].is_object()) {
        let same = before.iter().find(|one| one["name"] == worker["name"]);
        let kept = same.map(|one| one["machine"]["image"].clone()).filter(|image| !image.is_null());
        if worker["machine"]["image"].is_null() {
            if let Some(image) = kept.or_else(|| newest.clone()) {
                worker["machine"]["image"] = image;
            }
            continue;
        }
        // A name alone means its newest version.
        let named = worker["machine"]["image"]["name"].clone();
        let all = list(profile, "/spec/machineImages");
        let of = all.iter().find(|image| image["name"] == named);
        let version = of.and_then(|image| list(image, "/versions").last());
        if let Some(version) = version.filter(|_| text(worker, "/machine/image/version").is_none())
        {
            worker["machine"]["image"]["version"] = version["version"].clone();
        }
    }
}

/// Sets the value at a path unless there is one; maps on the way are made.
fn set_missing(object: &mut Value, path: &str, value: Value) {
    let mut here = object;
    for key in path.trim_start_matches('/').split('/') {
        if !matches!(here, Value::Object(_) | Value::Null) {
            return;
        }
        here = &mut here[key];
    }
    if here.is_null() || here.as_str() == Some("") {
        *here = value;
    }
}
