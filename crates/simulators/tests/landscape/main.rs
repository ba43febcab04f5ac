//! The landscape, spoken to over real sockets: trouble, ledger, Director, issuer, control API.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod control;
mod director;
mod ledger;
mod login;
mod matching;
mod people;
mod persistence;
mod trouble;
mod wire;
#[expect(dead_code, reason = "shared with the tests of the systems")]
mod world;
