//! The door: a signature that names a known key, this service, a region and the present time.
//!
//! The signature itself is not computed again: keys that are known by name have no secret here.

use axum::http::{HeaderMap, header::AUTHORIZATION};
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

use super::{Aws, answers::Refusal};

/// How far a request's time may be off, in seconds.
const SKEW: i64 = 15 * 60;

/// The caller, and the region.
pub(super) struct Visitor {
    pub(super) key: String,
    pub(super) region: String,
}

impl Aws {
    pub(super) fn enter(&self, headers: &HeaderMap) -> Result<Visitor, Refusal> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let header = header.ok_or_else(|| {
            Refusal::new(
                400,
                "MissingAuthenticationToken",
                "Request is missing Authentication Token",
            )
        })?;
        let incomplete = || {
            Refusal::new(
                400,
                "IncompleteSignature",
                "The request signature does not conform to AWS standards",
            )
        };
        let parts = header.strip_prefix("AWS4-HMAC-SHA256 ").ok_or_else(incomplete)?;
        let part = |name: &str| {
            let mut parts = parts.split(", ");
            parts.find_map(|part| part.strip_prefix(name)?.strip_prefix('=')).ok_or_else(incomplete)
        };
        let (credential, names, signature) =
            (part("Credential")?, part("SignedHeaders")?, part("Signature")?);
        let scope: Vec<&str> = credential.split('/').collect();
        let [key, date, region, "ec2", "aws4_request"] = scope.as_slice() else {
            return Err(incomplete());
        };
        let signed =
            ["host", "x-amz-date"].iter().all(|name| names.split(';').any(|it| it == *name));
        let hexadecimal = signature.len() == 64 && signature.chars().all(|c| c.is_ascii_hexdigit());
        if !signed || !hexadecimal {
            return Err(incomplete());
        }
        let at = text("x-amz-date").filter(|at| at.starts_with(date)).ok_or_else(incomplete)?;
        let off = time(at).ok_or_else(incomplete)?.as_second() - self.clock.now().as_second();
        if off.abs() > SKEW {
            return Err(Refusal::new(400, "RequestExpired", "Request has expired."));
        }
        self.known.read(|known| {
            let unknown = !known.keys.is_empty() && !known.keys.contains(*key);
            if unknown || known.refused_keys.contains(*key) {
                let said = "AWS was not able to validate the provided access credentials";
                return Err(Refusal::new(401, "AuthFailure", said));
            }
            Ok(())
        })?;
        Ok(Visitor { key: (*key).into(), region: (*region).into() })
    }
}

fn time(text: &str) -> Option<Timestamp> {
    let civil = DateTime::strptime("%Y%m%dT%H%M%SZ", text).ok()?;
    civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}
