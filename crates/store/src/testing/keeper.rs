//! Starts the script that keeps a server and removes it when nobody needs it any more.
//!
//! The script outlives this process on purpose: a test that is killed cannot clean up after itself.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener},
    os::unix::{
        fs::{OpenOptionsExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use uuid::Uuid;

use super::{
    Folder,
    binaries::{self, User},
};

const SCRIPT: &str = include_str!("postgres.sh");
/// Runs the script where a part of the server's folder is a small disk: in a name space of its own, which an ordinary user may
/// make too. PostgreSQL refuses to run as root, also as the root of a name space, so the script has a second one inside.
const SMALL_DISK: &str = include_str!("small_disk.sh");

/// How the script learns that the server is not needed any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Our end of its standard input is closed.
    Owned,
    /// Nobody has held a lock in the folder for some seconds.
    Shared {
        /// How many.
        linger: u32,
    },
    /// As `Owned`, with a disk of its own for a part of its files.
    SmallDisk {
        /// The folder that is the disk.
        part: &'static str,
        /// Its size.
        mebibytes: u32,
    },
}

/// A running script.
#[derive(Debug)]
pub(super) struct Keeper {
    child: Child,
    input: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Keeper {
    /// Starts the script in `folder`, which it will own and remove.
    pub(super) fn start(
        mode: Mode,
        folder: &Path,
        port: u16,
        settings: &[(String, String)],
    ) -> io::Result<Self> {
        let mut command = Command::new("sh");
        let (word, linger) = match mode {
            Mode::Owned => ("owned", "0".into()),
            Mode::Shared { linger } => ("shared", linger.to_string()),
            Mode::SmallDisk { part, .. } => ("small", part.to_owned()),
        };
        if let Mode::SmallDisk { part, mebibytes } = mode {
            command.args(["-c", SMALL_DISK, "small_disk.sh"]).arg(folder);
            command.arg(part).arg(mebibytes.to_string()).arg("sh");
        }
        command.args(["-c", SCRIPT, "postgres.sh"]);
        command.arg(word).arg(folder).arg(binaries::find()?);
        command.arg(port.to_string()).arg(linger);
        for (name, value) in settings {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        if let Some(user) = hand_over(folder)? {
            user.run(&mut command);
        }
        // A process group of its own, so that Ctrl-C in the terminal leaves the clean-up alone.
        command.current_dir(folder).process_group(0).stdout(Stdio::piped()).stderr(Stdio::null());
        let is_shared = matches!(mode, Mode::Shared { .. });
        command.stdin(if is_shared { Stdio::null() } else { Stdio::piped() });
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let answers =
            child.stdout.take().ok_or_else(|| io::Error::other("keeper closed its stdout"))?;
        Ok(Self { child, input, answers: BufReader::new(answers) })
    }

    /// Sends a command and waits for its answer.
    pub(super) fn tell(&mut self, command: &str) -> io::Result<String> {
        if let Some(input) = &mut self.input {
            writeln!(input, "{command}")?;
        }
        self.answer()
    }

    /// Waits for the next answer.
    pub(super) fn answer(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// Lets go of the server and waits until it and its folder are gone.
    pub(super) fn end(&mut self) {
        self.input = None;
        // Without an answer there is nothing left to wait for.
        let _ = self.child.wait();
    }
}

/// Whether the user that a server runs as may make a name space with a small disk in it.
pub(super) fn has_small_disks() -> io::Result<bool> {
    let folder = Folder::new("small-disk")?;
    new_password(folder.path())?;
    let mut command = Command::new("sh");
    command
        .args(["-c", SMALL_DISK, "small_disk.sh"])
        .arg(folder.path())
        .args(["disk", "1", "true"]);
    if let Some(user) = hand_over(folder.path())? {
        user.run(&mut command);
    }
    command.current_dir(folder.path()).stdin(Stdio::null());
    Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success())
}

/// Gives the folder to whom the server runs as.
fn hand_over(folder: &Path) -> io::Result<Option<User>> {
    let probe = folder.join(format!("owner-{}", Uuid::new_v4().simple()));
    fs::write(&probe, "")?;
    let user = User::unprivileged(&probe);
    fs::remove_file(&probe)?;
    let user = user?;
    if let Some(user) = user {
        for path in [folder, &folder.join("password")] {
            chown(path, Some(user.uid), Some(user.gid))?;
        }
    }
    Ok(user)
}

/// Writes a new random password into the folder and returns it.
pub(super) fn new_password(folder: &Path) -> io::Result<String> {
    let password = Uuid::new_v4().simple().to_string();
    let path = folder.join("password");
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(password.as_bytes())?;
    Ok(password)
}

/// A port that was free a moment ago.
pub(super) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Why the server did not start, from its own log.
pub(super) fn trouble(folder: &Path) -> io::Error {
    let log = fs::read_to_string(folder.join("server.log")).unwrap_or_default();
    let kind = if log.contains("Address already in use") {
        io::ErrorKind::AddrInUse
    } else {
        io::ErrorKind::Other
    };
    let first = log.lines().count().saturating_sub(20);
    let last: Vec<_> = log.lines().skip(first).collect();
    io::Error::new(kind, format!("PostgreSQL does not start:\n{}", last.join("\n")))
}
