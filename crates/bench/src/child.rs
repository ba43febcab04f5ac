//! A replica as a process of its own, so that its CPU and memory can be distinguished from the harness's.

use std::{
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use super::{
    context::{Bench, SCHEMA},
    process,
};

/// The specification of a replica; the first line of its input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Spec {
    pub(super) url: String,
    pub(super) schema: Option<String>,
    pub(super) keys: PathBuf,
    pub(super) log: PathBuf,
    pub(super) name: String,
    /// How long a polling step waits.
    pub(super) poll: Duration,
    /// Records when operations begin.
    pub(super) records: bool,
}

impl Spec {
    pub(super) fn new(bench: &Bench, name: &str) -> Self {
        Self {
            url: bench.server.url(),
            schema: Some(SCHEMA.into()),
            keys: bench.server.folder().join("keys"),
            log: bench.server.folder().join(format!("{name}.log")),
            name: name.into(),
            poll: Duration::from_secs(60),
            records: false,
        }
    }
}

/// A question to a replica.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) enum Question {
    /// Its progress.
    Progress,
    /// How long lone operations take, for so many seconds.
    Latency(f64),
}

/// How far a replica has come.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Seconds since it started.
    pub(super) at: f64,
    pub(super) runs: u64,
    pub(super) ended: u64,
    /// How many operations were noted by their step.
    pub(super) noted: usize,
}

/// How long lone operations took, in milliseconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Latencies {
    /// From the request until the final state was read.
    pub(super) to_final: Vec<f64>,
    /// From the reply until the first step ran.
    pub(super) to_first: Vec<f64>,
}

/// A running replica; killed when this value is gone.
pub(super) struct Replica {
    child: Child,
    input: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Replica {
    pub(super) async fn start(bench: &Bench, spec: &Spec) -> anyhow::Result<Self> {
        let mut command = Command::new(&bench.program);
        command.args(["bench", "replica"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn()?;
        let mut input = child.stdin.take().context("replica closed its stdin")?;
        let output = child.stdout.take().context("replica closed its stdout")?;
        let mut line = serde_json::to_vec(spec)?;
        line.push(b'\n');
        input.write_all(&line).await?;
        Ok(Self { child, input, answers: BufReader::new(output).lines() })
    }

    pub(super) async fn ask<A: DeserializeOwned>(
        &mut self,
        question: Question,
    ) -> anyhow::Result<A> {
        let mut line = serde_json::to_vec(&question)?;
        line.push(b'\n');
        self.input.write_all(&line).await?;
        let answer = self.answers.next_line().await?.context("the replica has ended")?;
        Ok(serde_json::from_str(&answer)?)
    }

    pub(super) async fn progress(&mut self) -> anyhow::Result<Progress> {
        self.ask(Question::Progress).await
    }

    /// Asks until `enough`, every `pause`.
    pub(super) async fn until(
        &mut self,
        bench: &Bench,
        pause: Duration,
        enough: impl Fn(&Progress) -> bool,
    ) -> anyhow::Result<Progress> {
        let patience = Duration::from_secs(900);
        let began = Instant::now();
        loop {
            let progress = self.progress().await?;
            if enough(&progress) {
                return Ok(progress);
            }
            let waited = began.elapsed();
            anyhow::ensure!(waited < patience, "the replica does not get there: {progress:?}");
            bench.sleep(pause).await;
        }
    }

    fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().context("the replica has ended")
    }

    /// Seconds of CPU it has used.
    pub(super) fn cpu(&self) -> anyhow::Result<f64> {
        process::cpu(self.pid()?)
    }

    /// Its memory in MiB: now, and the most it ever had.
    pub(super) fn memory(&self) -> anyhow::Result<(f64, f64)> {
        process::memory(self.pid()?)
    }

    /// `kill -9`.
    pub(super) async fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill().await?;
        Ok(())
    }
}
