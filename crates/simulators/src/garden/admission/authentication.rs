//! Who vouches for the users of a Shoot: `oidcConfig`, or a `ConfigMap` named in `structuredAuthentication`.

pub(super) mod oidc;

use cluster::{Admission, Cause, Status};
use serde_json::Value;

use super::{name, namespace, operation, text, version};
use crate::garden::version::Version;

const SERVER: &str = "/spec/kubernetes/kubeAPIServer";
const FIELD: &str = "spec.kubernetes.kubeAPIServer";
/// The first Gardener that refuses `oidcConfig` for new versions of Kubernetes.
const REFUSES_OIDC: u32 = 107;
/// The first Gardener that refuses the older names of profile and binding for new versions of Kubernetes.
const REFUSES_OLD_NAMES: u32 = 136;

/// Refuses a Shoot whose `ConfigMap` is not there, or is not named. Asked only when the reference changes.
pub(super) fn reference(write: &Admission<'_>) -> Result<(), Status> {
    let path = format!("{SERVER}/structuredAuthentication");
    let config = |shoot: &Value| shoot.pointer(&path).filter(|config| !config.is_null()).cloned();
    let Some(wanted) = config(write.object) else { return Ok(()) };
    if write.old.and_then(config).is_some_and(|old| old == wanted) {
        return Ok(());
    }
    let why = match text(&wanted, "/configMapName") {
        None => "resource name may not be empty".to_owned(),
        Some(name) if write.find("configmaps", namespace(write.object), name).is_some() => {
            return Ok(());
        }
        Some(name) => format!("configmaps {name:?} not found"),
    };
    let why = format!("failed to resolve structured authentication config map reference: {why}");
    Err(Status::forbidden(write.kind, name(write.object), &why))
}

/// Whether `oidcConfig` is refused as a whole for the version of Kubernetes.
fn is_too_late(shoot: &Value, gardener: Version) -> bool {
    let kubernetes = text(shoot, "/spec/kubernetes/version").and_then(version::parts);
    gardener.minor() >= REFUSES_OIDC && kubernetes.is_some_and(|version| version >= (1, 32, 0))
}

/// Names what does not fit the version of Kubernetes.
pub(super) fn check(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let kubernetes = text(shoot, "/spec/kubernetes/version").and_then(version::parts);
    let at_least = |minor: u32| kubernetes.is_some_and(|version| version >= (1, minor, 0));
    let there =
        |field: &str| shoot.pointer(&format!("{SERVER}/{field}")).is_some_and(|v| !v.is_null());
    let (oidc, structured) = (there("oidcConfig"), there("structuredAuthentication"));
    if oidc && is_too_late(shoot, gardener) {
        let why = "for Kubernetes versions >= 1.32, oidcConfig field is no longer supported";
        causes.push(Cause::invalid(format!("{FIELD}.oidcConfig"), "core.OIDCConfig{…}", why));
    }
    if structured && oidc {
        let why = "is incompatible with structuredAuthentication";
        causes.push(Cause::forbidden(format!("{FIELD}.oidcConfig"), why));
    }
    if structured && !at_least(30) {
        let why = "is available for Kubernetes versions >= v1.30";
        causes.push(Cause::forbidden(format!("{FIELD}.structuredAuthentication"), why));
    }
    if structured
        && shoot.pointer(SERVER).is_some_and(|server| {
            server["featureGates"]["StructuredAuthenticationConfiguration"] == false
        })
    {
        let why = "requires feature gate StructuredAuthenticationConfiguration to be enabled";
        causes.push(Cause::forbidden(format!("{FIELD}.structuredAuthentication"), why));
    }
    if !at_least(34) || gardener.minor() < REFUSES_OLD_NAMES {
        return;
    }
    let old_names = [
        ("secretBindingName", "versions", "credentialsBindingName"),
        ("cloudProfileName", "version", "cloudProfile.name"),
    ];
    for (old, word, new) in old_names {
        if text(shoot, &format!("/spec/{old}")).is_some() {
            let why = format!(
                "for Kubernetes {word} >= 1.34, {old} field is no longer supported, use spec.{new} instead"
            );
            causes.push(Cause::forbidden(format!("spec.{old}"), &why));
        }
    }
}

/// Gardener warns of static tokens. Newer ones warn of the field and do not store it; it counts as a change all the same.
pub(super) fn static_token(write: &mut Admission<'_>, gardener: Version) {
    let key = "enableStaticTokenKubeconfig";
    if gardener < Version::V1_117 {
        if write.object["spec"]["kubernetes"][key] == true {
            let text = "you should consider disabling the static token kubeconfig, see \
                        https://github.com/gardener/gardener/blob/master/docs/usage/shoot_access.md for details";
            write.warnings.push(text.to_owned());
        }
        return;
    }
    let kubernetes = write.object.pointer_mut("/spec/kubernetes").and_then(Value::as_object_mut);
    let sent = kubernetes.and_then(|kubernetes| kubernetes.shift_remove(key));
    if sent.is_none_or(|sent| sent.is_null()) {
        return;
    }
    let text = "you are setting the spec.kubernetes.enableStaticTokenKubeconfig field. The field is deprecated and will be \
                removed in Gardener v1.120. Please adapt your machinery to no longer set this field";
    write.warnings.push(text.to_owned());
    write.new_generation |=
        write.old.is_some_and(|old| old["spec"]["kubernetes"].get(key).is_none())
            && !operation::is_confined(write.object);
}
