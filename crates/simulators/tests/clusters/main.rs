//! The clusters of the landscape and what lives in runtimes, spoken to over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agent;
mod control;
mod elsewhere;
mod gardener;
mod installer;
mod ledger;
mod many;
mod modules;
mod persistence;
mod reconciler;
mod services;
mod tokens;
mod trouble;
mod world;
