//! The program as a process: started, asked, killed, started again, stopped; one file for each group of commands.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod asking;
mod check;
mod clusters;
mod commands;
mod dist;
mod events;
#[path = "../support/fake.rs"]
mod fake;
mod fleet;
mod known;
mod landscape;
mod named;
mod original;
mod outputs;
mod provision;
mod readme;
mod remote;
mod runtimes;
mod scripts;
mod steps;
mod stranger;
#[path = "../support/mod.rs"]
mod support;
mod telemetry;
#[path = "../support/terminal.rs"]
mod terminal;
mod tour;
mod up;
mod watching;
mod widths;
