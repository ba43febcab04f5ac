//! Defaults that Gardener fills in.
//!
//! What a reader would get wrong: an update that leaves a field out gets the default again, not the value that was there.

mod labels;
mod table;

use cluster::Admission;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{annotation, fields, image, list, name, namespace, profile, text, version};
use crate::garden::{
    SCENARIO, SCENARIO_DEFAULTS, kinds, scenario::Scenario, settings::Settings, version::Version,
};

/// Who made a Shoot.
const CREATED_BY: &str = "gardener.cloud/created-by";
/// The first Gardener whose Shoots have no `enableBasicAuthentication` any more.
const WITHOUT_PASSWORDS: u32 = 71;
/// The first Gardener whose Shoots have no `allowPrivilegedContainers` any more.
const WITHOUT_POLICIES: u32 = 91;
/// How many Pods a node has by default.
pub(super) const PODS: i64 = 110;

/// Fills it in.
pub(super) fn fill(write: &mut Admission<'_>, settings: &Settings) {
    let gardener = settings.version;
    if write.old.is_none() {
        default_scenario(write);
        sign(write);
        let nobody = json!({"id": "", "name": "", "version": ""});
        write.object["status"] =
            json!({"gardener": nobody, "hibernated": false, "technicalID": "", "uid": ""});
    }
    let domain = domain(write, settings);
    names_of_profile(write.object, gardener);
    let profile = profile::of(write);
    let ranges = ranges_of_seed(write);
    let (old, object, now) = (write.old, &mut *write.object, write.now);
    if !object["spec"].is_object() {
        return;
    }
    let kept = |path: &str| old.and_then(|old| old.pointer(path)).filter(|kept| !kept.is_null());
    // Where a Shoot goes decides about these.
    let seeded = kept("/spec/seedName").is_some() || text(object, "/spec/seedName").is_some();
    let range = |key: &str| ranges.as_ref()?.get(key).filter(|range| range.is_string()).cloned();
    let defaults = [
        ("/spec/networking/pods", range("pods")),
        ("/spec/networking/services", range("services")),
        ("/spec/dns/domain", domain.filter(|_| seeded).map(Value::from)),
    ];
    set_missing(object, "/spec/purpose", &json!("evaluation"));
    for (path, default) in defaults {
        if let Some(value) = kept(path).cloned().or(default) {
            set_missing(object, path, &value);
        }
    }
    labels::set(object, gardener);
    if let Some(profile) = &profile {
        version::complete(profile, object, gardener, now);
        images(profile, old, object, now);
    }
    maintenance(old, object, gardener);
    kubernetes(object, gardener);
    table::fill(object, gardener);
}

/// The ranges that the Seed of a Shoot has for Shoots which name none.
fn ranges_of_seed(write: &Admission<'_>) -> Option<Value> {
    let path = "/spec/seedName";
    let named = write.old.and_then(|old| text(old, path)).or_else(|| text(write.object, path))?;
    let seed = write.find(kinds::SEEDS, "", named)?;
    Some(seed["spec"]["networks"]["shootDefaults"].clone())
}

/// Records the name of the user who creates a Shoot.
fn sign(write: &mut Admission<'_>) {
    let user = json!(write.user.user);
    let metadata = &mut write.object["metadata"];
    if matches!(metadata["annotations"], Value::Object(_) | Value::Null) {
        metadata["annotations"][CREATED_BY] = user;
    }
}

/// The older and the newer name of the profile say the same, where there are both.
fn names_of_profile(object: &mut Value, gardener: Version) {
    if gardener < Version::V1_117 || !object["spec"].is_object() {
        return;
    }
    let newer = text(object, "/spec/cloudProfile/name").map(|name| json!(name));
    // The older name is refused with new versions of Kubernetes from then on.
    let newer = newer.filter(|_| gardener.minor() < 136);
    if let Some(name) =
        newer.filter(|_| object["spec"]["cloudProfile"]["kind"] != "NamespacedCloudProfile")
    {
        // The newer name wins where both are there.
        object["spec"]["cloudProfileName"] = name;
    }
    if let Some(name) = text(object, "/spec/cloudProfileName").map(|name| json!(name)) {
        set_missing(object, "/spec/cloudProfile/name", &name);
        set_missing(object, "/spec/cloudProfile/kind", &json!("CloudProfile"));
    }
}

