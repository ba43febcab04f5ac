//! A PostgreSQL of one's own, for tests that stop it and for benchmarks that measure it.

use std::{
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Folder,
    keeper::{self, Keeper, Mode},
};

/// A server with a folder of its own, both gone when this value or its process is.
///
/// It is as durable as PostgreSQL is by default; for speed, pass `("fsync", "off")`.
#[derive(Debug)]
pub struct PostgresServer {
    keeper: Arc<Mutex<Keeper>>,
    folder: PathBuf,
    port: u16,
    password: String,
}

impl PostgresServer {
    /// Makes a new server with these settings and starts it.
    ///
    /// # Panics
    /// When there is no PostgreSQL or it does not start; the message says what to do.
    pub async fn start(settings: &[(&str, &str)]) -> Self {
        let settings: Vec<_> =
            settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let server = blocking(move || Self::launch_somewhere(Mode::Owned, &settings)).await;
        server.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Launches it on a port that nobody has taken meanwhile.
    pub(super) fn launch_somewhere(mode: Mode, settings: &[(String, String)]) -> io::Result<Self> {
        loop {
            match Self::launch(mode, settings) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                launched => return launched,
            }
        }
    }

    pub(super) fn launch(mode: Mode, settings: &[(String, String)]) -> io::Result<Self> {
        let port = keeper::free_port()?;
        let folder = Folder::new("postgres")?;
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))?;
        let password = keeper::new_password(folder.path())?;
        let keeper = Keeper::start(mode, folder.path(), port, settings)?;
        let server =
            Self { keeper: Arc::new(Mutex::new(keeper)), folder: folder.keep(), port, password };
        server.tell("start", "ready")?;
        Ok(server)
    }

    /// Stops it as a crash would: nothing is flushed, recovery follows at the next start.
    ///
    /// # Panics
    /// When it cannot be stopped.
    pub async fn stop_immediately(&mut self) {
        self.command("stop QUIT", "stopped").await;
    }

    /// Starts it again, on the same port and with the same data.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start_again(&mut self) {
        self.command("start", "ready").await;
    }

    /// Stops all its processes where they stand: connections stay open and nothing answers.
    ///
    /// # Panics
    /// When it is not running.
    pub async fn freeze(&mut self) {
        self.command("freeze", "frozen").await;
    }

    /// Lets its processes go on.
    ///
    /// # Panics
    /// When it is not running.
    pub async fn thaw(&mut self) {
        self.command("thaw", "thawed").await;
    }

    /// The address of one of its databases; `postgres` is always there.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://kcp:{}@127.0.0.1:{}/{database}", self.password, self.port)
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) async fn command(&self, command: &'static str, expected: &'static str) {
        let this = self.handle();
        let answer = blocking(move || this.tell(command, expected)).await;
        answer.unwrap_or_else(|error| panic!("{error}"));
    }

    fn handle(&self) -> Handle {
        Handle { keeper: Arc::clone(&self.keeper), folder: self.folder.clone() }
    }

    fn tell(&self, command: &str, expected: &str) -> io::Result<()> {
        self.handle().tell(command, expected)
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner).end();
    }
}

/// The values of a command, without the server's lifetime.
struct Handle {
    keeper: Arc<Mutex<Keeper>>,
    folder: PathBuf,
}

impl Handle {
    fn tell(&self, command: &str, expected: &str) -> io::Result<()> {
        let answer = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).tell(command)?;
        if answer == expected { Ok(()) } else { Err(keeper::trouble(&self.folder)) }
    }
}

/// Runs what blocks where it may.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|panic| Err(io::Error::other(panic)))
}
