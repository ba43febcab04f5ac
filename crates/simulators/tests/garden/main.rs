//! The simulated Gardener, spoken to over real sockets: admission, controller, adminkubeconfig.
//!
//! With `KUBECONFIG` the controller's tests run against the API server that it names, if that was given the
//! definitions; tests of what only our own server does then say that they were not run.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access;
mod admission;
mod defaults;
mod foreign;
mod kubectl;
mod life;
mod many;
mod objects;
mod patches;
mod restarts;
mod rules;
mod runtimes;
mod scenarios;
mod support;
mod versions;