/// The hour in which Gardener may change something by itself. Drawn anew whenever an update leaves it out.
fn maintenance(old: Option<&Value>, object: &mut Value, gardener: Version) {
    let is_workerless =
        list(object, "/spec/provider/workers").is_empty() && gardener >= Version::V1_117;
    let keys = ["kubernetesVersion", "machineImageVersion"];
    let keys = if is_workerless { &keys[..1] } else { &keys };
    if object.pointer("/spec/maintenance/autoUpdate").is_none_or(Value::is_null) {
        let all: serde_json::Map<String, Value> =
            keys.iter().map(|key| ((*key).to_owned(), json!(true))).collect();
        set_missing(object, "/spec/maintenance/autoUpdate", &Value::Object(all));
    }
    for key in keys {
        set_missing(object, &format!("/spec/maintenance/autoUpdate/{key}"), &json!(false));
    }
    if object.pointer("/spec/maintenance/timeWindow").is_some_and(|window| !window.is_null()) {
        return;
    }
    let drawn = old.map_or_else(String::new, |old| old["metadata"]["resourceVersion"].to_string());
    let seed = format!("{}/{}/{drawn}", namespace(object), name(object));
    // FNV-1a: the same Shoot has the same hour in every run.
    let hash = seed.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hour = (hash >> 32) % 24;
    let time = |hour: u64| format!("{:02}0000+0000", hour % 24);
    let window = json!({"begin": time(hour), "end": time(hour + 1)});
    set_missing(object, "/spec/maintenance/timeWindow", &window);
}

/// What depends on the version of Kubernetes, or on other fields.
fn kubernetes(object: &mut Value, gardener: Version) {
    let minor = text(object, "/spec/kubernetes/version").and_then(version::parts).map(|it| it.1);
    let below = |limit: u32| minor.is_some_and(|minor| minor < limit);
    if gardener < Version::V1_117 {
        let path = "/spec/kubernetes/enableStaticTokenKubeconfig";
        set_missing(object, path, &json!(below(26)));
        if below(25) && gardener.minor() < WITHOUT_POLICIES && !has_no_pod_security_policy(object) {
            set_missing(object, "/spec/kubernetes/allowPrivilegedContainers", &json!(true));
        }
        if gardener.minor() < WITHOUT_PASSWORDS {
            set_missing(object, fields::PASSWORDS, &json!(false));
        }
        runtimes(object);
    }
    if list(object, "/spec/provider/workers").is_empty() && gardener >= Version::V1_117 {
        return;
    }
    if object.pointer("/spec/systemComponents/coreDNS/autoscaling/mode")
        != Some(&json!("cluster-proportional"))
    {
        let coredns = &mut object["spec"]["systemComponents"];
        if matches!(coredns, Value::Object(_) | Value::Null) {
            coredns["coreDNS"]["autoscaling"]["mode"] = json!("horizontal");
        }
    }
    // The next power of two above twice as many; a number that makes no sense leaves no room at all.
    let most = u64::try_from(most_pods(object)).unwrap_or(0);
    let size = 32 - (2 * most).checked_next_power_of_two().map_or(0, u64::trailing_zeros);
    let path = "/spec/kubernetes/kubeControllerManager/nodeCIDRMaskSize";
    set_missing(object, path, &json!(size));
}

/// Older Gardeners choose containerd from Kubernetes 1.22 on, and nothing before.
fn runtimes(object: &mut Value) {
    let whole = text(object, "/spec/kubernetes/version").map(str::to_owned);
    let groups = object.pointer_mut("/spec/provider/workers").and_then(Value::as_array_mut);
    for group in groups.into_iter().flatten() {
        let kubernetes = text(group, "/kubernetes/version").or(whole.as_deref());
        let minor = kubernetes.and_then(version::parts).map(|it| it.1);
        if minor.is_some_and(|minor| minor >= 22) {
            set_missing(group, "/cri", &json!({"name": "containerd"}));
        }
    }
}

/// How many Pods there may be on a node of any group.
pub(super) fn most_pods(shoot: &Value) -> i64 {
    let own = shoot["spec"]["kubernetes"]["kubelet"]["maxPods"].as_i64().unwrap_or(PODS);
    let groups = list(shoot, "/spec/provider/workers").iter();
    let groups = groups.filter_map(|group| group["kubernetes"]["kubelet"]["maxPods"].as_i64());
    groups.fold(own, i64::max)
}

