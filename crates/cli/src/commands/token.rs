//! `kcp token`: a token for other programs.

use std::{path::Path, process::ExitCode};

use clap::Args;
use secrecy::ExposeSecret;

use crate::{client, output};

/// Print an access token for the APIs, for curl and scripts. Keep it secret, like a password.
#[derive(Args)]
pub(crate) struct Token {}

impl Token {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let token = client::token(data).await?;
        output::print(&format!("{}\n", token.expose_secret()))?;
        Ok(ExitCode::SUCCESS)
    }
}
