//! One PostgreSQL for all test processes of a run.
//!
//! Every process holds a shared lock on `run.lock` for as long as it lives. The keeper of the server
//! stops it and removes the folder once nobody has held that lock for some seconds. Joining and
//! removing happen under `start.lock`.

use std::{
    collections::hash_map::DefaultHasher,
    fs::{self, File, TryLockError},
    hash::{Hash, Hasher},
    io,
    net::{Ipv4Addr, TcpStream},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use super::{
    Folder, binaries,
    keeper::{self, Keeper, Mode},
    server::blocking,
};

/// Speed over durability: the data is thrown away in any case.
const SETTINGS: [(&str, &str); 5] = [
    ("fsync", "off"),
    ("synchronous_commit", "off"),
    ("full_page_writes", "off"),
    ("max_connections", "400"),
    ("autovacuum", "off"),
];

/// How many seconds may pass between two test programs of a run.
const LINGER: u32 = 10;

/// The server of this test run, as one process sees it.
#[derive(Debug)]
pub(super) struct Shared {
    port: u16,
    password: String,
    /// Dies with the process, however it dies.
    _registered: File,
}

impl Shared {
    /// The server of this run; the first one who asks starts it.
    pub(super) async fn join() -> io::Result<&'static Self> {
        static JOINED: OnceLock<Result<Shared, String>> = OnceLock::new();
        let join = || {
            // First of all, so that nothing is left behind where there is no PostgreSQL.
            binaries::find()?;
            let mine = fs::metadata(Folder::new("owner")?.path())?.uid();
            Self::join_at(&place(mine), mine, LINGER)
        };
        blocking(move || {
            let joined = JOINED.get_or_init(|| join().map_err(|error| error.to_string()));
            joined.as_ref().map_err(|error| io::Error::other(error.clone()))
        })
        .await
    }

    /// The address of one of its databases.
    pub(super) fn url(&self, database: &str) -> String {
        format!("postgres://kcp:{}@127.0.0.1:{}/{database}", self.password, self.port)
    }

    fn join_at(folder: &Path, mine: u32, linger: u32) -> io::Result<Self> {
        let _start = lock_start(folder)?;
        // For root it belongs to whom the server runs as.
        if mine != 0 && fs::metadata(folder)?.uid() != mine {
            return Err(io::Error::other(format!("{} belongs to another user", folder.display())));
        }
        let registered = open(&folder.join("run.lock"))?;
        registered.lock_shared()?;
        let (port, password) = match running(folder)? {
            Some(found) => found,
            None => launch(folder, linger)?,
        };
        Ok(Self { port, password, _registered: registered })
    }
}

/// The same for all processes of one user and one checkout.
fn place(mine: u32) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_MANIFEST_DIR").hash(&mut hasher);
    std::env::var_os("KCP_TEST_POSTGRES_BIN").hash(&mut hasher);
    std::env::temp_dir().join(format!("kcp-tests-{mine}-{:016x}", hasher.finish()))
}

/// Takes the start lock of the folder, which may be removed at any moment before that.
fn lock_start(folder: &Path) -> io::Result<File> {
    loop {
        match fs::DirBuilder::new().mode(0o755).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let path = folder.join("start.lock");
        let file = match open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        file.lock()?;
        match fs::metadata(&path) {
            Ok(found) if found.ino() == file.metadata()?.ino() => return Ok(file),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
}

/// Opens a lock file that the keeper, who may be another user, can read.
fn open(path: &Path) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o644)
        .open(path)?;
    if file.metadata()?.permissions().mode() & 0o777 != 0o644 {
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    Ok(file)
}

/// The server that runs already, if it has a keeper and answers.
fn running(folder: &Path) -> io::Result<Option<(u16, String)>> {
    let kept = match File::open(folder.join("keeper.lock")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?.try_lock(),
    };
    match kept {
        Ok(()) => return Ok(None),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let Ok(text) = fs::read_to_string(folder.join("connection")) else { return Ok(None) };
    let Some((port, password)) = text.split_once(' ') else { return Ok(None) };
    let Ok(port) = port.parse() else { return Ok(None) };
    let answers = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
    Ok(answers.then(|| (port, password.to_owned())))
}

fn launch(folder: &Path, linger: u32) -> io::Result<(u16, String)> {
    let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    loop {
        let port = keeper::free_port()?;
        let password = keeper::new_password(folder)?;
        let mut keeper = Keeper::start(Mode::Shared { linger }, folder, port, &settings)?;
        if keeper.answer()? == "ready" {
            let connection = folder.join("connection");
            fs::write(&connection, "")?;
            fs::set_permissions(&connection, fs::Permissions::from_mode(0o600))?;
            fs::write(&connection, format!("{port} {password}"))?;
            return Ok((port, password));
        }
        keeper.end();
        let trouble = keeper::trouble(folder);
        if trouble.kind() != io::ErrorKind::AddrInUse {
            return Err(trouble);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_shared_server_and_its_folder_are_gone_soon_after_the_last_process() {
        let parent = Folder::new("shared").unwrap();
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let folder = parent.path().join("server");
        let mine = fs::metadata(parent.path()).unwrap().uid();
        let first = Shared::join_at(&folder, mine, 0).unwrap();
        let second = Shared::join_at(&folder, mine, 0).unwrap();
        assert_eq!(first.url("postgres"), second.url("postgres"));
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, first.port)).unwrap();
        let start = File::open(folder.join("start.lock")).unwrap();

        drop((first, second));

        // The server hangs up when it stops, and its keeper holds the lock until all is removed.
        assert_eq!(connection.read(&mut [0]).unwrap(), 0);
        start.lock().unwrap();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_server_whose_keeper_was_killed_is_replaced() {
        let parent = Folder::new("shared").unwrap();
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let folder = parent.path().join("server");
        let mine = fs::metadata(parent.path()).unwrap().uid();
        let first = Shared::join_at(&folder, mine, 0).unwrap();
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, first.port)).unwrap();
        let keeper = fs::read_to_string(folder.join("keeper.pid")).unwrap();
        let killed = std::process::Command::new("kill").args(["-9", keeper.trim()]).status();
        assert!(killed.unwrap().success());
        // Its lock goes with its last child.
        File::open(folder.join("keeper.lock")).unwrap().lock().unwrap();

        let second = Shared::join_at(&folder, mine, 0).unwrap();

        assert_eq!(connection.read(&mut [0]).unwrap(), 0);
        assert_ne!(first.url("postgres"), second.url("postgres"));
        let start = File::open(folder.join("start.lock")).unwrap();
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, second.port)).unwrap();
        drop((first, second));
        assert_eq!(connection.read(&mut [0]).unwrap(), 0);
        start.lock().unwrap();
    }
}
