//! The account of a Shoot: there is exactly one, it exists, and it is of the same provider.

use std::sync::Arc;

use cluster::{Admission, Cause, Status, Verb};
use serde_json::{Value, json};

use super::{list, name, namespace, text};
use crate::garden::{kinds, shoot::FINALIZER, version::Version};

/// Which binding a Shoot names: the field, the kind, the name.
pub(super) fn named(shoot: &Value) -> Option<(&'static str, &'static str, &str)> {
    let secret = text(shoot, "/spec/secretBindingName");
    let credentials = text(shoot, "/spec/credentialsBindingName");
    secret.map(|name| ("spec.secretBindingName", kinds::SECRET_BINDINGS, name)).or_else(|| {
        credentials.map(|name| ("spec.credentialsBindingName", kinds::CREDENTIALS_BINDINGS, name))
    })
}

/// The binding of a Shoot.
pub(super) fn of(write: &Admission<'_>, shoot: &Value) -> Option<Arc<Value>> {
    let (_, kind, name) = named(shoot)?;
    write.find(kind, namespace(shoot), name)
}

/// Refuses a Shoot without a usable account.
pub(super) fn check(write: &Admission<'_>, gardener: Version) -> Result<(), Status> {
    let shoot = &*write.object;
    let invalid = |cause| Err(Status::invalid(write.kind, name(shoot), &[cause]));
    let forbidden = |why: &str| Err(Status::forbidden(write.kind, name(shoot), why));
    let both = text(shoot, "/spec/secretBindingName").is_some()
        && text(shoot, "/spec/credentialsBindingName").is_some();
    if both {
        let why = "is incompatible with credentialsBindingName";
        return invalid(Cause::forbidden("spec.secretBindingName", why));
    }
    let newer = gardener >= Version::V1_117;
    let Some((_, kind, binding)) = named(shoot) else {
        let missing = r#"secretbinding.core.gardener.cloud "" not found"#;
        let is_empty = shoot["spec"]["secretBindingName"] == "";
        if newer && list(shoot, "/spec/provider/workers").is_empty() {
            return Ok(());
        }
        if newer && !is_empty {
            let why = "must be set when credentialsBindingName is not";
            return invalid(Cause::required("spec.secretBindingName", why));
        }
        if newer || write.old.is_some() {
            return forbidden(missing);
        }
        let why = format!("could not find referenced secret binding: {missing}");
        return Err(Status::internal(why));
    };
    // A Shoot outlives the rules of its binding; only what changes is asked for again.
    if write.old.is_some_and(|old| named(old) == named(shoot)) {
        return Ok(());
    }
    let word = if kind == kinds::SECRET_BINDINGS {
        "secretbinding.core.gardener.cloud"
    } else {
        "credentialsbinding.security.gardener.cloud"
    };
    let Some(found) = write.find(kind, namespace(shoot), binding) else {
        return forbidden(&format!("{word} {binding:?} not found"));
    };
    let before = write.old.and_then(|old| of(write, old));
    let moves_away = before.filter(|_| kind == kinds::CREDENTIALS_BINDINGS).is_some_and(|before| {
        !before["secretRef"].is_null()
            && !is_same_secret(&before["secretRef"], &found["credentialsRef"])
    });
    if moves_away {
        return forbidden(
            "it is not allowed to change the referenced Secret when migrating from SecretBindingName to \
             CredentialsBindingName",
        );
    }
    Ok(())
}

/// Whether what a `CredentialsBinding` refers to is the Secret of a `SecretBinding`.
fn is_same_secret(secret: &Value, credentials: &Value) -> bool {
    let same = |key: &str| secret[key] == credentials[key];
    credentials["kind"] == "Secret" && same("namespace") && same("name")
}

/// Names a binding of another provider. Older Gardeners look at it when a Shoot is made.
pub(super) fn same_provider(write: &Admission<'_>, gardener: Version, causes: &mut Vec<Cause>) {
    let shoot = &*write.object;
    if write.old.is_some() && gardener < Version::V1_117 {
        return;
    }
    let (Some((_, kind, _)), Some(found)) = (named(shoot), of(write, shoot)) else { return };
    let wanted = text(shoot, "/spec/provider/type").unwrap_or_default();
    let offered = text(&found, "/provider/type").unwrap_or_default();
    // Gardener allows several types in one binding, separated by commas.
    if !offered.split(',').any(|one| one.trim() == wanted) {
        let word =
            if kind == kinds::SECRET_BINDINGS { "SecretBinding" } else { "CredentialsBinding" };
        let why = format!(
            "provider type in shoot must match provider type of referenced {word}: {offered:?}"
        );
        causes.push(Cause::invalid("spec.provider.type", wanted, &why));
    }
}

/// Holds a binding that Shoots are paid from: it goes with the last of them.
pub(super) fn hold(write: &mut Admission<'_>) {
    if write.verb != Verb::Delete {
        return;
    }
    let (kind, binding) = (write.kind.resource(), name(write.object));
    let shoots = write.list(kinds::SHOOTS, Some(namespace(write.object)));
    let is_used = shoots
        .iter()
        .any(|shoot| named(shoot).is_some_and(|(_, of, name)| of == kind && name == binding));
    if is_used {
        let mut held = list(write.object, "/metadata/finalizers").to_vec();
        if !held.iter().any(|one| one == FINALIZER) {
            held.push(json!(FINALIZER));
        }
        write.object["metadata"]["finalizers"] = Value::Array(held);
    }
}
