//! `kcp login` and `kcp logout`: who speaks to a control plane elsewhere.

use std::{
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context as _, bail};
use clap::Args;
use url::Url;

use crate::{
    output,
    remote::{self, config::Context, oidc::Issuer, tokens},
};

/// Log in to a remote control plane: in a browser, on another device, or with a password.
#[derive(Args)]
#[command(visible_alias = "l")]
pub(crate) struct Login {
    /// Show a code for logging in on another device.
    #[arg(long, conflicts_with_all = ["username", "no_browser"])]
    device: bool,
    /// Print the login address instead of opening a browser.
    #[arg(long, conflicts_with = "username")]
    no_browser: bool,
    /// The user name, for issuers that accept passwords.
    #[arg(short, long, requires = "password", env = "KCP_USERNAME", hide_env_values = true)]
    username: Option<String>,
    /// The password.
    #[arg(short, long, requires = "username", env = "KCP_PASSWORD", hide_env_values = true)]
    password: Option<String>,
}

impl Login {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let context = elsewhere(data)?;
        let issuer = Issuer::discover(&context).await?;
        let login = match (&self.username, &self.password) {
            (Some(user), Some(password)) => issuer.password(user, password).await?,
            _ if self.device => issuer.device(show).await?,
            _ => issuer.browser(|url| open(url, !self.no_browser)).await?,
        };
        // A renewal that runs at the same time must not put back what it has read before.
        let _lock = tokens::lock(&context).await?;
        tokens::write(&context, &login)?;
        output::print(&format!("logged in to {}\n", context.server))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Log out of a remote control plane: delete its tokens.
#[derive(Args)]
pub(crate) struct Logout {}

impl Logout {
    pub(crate) async fn run(data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let context = elsewhere(data)?;
        let _lock = tokens::lock(&context).await?;
        let was = if tokens::remove(&context)? { "logged out of" } else { "not logged in to" };
        output::print(&format!("{was} {}\n", context.server))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn elsewhere(data: Option<&Path>) -> anyhow::Result<Context> {
    let Some(context) = remote::target(data)? else {
        bail!(
            "a control plane on this machine needs no login; name another one with --context or \
             --server, or add it: kcp context add"
        );
    };
    Ok(context)
}

fn show(page: &str, code: &str) {
    let (page, code) = (output::harmless(page, ""), output::harmless(code, ""));
    eprintln!("Open {page} and compare the code {code}");
}

/// Says where to log in, and opens it where a browser can be shown.
fn open(url: &Url, in_browser: bool) {
    eprintln!("Log in at {url}");
    if !in_browser {
        return;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    let command = command.arg(url.as_str()).stdin(Stdio::null());
    let opened = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    // Without a browser the address can still be opened by hand.
    if opened.context("no browser").is_err() {
        eprintln!("(no browser was found on this machine; kcp login --device needs none)");
    }
}
