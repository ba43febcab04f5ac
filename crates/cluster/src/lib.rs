//! A Kubernetes API server in a crate; knows no Kyma.
//!
//! Many clusters behind one TLS port, each under `/clusters/{name}`. Objects are stored as they come,
//! as JSON; there are no controllers, no quotas and no enforced roles. A write is on disk before it is
//! answered, and everything answered is there again after kill -9.
//!
//! What a reader would get wrong: CRD schemas are shown but not enforced, and lists are atomic in
//! server-side apply except for finalizers.
//!
//! Simpler than in Kubernetes: every known user may do everything; owner references are stored, but
//! nothing is collected by them; field selectors may name any field; pages of a list are taken from
//! the current state, under the version of the first page; strategic merge patches know the keyed lists
//! of `patch/strategic.rs` and are refused with 415 for kinds that are not Kubernetes' own; HTTP/1.1
//! only; bodies in protobuf are read for the kinds that `kubectl create` sends that way, and answers
//! are always JSON.

#![warn(missing_docs)]

mod access;
mod apply;
mod builtin;
mod catalog;
mod cluster;
mod definitions;
mod http;
mod ids;
mod kind;
mod kinds;
mod native;
mod object;
mod patch;
mod path;
mod selector;
mod server;
mod status;
mod store;
mod table;
mod watch;
mod write;

pub use access::Identity;
pub use catalog::{Admission, Answer, Call, Catalog, FieldValidation, Verb, Where};
pub use http::read_yaml;
pub use kind::{Column, Kind, Names, Source};
pub use server::{Error, Server, Settings};
pub use status::{Cause, Status};
pub use store::{History, LogError};
