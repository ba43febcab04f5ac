//! Authentication: tokens, client certificates, and the kubeconfigs that carry them.
//!
//! Every known user may do everything; roles and bindings are stored and not enforced.

mod authority;
mod der;
mod kubeconfig;
mod tls;
mod token;

pub(crate) use authority::{Authority, kept};
pub(crate) use kubeconfig::Kubeconfig;
pub(crate) use tls::{Peer, TlsListener, acceptor};
pub(crate) use token::Tokens;

/// A known user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub user: String,
    /// The groups.
    pub groups: Vec<String>,
}

impl Identity {
    /// An administrator with this name.
    pub fn admin(user: &str) -> Self {
        Self { user: user.to_owned(), groups: vec!["system:masters".to_owned()] }
    }
}
