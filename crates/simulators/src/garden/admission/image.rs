//! Machine images: which versions of one can be had, and which is the newest of them.

use cluster::{Admission, Status};
use jiff::Timestamp;
use serde_json::Value;

use super::{list, profile, text};
use crate::garden::version::Version;

/// Refuses an image that the profile does not have and whose version is left out: Gardeners before 1.117 fail to complete
/// it.
pub(super) fn complete(write: &Admission<'_>, gardener: Version) -> Result<(), Status> {
    let Some(profile) = profile::of(write).filter(|_| gardener < Version::V1_117) else {
        return Ok(());
    };
    let workers = list(write.object, "/spec/provider/workers").iter();
    let images = workers.filter_map(|worker| worker.pointer("/machine/image"));
    let mut open = images.filter(|image| text(image, "/version").is_none());
    let is_known = |name: &str| {
        list(&profile, "/spec/machineImages").iter().any(|image| image["name"] == name)
    };
    let lost = open.find_map(|image| text(image, "/name").filter(|name| !is_known(name)));
    lost.map_or(Ok(()), |name| {
        Err(Status::new(500, "InternalError", format!("image name {name:?} is not supported")))
    })
}

/// Whether a version of an image, or of Kubernetes, has not expired.
pub(super) fn is_offered(version: &Value, now: Timestamp) -> bool {
    let until = text(version, "/expirationDate").and_then(|until| until.parse().ok());
    until.is_none_or(|until: Timestamp| until > now)
}

/// Whether a version of an image is there for a processor.
pub(super) fn runs_on(version: &Value, architecture: &str) -> bool {
    let offered = list(version, "/architectures");
    if offered.is_empty() {
        return architecture == "amd64";
    }
    offered.iter().any(|one| one == architecture)
}

/// The highest version of an image that has not expired and is no preview.
pub(super) fn newest(image: &Value, now: Timestamp) -> Option<&str> {
    let versions = list(image, "/versions").iter();
    let offered = versions
        .filter(|one| is_offered(one, now) && one["classification"] != "preview")
        .filter_map(|one| text(one, "/version"));
    offered.max_by_key(|version| numbers(version))
}

/// Whether a version is lower than another.
pub(super) fn is_lower(version: &str, than: &str) -> bool {
    numbers(version) < numbers(than)
}

fn numbers(version: &str) -> Vec<u64> {
    version.split(['.', '-']).map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_newest_is_the_highest_that_is_neither_expired_nor_a_preview() {
        let image = json!({"versions": [
            {"version": "1877.4.0"}, {"version": "934.8.0"},
            {"version": "1900.0.0", "expirationDate": "2026-01-01T00:00:00Z"},
            {"version": "2000.0.0", "classification": "preview"},
        ]});

        assert_eq!(newest(&image, "2026-01-02T00:00:00Z".parse().unwrap()), Some("1877.4.0"));
        assert_eq!(newest(&image, "2025-01-02T00:00:00Z".parse().unwrap()), Some("1900.0.0"));
        assert!(is_lower("934.8.0", "1877.4.0"));
    }
}
