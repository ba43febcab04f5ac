//! What steps may reach.

use crate::{Http, greetings::Greetings};

/// What steps may reach.
pub struct Env {
    /// Greetings.
    pub greetings: Option<Greetings>,
    /// Whoever is told about the Kyma that a runtime shall have.
    pub reconciler: Http,
}
