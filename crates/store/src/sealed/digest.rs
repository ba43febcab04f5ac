//! Keyed digests: recognise a value again without keeping it.
//!
//! A digest carries the id of the key it was made with, so it is still recognised after a new key was put
//! in front, for as long as the old one stays in the list. That is why digests are compared with
//! [`Sealer::digest_matches`] and never byte by byte.

use aws_lc_rs::hmac;

use super::{
    Sealer,
    keys::{self, Key},
};

/// The key for digests that belongs to a configured key.
pub(super) fn key(key: &Key) -> hmac::Key {
    use secrecy::ExposeSecret;
    hmac::Key::new(hmac::HMAC_SHA256, key.derive(b"kcp digest").expose_secret())
}

impl Sealer {
    /// A digest of `bytes` that nobody can make or check without the keys. `label` keeps digests of
    /// different things apart.
    pub fn digest(&self, label: &str, bytes: &[u8]) -> Vec<u8> {
        let key = &self.0.current;
        let mut digest = Vec::new();
        keys::push_id(&mut digest, &key.id);
        let mut context = hmac::Context::with_key(&key.digest);
        for part in message(&length(label), label, bytes) {
            context.update(part);
        }
        digest.extend_from_slice(context.sign().as_ref());
        digest
    }

    /// Whether `digest` was made of the same label and bytes, under any of the keys.
    pub fn digest_matches(&self, label: &str, bytes: &[u8], digest: &[u8]) -> bool {
        let Some((id, tag)) = keys::split_id(digest) else { return false };
        let Some(key) = self.key(id) else { return false };
        let message = message(&length(label), label, bytes).concat();
        hmac::verify(&key.digest, &message, tag).is_ok()
    }
}

fn length(label: &str) -> [u8; 8] {
    (label.len() as u64).to_be_bytes()
}

fn message<'a>(length: &'a [u8; 8], label: &'a str, bytes: &'a [u8]) -> [&'a [u8]; 3] {
    [length, label.as_bytes(), bytes]
}
