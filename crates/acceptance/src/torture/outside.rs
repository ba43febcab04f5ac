//! A replica's line to the outside world: a real socket, whose answers may be lost.

use std::{io, net::SocketAddr, time::Duration};

use base::{Clock, Failure, caller};
use engine::StepError;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    time::timeout,
};
use uuid::Uuid;

use super::wire::{Act, Reply, Request};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// The clients and settings of the steps.
#[derive(Debug, Clone)]
pub struct Outside {
    /// Where the outside world listens.
    pub address: SocketAddr,
    /// The name of this process, different in every start.
    pub process: String,
    /// The machine's true clock; the engine's may be wrong on purpose.
    pub clock: Clock,
}

impl Outside {
    /// Looks whether a thing is there, and makes it if not: as a good step does.
    pub async fn ensure(&self, root: Uuid, thing: &str) -> Result<(), StepError> {
        if self.call(root, thing, Act::Look).await? == Reply::There(true) {
            return Ok(());
        }
        self.call(root, thing, Act::Make).await?;
        Ok(())
    }

    /// One call. An answer that says no is an error that may pass.
    pub async fn call(&self, root: Uuid, thing: &str, act: Act) -> Result<Reply, StepError> {
        let answer = caller::call(async |call| {
            let call = call.expect("only steps call");
            let request = Request {
                key: call.key,
                operation: call.operation,
                root,
                step: call.step,
                run: call.run,
                epoch: call.epoch,
                replica: call.replica,
                process: self.process.clone(),
                begun_at: self.clock.now(),
                act,
                thing: thing.to_owned(),
            };
            timeout(PATIENCE, self.ask(&request)).await
        })
        .await?;
        match answer {
            Ok(Ok(Reply::Stale)) => Err(trouble("stale", "a newer epoch was there before")),
            Ok(Ok(Reply::Trouble)) => Err(trouble("http", "502")),
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(error)) => Err(trouble("network", &error.to_string())),
            Err(_) => Err(trouble("timeout", "no answer in time")),
        }
    }

    async fn ask(&self, request: &Request) -> io::Result<Reply> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let mut stream = TcpStream::connect(self.address).await?;
        stream.write_all(&line).await?;
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).await?;
        if answer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the answer was lost"));
        }
        Ok(serde_json::from_str(&answer)?)
    }
}

fn trouble(reason: &str, message: &str) -> StepError {
    StepError::transient(Failure::new("outside", reason, message))
}