/// Whether a Shoot does without the admission plugin `PodSecurityPolicy`.
pub(super) fn has_no_pod_security_policy(shoot: &Value) -> bool {
    let mut plugins = list(shoot, "/spec/kubernetes/kubeAPIServer/admissionPlugins").iter();
    plugins.any(|plugin| plugin["name"] == "PodSecurityPolicy" && plugin["disabled"] == true)
}

/// The scenario of all Shoots to come, if there is one.
fn default_scenario(write: &mut Admission<'_>) {
    let inside = namespace(write.object).to_owned();
    let Some(defaults) = write.find("configmaps", &inside, SCENARIO_DEFAULTS) else { return };
    let Some(scenario) = defaults["data"]["shoots"].as_str().filter(|text| !text.is_empty()) else {
        return;
    };
    if annotation(write.object, SCENARIO).is_none() {
        let metadata = &mut write.object["metadata"];
        if matches!(metadata["annotations"], Value::Object(_) | Value::Null) {
            metadata["annotations"][SCENARIO] = json!(scenario);
        }
    }
}

fn domain(write: &Admission<'_>, settings: &Settings) -> Option<String> {
    let shoot = &*write.object;
    let scheduled = write.old.is_some_and(|old| text(old, "/spec/seedName").is_some());
    let late =
        scheduled || Scenario::parse(annotation(shoot, SCENARIO).unwrap_or_default()).domain_late;
    (!late).then(|| settings.domain_of(name(shoot)))
}

/// Workers without an image keep theirs, or get the newest.
fn images(profile: &Value, old: Option<&Value>, object: &mut Value, now: Timestamp) {
    let newest = list(profile, "/spec/machineImages").first().and_then(|image| {
        Some(json!({"name": image["name"], "version": image::newest(image, now)?}))
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
        let version = of.and_then(|image| image::newest(image, now));
        if let Some(version) = version.filter(|_| text(worker, "/machine/image/version").is_none())
        {
            worker["machine"]["image"]["version"] = json!(version);
        }
    }
}

/// Sets the value at a path unless there is one; maps on the way are made, and `*` is every item of a list.
pub(super) fn set_missing(object: &mut Value, path: &str, value: &Value) {
    let path = path.trim_start_matches('/');
    if path.is_empty() {
        if object.is_null() {
            *object = value.clone();
        }
        return;
    }
    let (key, rest) = path.split_once('/').unwrap_or((path, ""));
    if key == "*" {
        let items = object.as_array_mut();
        return items.into_iter().flatten().for_each(|item| set_missing(item, rest, value));
    }
    // Only where the way goes on: an index makes a null of what is missing.
    let is_list = rest.starts_with('*') && !object[key].is_array();
    if matches!(object, Value::Object(_) | Value::Null) && !is_list {
        set_missing(&mut object[key], rest, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::garden::{admission::types, schema};

    /// A Shoot with its defaults, also those that are filled in only where the object around them is there.
    fn filled(gardener: Version, release: &str) -> Value {
        let mut shoot = json!({"spec": {
            "cloudProfileName": "aws",
            "kubernetes": {"version": release, "clusterAutoscaler": {}, "verticalPodAutoscaler": {}},
            "provider": {"workers": [{}]},
        }});
        names_of_profile(&mut shoot, gardener);
        maintenance(None, &mut shoot, gardener);
        kubernetes(&mut shoot, gardener);
        table::fill(&mut shoot, gardener);
        shoot
    }

    #[test]
    fn every_default_is_a_field_of_its_version_and_of_its_form() {
        for minor in 65..=149 {
            let gardener: Version = format!("1.{minor}").parse().unwrap();
            let form = schema::shoot(gardener);
            for release in ["1.18.4", "1.31.4"] {
                let (mut shoot, mut unknown) = (filled(gardener, release), Vec::new());
                assert_eq!(types::mistyped(&form, &shoot, ""), None, "{gardener}, {release}");
                form.prune(&mut shoot, "", &mut unknown);
                assert!(unknown.is_empty(), "{gardener}, {release}: {unknown:?}");
            }
        }
    }
}
