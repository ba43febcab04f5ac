//! The domain of a Shoot: no two of a garden have the same, or one below the other's.

use cluster::{Admission, Cause};

use super::{name, namespace, text};
use crate::garden::kinds;

const PATH: &str = "/spec/dns/domain";
const FIELD: &str = "spec.dns.domain";

/// Names a domain that another Shoot has. Looked at when it is set: it is never changed.
pub(super) fn taken(write: &Admission<'_>, causes: &mut Vec<Cause>) {
    let shoot = &*write.object;
    let Some(wanted) = text(shoot, PATH) else { return };
    if write.old.and_then(|old| text(old, PATH)) == Some(wanted) {
        return;
    }
    for other in write.list(kinds::SHOOTS, None) {
        if name(&other) == name(shoot) && namespace(&other) == namespace(shoot) {
            continue;
        }
        let Some(used) = text(&other, PATH) else { continue };
        if used == wanted {
            let (field, message) = (FIELD.to_owned(), format!("Duplicate value: {wanted:?}"));
            causes.push(Cause { reason: "FieldValueDuplicate", field, message });
            return;
        }
        if is_below(used, wanted) || is_below(wanted, used) {
            let why = "the domain is already used by another shoot or it is a subdomain of an already used domain";
            causes.push(Cause::forbidden(FIELD, why));
            return;
        }
    }
}

fn is_below(domain: &str, other: &str) -> bool {
    domain.strip_suffix(other).is_some_and(|rest| rest.ends_with('.'))
}
