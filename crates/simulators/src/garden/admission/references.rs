//! What a Shoot names outside of itself: Secrets, `ConfigMaps`, extensions and tolerations. Gardener refuses what it does
//! not have with 403, and looks only at what a write changes.

use cluster::{Admission, Status};
use serde_json::Value;

use super::{annotation, list, name, namespace, text};
use crate::garden::{SCENARIO, kinds, scenario::Scenario, version::Version};

/// The types of `spec.extensions` that are registered in this garden.
const EXTENSIONS: &[&str] =
    &["shoot-cert-service", "shoot-dns-service", "shoot-networking-filter", "shoot-oidc-service"];
/// The types of networks that are.
const NETWORKS: &[&str] = &["calico", "cilium"];

/// Refuses a Shoot that names a Secret or a `ConfigMap` which the garden does not have.
pub(super) fn check(write: &Admission<'_>, gardener: Version) -> Result<(), Status> {
    refuse(write, secrets(write, gardener))
}

/// Refuses a Shoot with types or tolerations that the garden does not have. Gardener looks at these after the static
/// rules.
pub(super) fn registered(write: &Admission<'_>) -> Result<(), Status> {
    refuse(write, types(write).or_else(|| tolerations(write)))
}

fn refuse(write: &Admission<'_>, why: Option<String>) -> Result<(), Status> {
    why.map_or(Ok(()), |why| Err(Status::forbidden(write.kind, name(write.object), &why)))
}

fn changed(write: &Admission<'_>, path: &str) -> bool {
    write.old.is_none_or(|old| old.pointer(path) != write.object.pointer(path))
}

fn secrets(write: &Admission<'_>, gardener: Version) -> Option<String> {
    let shoot = &*write.object;
    let older = gardener < Version::V1_117;
    let is_missing =
        |plural: &str, named: &str| write.find(plural, namespace(shoot), named).is_none();
    if changed(write, "/spec/dns/providers") {
        let named = list(shoot, "/spec/dns/providers").iter();
        let lost = named.filter_map(|one| text(one, "/secretName"));
        if let Some(lost) = lost.into_iter().find(|named| is_missing("secrets", named)) {
            let doing = if older {
                "failed to reference DNS provider secret"
            } else {
                "failed to resolve DNS provider secret reference:"
            };
            return Some(format!("{doing} secrets {lost:?} not found"));
        }
    }
    if !changed(write, "/spec/resources") {
        return None;
    }
    let word = if older { "shoot resource" } else { "resource" };
    list(shoot, "/spec/resources").iter().find_map(|resource| {
        let said = |key: &str| text(&resource["resourceRef"], key).unwrap_or_default();
        let (version, kind, named) = (said("/apiVersion"), said("/kind"), said("/name"));
        let own = text(resource, "/name").unwrap_or_default();
        let plural = match (version, kind) {
            ("", _) => return Some("groupVersion shouldn't be empty".to_owned()),
            ("v1", "Secret") => "secrets",
            ("v1", "ConfigMap") => "configmaps",
            _ => {
                return Some(format!(
                    "{word} reference {own:?} could not be resolved for API resource with version {version:?} and \
                     kind {kind:?}"
                ));
            }
        };
        if named.is_empty() {
            return Some(format!("failed to resolve {word} reference {own:?}: name is required"));
        }
        is_missing(plural, named).then(|| {
            format!("failed to resolve {word} reference {own:?}: {plural} {named:?} not found")
        })
    })
}

