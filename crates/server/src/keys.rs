//! The keys that seal secrets: read at every start, made only when somebody asks for it.
//!
//! What a reader would get wrong: a service never makes its keys. With a new one, everything that is stored could not be
//! opened any more, and other replicas could not open what this one stores.

use std::path::Path;

use anyhow::{Context, ensure};
use store::Sealer;

/// Reads the keys of a service.
pub(crate) fn read(path: &Path) -> anyhow::Result<Sealer> {
    let shown = path.display();
    ensure!(
        path.exists(),
        "database.sealing_keys: {shown} does not exist; copy it from another replica, or make the first one with \
         `kcp keys new {shown}`"
    );
    read_or_make(path)
}

/// Makes a file with a new key: `kcp keys new`. A file that is there stays as it is.
pub fn make(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    ensure!(!path.exists(), "{shown} exists already, and what was sealed with it needs it");
    read_or_make(path).map(drop)
}

/// Reads the keys in a folder of ours, and makes them at the first start: `kcp up`.
pub(crate) fn read_or_make(path: &Path) -> anyhow::Result<Sealer> {
    Sealer::from_file_or_create(path).with_context(|| {
        let shown = path.display();
        format!("{shown}, the file with the keys that seal secrets, cannot be used")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_when_asked_for_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("broker.key");

        let missing = format!("{:#}", read(&path).unwrap_err());
        assert!(missing.contains("kcp keys new"), "{missing}");
        assert!(!path.exists(), "nothing is made while reading");

        make(&path).unwrap();
        let made = std::fs::read(&path).unwrap();
        read(&path).unwrap();
        assert!(make(&path).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), made);
    }
}
