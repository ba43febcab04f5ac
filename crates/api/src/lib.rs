//! All HTTP in: parse, authenticate, call, answer.

mod answers;
mod archive;
mod audit;
pub mod auth;
mod correlation;
mod documents;
pub mod error;
mod events;
mod expire;
pub mod graphql;
pub mod health;
mod history;
mod info;
mod jobs;
pub mod kubeconfig;
mod leftovers;
mod operations;
mod orchestrations;
pub mod origins;
pub mod osb;
pub mod router;
pub mod runtimes;
mod shield;
mod streaming;
mod unique_json;
mod version;

pub use auth::{
    Credentials, Peer, PeerAddress, Principal, Remote, RequireScope, TrustedIssuer, Verifier, scope,
};
pub use correlation::CorrelationId;
pub use error::Error;
pub use router::RequestLimits;
