//! The server over real TLS sockets, as `kube` and the installed `kubectl` see it.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod access;
mod applying;
mod controllers;
mod crashes;
mod extensions;
mod kubectl;
mod objects;
mod refusals;
mod support;
mod watching;
