//! The Director's error codes.

use crate::{error::Kind, graphql::Refusal};

/// The kind of failure behind a refusal, and the Director's name for it.
pub(super) fn of(refusal: &Refusal<'_>) -> (Kind, Box<str>) {
    let (kind, name) = meaning(refusal.code);
    (kind, name.into())
}

/// The kind of failure behind a code, and the Director's name for it.
fn meaning(code: Option<i64>) -> (Kind, &'static str) {
    let refused = Kind::Refused { status: 400 };
    match code {
        Some(10) => (Kind::Unavailable, "InternalError"),
        Some(11) => (Kind::Unavailable, "UnknownError"),
        Some(20) => (Kind::NotFound, "NotFound"),
        Some(21) => (Kind::AlreadyExists, "NotUnique"),
        Some(22) => (refused, "InvalidData"),
        Some(23) => (Kind::Unauthorized, "InsufficientScopes"),
        Some(24) => (refused, "TenantRequired"),
        Some(25) => (refused, TENANT_NOT_FOUND),
        Some(26) => (Kind::Unauthorized, "Unauthorized"),
        Some(27) => (refused, "InvalidOperation"),
        // Newer ones are about timing (28, 32, 35, 38) or nothing that we could do about.
        _ => (Kind::Unavailable, "Unrecognised"),
    }
}

/// The tenant is gone, and with it all its runtimes.
pub(super) const TENANT_NOT_FOUND: &str = "TenantNotFound";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_whether_trying_again_can_help() {
        let retried = [None, Some(10), Some(11), Some(23), Some(26), Some(28), Some(409)];
        let final_ones = [20, 21, 22, 24, 25, 27].map(Some);

        assert!(retried.iter().all(|code| meaning(*code).0.is_retryable()));
        assert!(final_ones.iter().all(|code| !meaning(*code).0.is_retryable()));
    }
}
