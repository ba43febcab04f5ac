//! A PostgreSQL of the benchmark's own, as durable as one in production.

use std::{
    env, fs, io,
    net::{Ipv4Addr, TcpListener},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
};

use anyhow::{Context as _, bail};
use uuid::Uuid;

const SCRIPT: &str = include_str!("postgres.sh");
const USUAL: &str = "/usr/lib/postgresql";

/// A running server; it and its folder are gone when this value is.
pub(super) struct Server {
    keeper: Child,
    input: Option<ChildStdin>,
    folder: PathBuf,
    binaries: PathBuf,
    port: u16,
    password: String,
    pid: u32,
}

impl Server {
    /// Makes a server and starts it. Blocks for as long as that takes.
    pub(super) fn start(binaries: Option<&Path>, shared_buffers: &str) -> anyhow::Result<Self> {
        let binaries = find(binaries)?;
        let folder = env::temp_dir().join(format!("kcp-bench-{}", Uuid::new_v4().simple()));
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
        let password = Uuid::new_v4().simple().to_string();
        fs::write(folder.join("password"), &password)?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "postgres.sh"]).arg(&folder).arg(&binaries);
        command.arg(port.to_string());
        for setting in [
            "fsync=on",
            "synchronous_commit=on",
            "full_page_writes=on",
            &format!("shared_buffers={shared_buffers}"),
            "max_wal_size=4GB",
            "max_connections=200",
        ] {
            command.args(["-c", setting]);
        }
        if fs::metadata(&folder)?.uid() == 0 {
            let (user, group) = unprivileged()?;
            for path in [&folder, &folder.join("password")] {
                chown(path, Some(user), Some(group))?;
            }
            command.uid(user).gid(group);
        }
        command.current_dir(&folder).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut keeper = command.spawn()?;
        let input = keeper.stdin.take();
        let mut answer = String::new();
        let output = keeper.stdout.take().context("keeper of PostgreSQL closed its stdout")?;
        io::BufRead::read_line(&mut io::BufReader::new(output), &mut answer)?;
        let mut server = Self { keeper, input, folder, binaries, port, password, pid: 0 };
        let Ok(pid) = answer.trim().parse() else {
            let log = server.log();
            bail!("PostgreSQL does not start:\n{log}");
        };
        server.pid = pid;
        Ok(server)
    }

    pub(super) fn url(&self) -> String {
        format!("postgres://kcp:{}@127.0.0.1:{}/postgres", self.password, self.port)
    }

    /// A program of the installation, ready to talk to this server.
    pub(super) fn program(&self, name: &str) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(self.binaries.join(name));
        command.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "kcp"]);
        command.env("PGPASSWORD", &self.password).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// The first of its processes.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Where this benchmark may keep its files.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its log so far.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("server.log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.keeper.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The folder that holds the programs.
fn find(chosen: Option<&Path>) -> anyhow::Result<PathBuf> {
    let complete = |folder: &Path| {
        ["initdb", "postgres", "pgbench"].iter().all(|program| folder.join(program).is_file())
    };
    if let Some(folder) = chosen {
        anyhow::ensure!(
            complete(folder),
            "{} does not hold initdb, postgres and pgbench",
            folder.display()
        );
        return Ok(folder.to_owned());
    }
    let mut versions: Vec<u32> = fs::read_dir(USUAL)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    let installed =
        versions.iter().map(|version| Path::new(USUAL).join(version.to_string()).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).chain(installed).find(|folder| complete(folder)).with_context(|| {
        format!(
            "the benchmark needs initdb, postgres and pgbench of PostgreSQL 14 or newer, and they are \
             neither in the PATH nor in {USUAL}: name their folder with --postgres-bin"
        )
    })
}

/// PostgreSQL refuses to run as root.
fn unprivileged() -> anyhow::Result<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd")?;
    let ids = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    ids("postgres")
        .or_else(|| ids("nobody"))
        .context("cannot run PostgreSQL as root: no unprivileged user found")
}
