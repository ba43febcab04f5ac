//! Checks of the repository that need Rust: `cargo xtask layers`, `dependencies`, `check-files`, `guarantees`.

mod dependencies;
mod files;
mod guarantees;
mod landscape;
mod layers;
mod unused;

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  layers               fail on a dependency between our crates that the map does not have, and on the landscape in what is shipped
  dependencies         fail on a crate that deny.toml does not allow, and on one that nothing uses
  check-files [WORD…]  warn of long files; fail on very long ones, on machine paths, on vague words, and on each WORD
  guarantees           fail on a test that docs/guarantees.md names and nobody wrote, and on a promise listed twice";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let passed = match arguments.as_slice() {
        ["layers"] => layers::check(&repository()),
        ["dependencies"] => dependencies::check(&repository()),
        ["guarantees"] => guarantees::check(&repository()),
        ["check-files", words @ ..] => files::check(&repository(), words),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    report(passed)
}

fn report(passed: Result<bool>) -> ExitCode {
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
