//! A folder that disappears with its guard.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use uuid::Uuid;

/// A new, empty folder of the temporary kind, for this user alone.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes one; `what` shows in its name.
    pub fn new(what: &str) -> io::Result<Self> {
        let name = format!("kcp-{what}-{}", Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Leaves it in place, for the process that takes over the removal.
    pub(super) fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // Nothing can be done about a folder that cannot be removed, least of all in a failing test.
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
