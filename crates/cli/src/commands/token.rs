//! `kcp token`: a token for other programs.

use std::{path::Path, process::ExitCode};

use clap::Args;
use secrecy::ExposeSecret;

use crate::{client, output};

/// Print a token for the APIs of the control plane, for curl and scripts. It is as good as a password.
#[derive(Args)]
pub(crate) struct Token {}

impl Token {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let token = client::token(data).await?;
        output::print(&format!("{}\n", token.expose_secret()))?;
        Ok(ExitCode::SUCCESS)
    }
}
