//! The provisioner's error codes.
//!
//! What a reader would get wrong: a runtime that is busy is refused with the number of a bad request, and only the
//! text tells it from one that will never be accepted. Nor is there a number for an argument that the provisioner's schema
//! does not have.

use crate::{error::Kind, graphql::Refusal};

const NOT_FOUND: &str = "err_db_not_found";
const BUSY: &str = "while previous one is in progress";

/// The code for the refusal of an argument that came with later versions.
pub(super) const UNKNOWN_ARGUMENT: &str = "unknown_argument";

/// The kind of failure, and the provisioner's word for it.
pub(super) fn meaning(refusal: &Refusal<'_>) -> (Kind, Box<str>) {
    if refusal.code.is_none() && refusal.message.starts_with("Unknown argument ") {
        return (Kind::Refused { status: 400 }, UNKNOWN_ARGUMENT.into());
    }
    let kind = match refusal.code {
        _ if refusal.reason == NOT_FOUND => Kind::NotFound,
        Some(400) if refusal.message.contains(BUSY) => Kind::Busy,
        Some(code @ 400..500) => Kind::Refused { status: u16::try_from(code).unwrap_or(400) },
        // Its database, Gardener, the Director: all of that may pass.
        _ => Kind::Unavailable,
    };
    let reason = if refusal.reason.is_empty() { kind.code() } else { refusal.reason };
    (kind, reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_whether_trying_again_can_help() {
        let of = |code, reason, message| meaning(&Refusal { code, reason, message }).0;
        let busy = "cannot start new operation for r Runtime while previous one is in progress";

        assert_eq!(of(Some(2), NOT_FOUND, "no"), Kind::NotFound);
        assert_eq!(of(Some(400), "err_provisioner_internal", busy), Kind::Busy);
        for code in [400, 403, 499] {
            let status = u16::try_from(code).unwrap();
            assert_eq!(of(Some(code), "", "no"), Kind::Refused { status });
        }
        let unknown =
            "Unknown argument \"supersede\" on field \"deprovisionRuntime\" of type \"Mutation\".";
        assert_eq!(of(None, "", unknown), Kind::Refused { status: 400 });
        for code in [None, Some(1), Some(2), Some(3), Some(500), Some(501), Some(502), Some(-1)] {
            assert_eq!(of(code, "", busy), Kind::Unavailable, "{code:?}");
        }
    }
}
