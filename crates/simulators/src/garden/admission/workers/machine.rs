//! Machine types and images of one group of machines, as far as the profile offers them.

use cluster::Cause;
use jiff::Timestamp;
use serde_json::Value;

use super::super::{image, list, text, unsupported};
use crate::garden::version::Version;

/// The processors that Gardener knows.
const ARCHITECTURES: [&str; 2] = ["amd64", "arm64"];

/// What a profile offers, to a Gardener of this version at this time.
pub(super) struct Offer<'a> {
    pub(super) profile: &'a Value,
    pub(super) gardener: Version,
    pub(super) now: Timestamp,
}

impl Offer<'_> {
    /// Names machine types and images that there are not, in the words of each version. A pool keeps the machines and the
    /// image that it had `before`, also those that the profile has not any more.
    pub(super) fn check(
        &self,
        worker: &Value,
        before: Option<&Value>,
        field: &str,
        causes: &mut Vec<Cause>,
    ) {
        let same =
            |key: &str| before.is_some_and(|one| one["machine"][key] == worker["machine"][key]);
        let same_machine = same("type") && same("architecture");
        let same_runtimes =
            same("image") && before.is_some_and(|before| before["cri"] == worker["cri"]);
        if !same_machine {
            self.types(worker, field, causes);
        }
        if !same_runtimes {
            runtimes(worker, field, causes);
        }
        if text(worker, "/updateStrategy").is_some_and(|strategy| strategy.contains("InPlace")) {
            let why = "machine image version does not support in-place updates";
            causes.push(Cause::invalid(format!("{field}.machine.image"), "", why));
        }
        if !same_machine {
            runs_on(self.profile, worker, field, causes);
        }
        if !same_runtimes {
            has_runtime(self.profile, worker, field, causes);
        }
        if !(same("image") && same("architecture")) {
            self.images(worker, before, field, causes);
        }
    }

    fn types(&self, worker: &Value, field: &str, causes: &mut Vec<Cause>) {
        let (profile, older) = (self.profile, self.gardener < Version::V1_117);
        let usable =
            list(profile, "/spec/machineTypes").iter().filter(|one| one["usable"] != false);
        let types: Vec<&str> = usable.filter_map(|one| one["name"].as_str()).collect();
        let machine = text(worker, "/machine/type").unwrap_or_default();
        if !types.contains(&machine) {
            let at = format!("{field}.machine.type");
            let architecture = worker["machine"]["architecture"].as_str().unwrap_or("amd64");
            let why = format!(
                "machine type '{machine}' does not support CPU architecture '{architecture}' or is unavailable in at least \
                 one zone, supported types are [{}]",
                types.join(" ")
            );
            causes.push(if older {
                Cause::invalid(at, machine, &why)
            } else {
                unsupported(at, machine, types)
            });
        }
    }

    fn images(&self, worker: &Value, before: Option<&Value>, field: &str, causes: &mut Vec<Cause>) {
        let older = self.gardener < Version::V1_117;
        if worker["machine"]["image"].is_null() {
            return;
        }
        let name = text(worker, "/machine/image/name").unwrap_or_default();
        let version = text(worker, "/machine/image/version").unwrap_or_default();
        let all = list(self.profile, "/spec/machineImages").iter();
        let images: Vec<&Value> = all.filter(|one| one["name"] == name).collect();
        // An expired version may still be the way up for machines that are older.
        let had = before.and_then(|one| text(one, "/machine/image/version"));
        let is_way_up = had.is_some_and(|had| !image::is_lower(version, had));
        let mut versions = images.iter().flat_map(|one| list(one, "/versions"));
        let found = versions.find(|one| one["version"] == version);
        let architecture = text(worker, "/machine/architecture").unwrap_or("amd64");
        // Newer Gardeners are content to name the machine.
        let fits = |one: &Value| {
            !older || !ARCHITECTURES.contains(&architecture) || image::runs_on(one, architecture)
        };
        if found.is_some_and(|one| fits(one) && (is_way_up || image::is_offered(one, self.now))) {
            return;
        }
        let is_whole = version.split('.').filter(|part| part.parse::<u64>().is_ok()).count() == 3;
        if !older && !name.is_empty() && (images.is_empty() || !is_whole) {
            causes.push(Cause::invalid(field, name, "image is not supported"));
            return;
        }
        let why = match (older, found) {
            (true, _) => format!(
                "machine image '&{{{name} nil {version}}}' does not support CPU architecture '{architecture}', is expired \
                 or does not match kubelet version constraint"
            ),
            (false, None) => "machine image version is not supported".to_owned(),
            (false, Some(_)) => "machine image version is expired".to_owned(),
        };
        let shown = format!("core.ShootMachineImage{{Name:{name:?}, Version:{version:?}}}");
        causes.push(Cause::invalid(format!("{field}.machine.image"), &shown, &why));
    }
}

/// No image of this garden has other runtimes for containers.
fn runtimes(worker: &Value, field: &str, causes: &mut Vec<Cause>) {
    for (place, one) in list(worker, "/cri/containerRuntimes").iter().enumerate() {
        let kind = text(one, "/type").unwrap_or_default();
        let why = format!(
            "machine image does not support container runtime '{kind}', supported values: []"
        );
        let at = format!("{field}.cri.containerRuntimes[{place}].type");
        causes.push(Cause::invalid(at, kind, &why));
    }
}

/// Whether the machine has the processor that is wanted.
fn runs_on(profile: &Value, worker: &Value, field: &str, causes: &mut Vec<Cause>) {
    let architecture = worker["machine"]["architecture"].as_str().unwrap_or("amd64");
    let machine = text(worker, "/machine/type");
    let types = list(profile, "/spec/machineTypes").iter();
    let other = |one: &&Value| one["architecture"].as_str().unwrap_or("amd64") != architecture;
    let known = ARCHITECTURES.contains(&architecture);
    if let Some(found) = types.filter(|one| one["name"].as_str() == machine).find(other)
        && known
    {
        let name = found["name"].as_str().unwrap_or_default();
        let why = format!(
            "machine type '{name}' does not support CPU architecture '{architecture}' or is unavailable in at least one zone"
        );
        causes.push(Cause::invalid(format!("{field}.machine.type"), name, &why));
    }
}

/// Whether the image has the runtime for containers that is wanted.
fn has_runtime(profile: &Value, worker: &Value, field: &str, causes: &mut Vec<Cause>) {
    let (image, version) =
        (text(worker, "/machine/image/name"), text(worker, "/machine/image/version"));
    let images = list(profile, "/spec/machineImages").iter();
    let images = images.filter(|one| one["name"].as_str() == image);
    let found = images.flat_map(|one| list(one, "/versions"));
    let found =
        found.filter(|one| one["version"].as_str() == version).find(|one| !one["cri"].is_null());
    if let (Some(found), Some(wanted)) =
        (found, worker["cri"].is_object().then(|| text(worker, "/cri/name").unwrap_or_default()))
    {
        let offered: Vec<&str> =
            list(found, "/cri").iter().filter_map(|one| one["name"].as_str()).collect();
        if !offered.contains(&wanted) {
            let (image, version) = (image.unwrap_or_default(), version.unwrap_or_default());
            let why = format!(
                "machine image '{image}@{version}' does not support CRI '{wanted}', supported values: [{}]",
                offered.join(" ")
            );
            causes.push(Cause::invalid(format!("{field}.cri.name"), wanted, &why));
        }
    }
}
