//! Confirmations: each command that changes something asks first, in the same way.
//!
//! What a reader would get wrong: no terminal does not mean yes, and neither does an answer through a pipe, which may be meant for another
//! program. Without a terminal it takes `--yes`. What is kept in the audit with a reason asks for the reason too, or takes `--reason`.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::{Context as _, bail};
use clap::Args;

use crate::output;

/// The longest reason that a service takes, in characters.
const LONGEST_REASON: usize = 500;

/// The flag of commands that change something.
#[derive(Args)]
pub(crate) struct Confirmation {
    /// Skip the confirmation; required without a terminal.
    #[arg(short, long)]
    yes: bool,
}

impl Confirmation {
    /// Whether `--yes` was given, so that nothing is asked.
    pub(crate) const fn is_given(&self) -> bool {
        self.yes
    }

    /// Succeeds only with `--yes` or after a yes on the terminal. `what` is a sentence that says what will happen, with the name of the
    /// thing. It is asked last, after all checks.
    pub(crate) fn ask(&self, what: &str) -> anyhow::Result<()> {
        if self.yes {
            return Ok(());
        }
        let what = output::harmless(what, "");
        if !io::stdin().is_terminal() {
            bail!("nothing was done: without a terminal this needs --yes: {what}");
        }
        let Some(answer) = typed(&format!("{what}. Type [y/N]: "))? else {
            bail!("nothing was done: there was no answer; --yes skips the question");
        };
        if !matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            bail!("nothing was done");
        }
        Ok(())
    }
}

/// The flag of commands whose reason is kept.
#[derive(Args)]
pub(crate) struct Reason {
    /// The reason, at most 500 characters; kept in the audit. Prompted for on a terminal, required with --yes.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl Reason {
    /// The reason that was given or is typed. With `--yes` nothing is asked, so that a script never waits.
    pub(crate) fn ask(&self, confirmation: &Confirmation) -> anyhow::Result<String> {
        let reason = match &self.reason {
            Some(given) => given.clone(),
            None if confirmation.is_given() => {
                bail!("nothing was done: with --yes this needs --reason TEXT")
            }
            None if !io::stdin().is_terminal() => {
                bail!("nothing was done: without a terminal this needs --reason TEXT and --yes")
            }
            None => typed("Reason, kept in the audit: ")?.unwrap_or_default(),
        };
        let reason = reason.trim();
        if reason.is_empty() {
            bail!("nothing was done: the reason is empty");
        }
        if reason.chars().count() > LONGEST_REASON {
            bail!("nothing was done: the reason is longer than {LONGEST_REASON} characters");
        }
        Ok(reason.to_owned())
    }
}

/// A line that is typed after a question; nothing when the input has ended.
fn typed(question: &str) -> anyhow::Result<Option<String>> {
    // Not on standard output, which belongs to the answer. An answer can be read even if the question cannot be written.
    let _ = io::stderr().write_all(question.as_bytes());
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line).context("the answer cannot be read")?;
    Ok((read > 0).then_some(line))
}
