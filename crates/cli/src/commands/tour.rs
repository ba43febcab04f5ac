//! `kcp tour`: a guided walk against the running `kcp up`. Each part says the command that it stands for.
//!
//! What a reader would get wrong: whatever happens, Ctrl-C included, the trouble that the tour made is ended. The runtime is removed at the
//! end; a walk that is left early says how to remove it.

mod guide;
mod restart;
mod stations;

use std::{path::Path, process::ExitCode};

use clap::Args;

use crate::{hint, output};
use guide::Guide;
use stations::Walk;

/// Take a guided tour: break a system, order a runtime, see it wait, restart, recover, use it, remove it.
#[derive(Args)]
pub(crate) struct Tour {
    /// Do not pause between the parts; the part that needs a person (kill and restart) is left out.
    #[arg(short, long)]
    yes: bool,
    /// The name of the runtime.
    #[arg(long, default_value = "tour")]
    name: String,
}

impl Tour {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let mut guide = Guide::new(self.yes);
        let mut walk = Walk::begin(data, self.name).await?;
        let walked: anyhow::Result<Option<()>> = tokio::select! {
            biased;
            pressed = tokio::signal::ctrl_c() => pressed.map(|()| None).map_err(Into::into),
            walked = walk.through(&mut guide) => walked.map(Some),
        };
        let ended = walk.end_trouble().await;
        if !matches!(walked, Ok(Some(())))
            && let Some(instance) = walk.instance()
        {
            hint::next(data, &[format!("kcp deprovision {instance}")]);
        }
        // Why it was left goes before what could not be ended then.
        if walked?.is_none() {
            ended?;
            return Ok(ExitCode::from(130));
        }
        ended?;
        output::print(
            "\nThat was the tour: the runtime is gone, and Gardener is as it was.\n\
             docs/cli.md has every command, kcp --help lists them.\n",
        )?;
        Ok(ExitCode::SUCCESS)
    }
}