fn types(write: &Admission<'_>) -> Option<String> {
    let shoot = &*write.object;
    let mut unknown = Vec::new();
    let mut look = |word: &str, field: String, kind: Option<&str>, known: &[&str]| {
        if let Some(kind) = kind.filter(|kind| !known.contains(kind)) {
            unknown.push(format!(
                "\t* given Shoot uses non-registered {word} type: {field} ({kind:?})"
            ));
        }
    };
    if changed(write, "/spec/extensions") {
        for (place, one) in list(shoot, "/spec/extensions").iter().enumerate() {
            let field = format!("spec.extensions[{place}].type");
            look("extension", field, text(one, "/type"), EXTENSIONS);
        }
    }
    if changed(write, "/spec/networking/type") {
        let kind = text(shoot, "/spec/networking/type");
        look("networking", "spec.networking.type".to_owned(), kind, NETWORKS);
    }
    let plural = if unknown.len() == 1 { "error" } else { "errors" };
    (!unknown.is_empty())
        .then(|| format!("{} {plural} occurred:\n{}\n\n", unknown.len(), unknown.join("\n")))
}

/// No project of this garden may use Seeds with taints.
fn tolerations(write: &Admission<'_>) -> Option<String> {
    let none = list(write.object, "/spec/tolerations").is_empty();
    if none || !changed(write, "/spec/tolerations") {
        return None;
    }
    let each = list(write.object, "/spec/tolerations").iter().enumerate().map(|(place, _)| {
        format!(
            "spec.tolerations[{place}]: Forbidden: only the following tolerations are allowed: []"
        )
    });
    let each: Vec<String> = each.collect();
    Some(format!("error while validating tolerations against allowlist: [{}]", each.join(", ")))
}

/// Refuses another Seed: a Shoot moves by its subresource `binding` alone.
pub(super) fn seed(write: &Admission<'_>, gardener: Version) -> Result<(), Status> {
    let path = "/spec/seedName";
    let Some(before) = write.old.and_then(|old| text(old, path)) else { return Ok(()) };
    let now = text(write.object, path);
    if now == Some(before) {
        return Ok(());
    }
    let by_binding = "by patching the shoot, please use the shoots/binding subresource";
    let why = match now {
        _ if gardener < Version::V1_117 => format!("spec.seedName cannot be changed {by_binding}"),
        Some(now) => format!("spec.seedName '{before}' cannot be changed to '{now}' {by_binding}"),
        None => {
            format!("spec.seedName is already set to '{before}' and cannot be changed to 'nil'")
        }
    };
    Err(Status::forbidden(write.kind, name(write.object), &why))
}

/// Refuses a Seed that is not wide enough for the control plane.
pub(super) fn zones_of_seed(write: &Admission<'_>) -> Result<(), Status> {
    let shoot = &*write.object;
    let tolerance = "/spec/controlPlane/highAvailability/failureTolerance/type";
    let Some(named) = text(shoot, "/spec/seedName") else { return Ok(()) };
    if text(shoot, tolerance) != Some("zone") {
        return Ok(());
    }
    let Some(seed) = write.find(kinds::SEEDS, "", named) else { return Ok(()) };
    let zones = list(&seed, "/spec/provider/zones").len();
    if zones >= 3 {
        return Ok(());
    }
    let name = name(shoot);
    let why = format!(
        "cannot schedule shoot '{name}' with failure tolerance of zone on seed '{named}' with only {zones} zones, at \
         least 3 zones are required"
    );
    Err(Status::forbidden(write.kind, name, &why))
}

/// Refuses to let a Shoot go before its cluster is gone.
pub(super) fn finalizer(write: &Admission<'_>) -> Result<(), Status> {
    let has = |shoot: &Value| list(shoot, "/metadata/finalizers").iter().any(|it| it == "gardener");
    let Some(old) = write.old.filter(|old| has(old) && !has(write.object)) else { return Ok(()) };
    let last = &old["status"]["lastOperation"];
    let scenario = Scenario::parse(annotation(old, SCENARIO).unwrap_or_default());
    let may_disappear = scenario.disappear.is_some();
    if may_disappear || last["type"] == "Delete" && last["state"] == "Succeeded" {
        return Ok(());
    }
    let why = "finalizer \"gardener\" cannot be removed because shoot deletion has not completed successfully yet";
    Err(Status::forbidden(write.kind, name(write.object), why))
}
