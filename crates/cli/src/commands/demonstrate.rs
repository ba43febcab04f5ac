//! `kcp demonstrate`: order an operation that changes nothing, and perhaps watch it.

use std::{path::Path, process::ExitCode};

use clap::Args;

use super::operations::follow;
use crate::{client::Client, output};

/// Order an operation that changes nothing and shows how operations go by.
#[derive(Args)]
pub(crate) struct Demonstrate {
    /// Watch it until it ends.
    #[arg(short, long)]
    follow: bool,
}

impl Demonstrate {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let id = client.demonstrate().await?;
        output::print(&format!("operation {id} is accepted\n"))?;
        if self.follow { follow::follow(&client, &id).await } else { Ok(ExitCode::SUCCESS) }
    }
}
