//! Whether it is meant: each command that destroys something asks first, in the same way.
//!
//! What a reader would get wrong: no terminal does not mean yes. An answer may come through a pipe, but it must come: the
//! end of input is a no.

use std::io::{self, Write as _};

use anyhow::{Context as _, bail};
use clap::Args;

use crate::output;

/// The flag of commands that destroy something.
#[derive(Args)]
pub(crate) struct Confirmation {
    /// Do not ask whether it is meant.
    #[arg(short, long)]
    yes: bool,
}

impl Confirmation {
    /// Whether nothing will be asked.
    pub(crate) const fn is_given(&self) -> bool {
        self.yes
    }

    /// Comes back without an error only if it is meant. `what` is a sentence that says what will happen.
    pub(crate) fn ask(&self, what: &str) -> anyhow::Result<()> {
        if self.yes {
            return Ok(());
        }
        // Not on standard output, which belongs to the answer. An answer can be read even if the question cannot be written.
        let question = output::harmless(&format!("{what}. Type [y/N]: "), "");
        let _ = io::stderr().write_all(question.as_bytes());
        let mut answer = String::new();
        if io::stdin().read_line(&mut answer).context("the answer cannot be read")? == 0 {
            bail!("nothing was done: there was no answer; --yes skips the question");
        }
        if !matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            bail!("nothing was done");
        }
        Ok(())
    }
}
