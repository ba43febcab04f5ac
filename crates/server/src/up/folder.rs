//! The folder that holds everything `kcp up` keeps, for one process at a time.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{ErrorKind, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The file with the keys that seal secrets.
pub(super) const SEALING_KEY: &str = "sealing.key";
/// The file with the first port.
const PORT: &str = "port";

/// The folder, locked as long as this value lives.
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

/// Credentials that were generated at the first start and must not change.
#[derive(Debug, Clone)]
pub(super) struct Credentials {
    pub(super) user: String,
    pub(super) password: SecretString,
    /// The broker's secret for the provisioner.
    pub(super) client_secret: SecretString,
    /// The name under which the engine takes over from its earlier self.
    pub(super) replica: String,
}

#[derive(Serialize, Deserialize)]
struct FolderSecrets {
    user: String,
    password: String,
    client_secret: String,
    replica: String,
}

impl Folder {
    /// Opens the folder, or makes it.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .with_context(|| format!("the folder {shown} cannot be made"))?;
        let path =
            path.canonicalize().with_context(|| format!("the folder {shown} cannot be opened"))?;
        check(&path)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path.join("lock"))
            .with_context(|| format!("the folder {shown} cannot be written to"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!(
                "the folder {} is in use by another process; stop that one, or choose another folder with --data",
                path.display()
            ),
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("the folder {shown} cannot be locked"));
            }
        }
        let folder = Self { path, _lock: lock };
        super::Connection::remove(&folder);
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The address of the embedded database. Made here, because SQLite would let others read it.
    pub(super) fn database(&self, name: &str) -> anyhow::Result<SecretString> {
        let path = self.file(name);
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(self.address(name))
    }

    /// The address of a database that may not be there yet.
    pub(super) fn address(&self, name: &str) -> SecretString {
        let path = self.file(name);
        let path =
            path.to_string_lossy().replace('%', "%25").replace('?', "%3F").replace('#', "%23");
        format!("sqlite://{path}").into()
    }

    /// The credentials that were generated at the first start.
    pub(super) fn credentials(&self) -> anyhow::Result<Credentials> {
        let path = self.file("credentials.json");
        let kept: FolderSecrets = if path.exists() {
            let text =
                fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            serde_json::from_slice(&text)
                .with_context(|| format!("{} cannot be understood", path.display()))?
        } else {
            let kept = FolderSecrets {
                user: "admin".into(),
                password: secret(),
                client_secret: secret(),
                replica: format!("up-{}", Uuid::new_v4()),
            };
            self.write_privately("credentials.json", &serde_json::to_vec_pretty(&kept)?)?;
            kept
        };
        Ok(Credentials {
            user: kept.user,
            password: kept.password.into(),
            client_secret: kept.client_secret.into(),
            replica: kept.replica,
        })
    }

    /// The first port of its last start.
    pub(super) fn port(&self) -> Option<u16> {
        fs::read_to_string(self.file(PORT)).ok()?.trim().parse().ok()
    }

    /// Keeps it for the next start.
    pub(super) fn keep_port(&self, port: u16) -> anyhow::Result<()> {
        self.write_privately(PORT, format!("{port}\n").as_bytes())
    }

    /// Makes a folder in it that only its owner can look into, unless it is there.
    pub(super) fn make(&self, name: &str) -> anyhow::Result<()> {
        let path = self.file(name);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.with_context(|| format!("the folder {} cannot be made", path.display()))
    }

    /// Writes a file that only its owner can read; it appears whole or not at all.
    pub(super) fn write_privately(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let (path, unfinished) = (self.file(name), self.file(&format!("{name}.new")));
        let written = || -> std::io::Result<()> {
            // Left unfinished by an earlier process, or put there by another user: never written through.
            match fs::remove_file(&unfinished) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)
        };
        written().with_context(|| format!("{} cannot be written", path.display()))
    }
}

/// Refuses a folder in which another user could replace our files.
fn check(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    let found = fs::metadata(path).with_context(|| format!("the folder {shown} cannot be read"))?;
    // Who we are, where the system tells it.
    let us = fs::metadata("/proc/self").ok().map(|process| process.uid());
    ensure!(
        us.is_none_or(|us| us == found.uid()),
        "the folder {shown} belongs to another user; choose another folder with --data"
    );
    ensure!(
        found.mode() & 0o022 == 0,
        "other users may write to the folder {shown}, and its files hold secrets; run `chmod go-w {shown}`"
    );
    Ok(())
}

/// 244 random bits.
fn secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();

        let refused = Folder::open(folder.path()).err().unwrap().to_string();
        assert!(refused.contains("chmod go-w"), "{refused}");

        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Folder::open(folder.path()).is_ok());
    }

    #[test]
    fn a_link_that_was_planted_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        fs::write(&elsewhere, "untouched").unwrap();
        symlink(&elsewhere, folder.path().join("connection.json.new")).unwrap();
        let opened = Folder::open(folder.path()).unwrap();

        opened.write_privately("connection.json", b"secret").unwrap();

        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "untouched");
        let written = fs::symlink_metadata(folder.path().join("connection.json")).unwrap();
        assert!(written.is_file());
        assert_eq!(written.mode() & 0o777, 0o600);
    }
}
