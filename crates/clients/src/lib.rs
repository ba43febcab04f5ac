//! Clients of outside systems: one gate per system, one kind of error, one folder per system.

#![warn(missing_docs)]

mod answer;
pub mod avs;
pub mod aws;
pub mod azure;
mod breaker;
pub mod btp;
pub mod cis;
pub mod director;
pub mod edp;
pub mod error;
pub mod gardener;
mod gate;
pub mod graphql;
pub mod http;
pub mod ias;
pub mod kubernetes;
pub mod lifecycle_manager;
pub mod lms;
pub mod oauth;
pub mod observer;
pub mod provisioner;
pub mod reconciler;
pub mod releases;
pub mod runtime;
mod scrub;
pub mod spc;

pub use error::{Component, Error, Kind};
pub use gate::{CallLimits, Gate};
pub use graphql::GraphQl;
pub use http::Http;
pub use oauth::{Grant, TokenSource};
pub use observer::{CallReport, Observer};
