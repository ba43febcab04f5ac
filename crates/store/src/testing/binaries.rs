//! Where the installed PostgreSQL is, and as whom it may run.

use std::{
    env, fs, io,
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};

/// Names the folder of the binaries when they are in no usual place.
const SETTING: &str = "KCP_TEST_POSTGRES_BIN";
const USUAL: &str = "/usr/lib/postgresql";

/// The folder that holds `initdb` and `postgres`.
pub(super) fn find() -> io::Result<PathBuf> {
    let chosen = env::var_os(SETTING).map(PathBuf::from);
    if let Some(folder) = chosen {
        return if complete(&folder) {
            Ok(folder)
        } else {
            Err(io::Error::other(format!(
                "{SETTING} is {}, which does not hold initdb and postgres",
                folder.display()
            )))
        };
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).chain(installed(Path::new(USUAL))).find(|folder| complete(folder)).ok_or_else(
        || {
            io::Error::other(format!(
                "these tests need PostgreSQL 14 or newer, and there is none in the PATH nor in {USUAL}: \
                 install it (on Debian and Ubuntu: apt-get install postgresql), \
                 or set {SETTING} to the folder of its initdb and postgres"
            ))
        },
    )
}

fn complete(folder: &Path) -> bool {
    ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file())
}

/// Debian keeps one folder per version; the newest first.
fn installed(root: &Path) -> impl Iterator<Item = PathBuf> {
    let mut versions: Vec<u32> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    let root = root.to_owned();
    versions.into_iter().map(move |version| root.join(version.to_string()).join("bin"))
}

/// Whom the server runs as: `None` for ourselves, an unprivileged user when we are root, because
/// PostgreSQL refuses to run as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct User {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl User {
    /// `mine` is anything that this process has just made.
    pub(super) fn unprivileged(mine: &Path) -> io::Result<Option<Self>> {
        if fs::metadata(mine)?.uid() != 0 {
            return Ok(None);
        }
        let users = fs::read_to_string("/etc/passwd")?;
        ["postgres", "nobody"]
            .iter()
            .find_map(|name| Self::read(&users, name))
            .map(Some)
            .ok_or_else(|| {
                io::Error::other(
                    "there is neither a user \"postgres\" nor \"nobody\" to run PostgreSQL as",
                )
            })
    }

    fn read(users: &str, name: &str) -> Option<Self> {
        let mut fields = users
            .lines()
            .map(|line| line.split(':'))
            .find_map(|mut fields| (fields.next() == Some(name)).then_some(fields))?;
        Some(Self { uid: fields.nth(1)?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    }

    /// Makes `command` run as this user.
    pub(super) fn run(self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    #[test]
    fn the_newest_installed_version_comes_first() {
        let folder = Folder::new("versions").unwrap();
        for version in ["9", "15", "common", "14"] {
            fs::create_dir(folder.path().join(version)).unwrap();
        }

        let found: Vec<_> = installed(folder.path()).collect();

        let expected = ["15/bin", "14/bin", "9/bin"].map(|bin| folder.path().join(bin));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_ids_of_a_user_come_from_its_line() {
        let users = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65533:nobody:/:/bin/false\n";

        assert_eq!(User::read(users, "nobody"), Some(User { uid: 65534, gid: 65533 }));
        assert_eq!(User::read(users, "postgres"), None);
    }
}
