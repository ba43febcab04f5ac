//! Speaks, and waits for the traveller.

use std::io::{self, Write as _};

use anyhow::bail;
use tokio::sync::mpsc::{UnboundedReceiver, error::TryRecvError, unbounded_channel};

use crate::output;

/// How many parts the tour has.
const PARTS: usize = 7;

/// The voice of the tour.
pub(super) struct Guide {
    part: usize,
    /// Lines that the traveller types; `None` when nobody is asked.
    typed: Option<UnboundedReceiver<String>>,
}

impl Guide {
    pub(super) fn new(yes: bool) -> Self {
        Self { part: 0, typed: (!yes).then(listen) }
    }

    /// Whether a person is there to do what a program cannot.
    pub(super) fn has_company(&self) -> bool {
        self.typed.is_some()
    }

    /// Says what comes next and which command does it, and waits until the traveller wants it.
    pub(super) async fn part(
        &mut self,
        title: &str,
        text: &str,
        command: &str,
    ) -> anyhow::Result<()> {
        self.part += 1;
        let head = format!("\n== {} of {PARTS}: {title}\n{text}\n", self.part);
        output::print(&head)?;
        if !command.is_empty() {
            output::print(&format!("\n  $ {command}\n"))?;
        }
        self.go_on().await
    }

    async fn go_on(&mut self) -> anyhow::Result<()> {
        let Some(typed) = &mut self.typed else { return output::print("\n") };
        // The question is no part of the answer.
        let _ = io::stderr().write_all(b"\nEnter goes on, q leaves: ");
        match typed.recv().await {
            Some(line) if line.trim().is_empty() => Ok(()),
            Some(_) => bail!("left before the end"),
            None => bail!("left before the end: there was no answer; --yes does not pause"),
        }
    }

    /// Whether the traveller has typed something since.
    pub(super) fn was_interrupted(&mut self) -> bool {
        let typed = self.typed.as_mut().map(UnboundedReceiver::try_recv);
        matches!(typed, None | Some(Ok(_) | Err(TryRecvError::Disconnected)))
    }
}

/// Reads standard input beside everything else. The thread ends with the program: nothing can take a read back.
fn listen() -> UnboundedReceiver<String> {
    let (sender, receiver) = unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
