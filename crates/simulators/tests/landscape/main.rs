//! The landscape, spoken to over real sockets: its systems, trouble, ledger, Director, issuer, control API.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod control;
mod director;
mod ledger;
mod login;
mod matching;
mod people;
mod persistence;
mod systems;
mod trouble;
mod wire;
mod world;
