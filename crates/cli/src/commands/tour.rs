//! `kcp tour`: a guided walk against the running `kcp up`. Each part says the command that it stands for.
//!
//! What a reader would get wrong: whatever happens, the trouble that the tour made is ended. The runtime is removed at the
//! end; a walk that is left early says how to remove it.

mod guide;
mod restart;
mod stations;

use std::{path::Path, process::ExitCode};

use clap::Args;

use crate::{hint, output};
use guide::Guide;
use stations::Walk;

/// Walk through kcp: break a system, order a runtime, see it wait, restart, heal, enter, remove.
#[derive(Args)]
pub(crate) struct Tour {
    /// Walk without asking; the part that needs a person (kill and start again) is left out.
    #[arg(short, long)]
    yes: bool,
    /// What the runtime is called.
    #[arg(long, default_value = "tour")]
    name: String,
}

impl Tour {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let mut guide = Guide::new(self.yes);
        let mut walk = Walk::begin(data, self.name).await?;
        let walked = walk.through(&mut guide).await;
        walk.end_trouble().await?;
        if let Err(error) = walked {
            if let Some(instance) = walk.instance() {
                hint::next(data, &[format!("kcp deprovision {instance}")]);
            }
            return Err(error);
        }
        output::print(
            "\nThat was the tour: the runtime is gone, and Gardener is as it was.\n\
             docs/cli.md has every command, kcp --help lists them.\n",
        )?;
        Ok(ExitCode::SUCCESS)
    }
}
