//! Replicas as processes: started, paused, stopped, killed.

use std::{fs::File, path::PathBuf, process::Stdio, time::Duration};

use base::Clock;
use engine::PlantedBug;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, ChildStdin, Command},
    sync::watch,
    time::timeout,
};

use crate::link::Link;

/// How long a lease lives in these tests.
pub(crate) const LEASE: Duration = Duration::from_secs(1);
/// No orderly stop may take longer: the drain, and a database that does not answer.
const LONGEST_STOP: Duration = Duration::from_secs(10);

/// The arguments of all replicas of a trial.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub ledger: std::net::SocketAddr,
    pub keys: PathBuf,
    pub logs: PathBuf,
    pub planted: PlantedBug,
}

/// One running replica. It dies with this value.
pub(crate) struct Process {
    /// Its name as a replica; another process may bear it after this one.
    pub name: String,
    /// The name of this one process.
    pub label: String,
    child: Child,
    ready: watch::Receiver<bool>,
    /// Held open for as long as the process may live.
    _input: Option<ChildStdin>,
}

/// A signal to a process.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Signal {
    Terminate,
    Stop,
    Continue,
}

impl Process {
    pub(crate) fn start(recipe: &Recipe, url: &str, name: &str, label: &str, skew: i64) -> Self {
        let log = File::create(recipe.logs.join(format!("{label}.log"))).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_torture-replica"))
            .args(["--database", url, "--name", name, "--process", label])
            .args(["--ledger", &recipe.ledger.to_string()])
            .args(["--lease", &LEASE.as_millis().to_string()])
            .args(["--planted", &format!("{:?}", recipe.planted)])
            .args(["--skew", &skew.to_string()])
            .arg("--keys")
            .arg(&recipe.keys)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (tell, ready) = watch::channel(false);
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        tokio::spawn(async move {
            while let Ok(Some(line)) = output.next_line().await {
                tell.send_replace(line == "ready");
            }
        });
        let input = child.stdin.take();
        Self { name: name.to_owned(), label: label.to_owned(), child, ready, _input: input }
    }

    /// Waits until it has joined.
    pub(crate) async fn is_ready(&mut self) {
        let joined = timeout(Duration::from_secs(90), self.ready.wait_for(|ready| *ready)).await;
        assert!(matches!(joined, Ok(Ok(_))), "{} does not join", self.label);
    }

    pub(crate) async fn signal(&self, signal: Signal) {
        let Some(id) = self.child.id() else { return };
        let name = match signal {
            Signal::Terminate => "TERM",
            Signal::Stop => "STOP",
            Signal::Continue => "CONT",
        };
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {id}")]).status().await;
        assert!(sent.is_ok_and(|status| status.success()), "{} is gone", self.label);
    }

    /// Ends it without a word.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    /// Lets it end in order; how long that took, or `None` when it did not.
    pub(crate) async fn stop(mut self, clock: Clock) -> Option<Duration> {
        let asked = clock.monotonic();
        self.signal(Signal::Terminate).await;
        timeout(LONGEST_STOP, self.child.wait()).await.ok()?.ok()?;
        Some(clock.monotonic().saturating_sub(asked))
    }
}

/// A replica's place: processes come and go, the line to the database stays.
pub(crate) struct Slot {
    pub link: Link,
    pub process: Process,
    /// Until when it is paused, on the monotonic clock of the trial.
    pub paused_until: Option<Duration>,
}
