//! What we call: one HTTP client, one kind of error, one folder per outside system.

pub mod error;
pub mod http;
pub mod oauth;

pub use error::{Component, Error, Kind};
pub use http::Http;
pub use oauth::{Grant, TokenSource};
