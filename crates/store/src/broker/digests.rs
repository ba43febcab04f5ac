//! Keyed digests of requests: recognise a repetition without keeping the request.

use super::BrokerStore;

/// Keeps these digests apart from others.
const LABEL: &str = "request";

impl BrokerStore {
    /// The digest of a request: the same bytes for the same request.
    pub fn digest(&self, request: &[u8]) -> Vec<u8> {
        self.sealer.digest(LABEL, request)
    }

    /// Whether a digest was made of this request.
    pub fn is_digest_of(&self, request: &[u8], digest: &[u8]) -> bool {
        self.sealer.digest_matches(LABEL, request, digest)
    }
}
