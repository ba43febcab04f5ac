//! Ids that depend only on the seed, the cluster and the version they are made for.
//!
//! There is no generator whose position would have to survive a restart: the same calls with the
//! same seed give the same ids, and no id comes twice because no version does.

use aws_lc_rs::digest::{Context, SHA256};
use uuid::Uuid;

/// The source of all ids of a server.
#[derive(Debug, Clone)]
pub(crate) struct Ids {
    seed: Vec<u8>,
}

impl Ids {
    /// Ids from a seed.
    pub(crate) fn new(seed: Vec<u8>) -> Self {
        Self { seed }
    }

    /// An id for whatever `about` describes.
    pub(crate) fn uid(&self, about: &[&str]) -> String {
        let bytes = self.bytes(about);
        let mut short = [0; 16];
        short.copy_from_slice(&bytes[..16]);
        uuid::Builder::from_random_bytes(short).into_uuid().to_string()
    }

    /// Five letters and digits that spell no word.
    pub(crate) fn suffix(&self, about: &[&str]) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let bytes = self.bytes(about);
        bytes[..5].iter().map(|b| char::from(LETTERS[usize::from(*b) % LETTERS.len()])).collect()
    }

    fn bytes(&self, about: &[&str]) -> [u8; 32] {
        let mut context = Context::new(&SHA256);
        context.update(&self.seed);
        for word in about {
            context.update(&[0]);
            context.update(word.as_bytes());
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.finish().as_ref());
        bytes
    }
}

/// A seed nobody can foresee.
pub(crate) fn random_seed() -> Vec<u8> {
    [Uuid::new_v4(), Uuid::new_v4()].iter().flat_map(|id| *id.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_ids_and_another_one_others() {
        let ids = |seed: u8| Ids::new(vec![seed]).uid(&["garden", "7"]);

        assert_eq!(ids(1), ids(1));
        assert_ne!(ids(1), ids(2));
        assert_ne!(Ids::new(vec![1]).uid(&["ab", "c"]), Ids::new(vec![1]).uid(&["a", "bc"]));
        assert!(ids(1).parse::<Uuid>().is_ok());
    }
}
