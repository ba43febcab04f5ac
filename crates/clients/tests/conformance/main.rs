//! The conformance list of the clients (C1 to C11), over real sockets, against servers written by hand here.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod director;
mod features;
mod gardener;
mod http;
mod kube_api;
mod kubernetes;
mod oauth;
mod pool;
mod provisioner;
mod runtime;
mod support;
mod tls;
mod transport;
mod warnings;
