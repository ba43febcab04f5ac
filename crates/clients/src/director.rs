//! The Director: the registry in which every runtime has an entry, its labels, and a token to connect with.
//!
//! What a reader would get wrong: an update replaces all labels, so it is always read, merge, write.

mod codes;
mod runtimes;
mod types;

use crate::{GraphQl, Http, error::Error};

pub use self::types::{Change, Condition, OneTimeToken, Registration, Runtime};

/// The label by which a registration is found again when its answer was lost.
pub const INSTANCE_LABEL: &str = "broker_instance_id";

/// A client of the Director.
#[derive(Debug, Clone)]
pub struct Director {
    graphql: GraphQl,
}

impl Director {
    /// The Director at the base of `http`, which brings the token.
    pub fn new(http: Http) -> Self {
        Self { graphql: GraphQl::new(http, codes::of) }
    }

    /// Finds out whether it can be reached and knows us: asks `tenant` for a runtime that nobody has.
    pub async fn check(&self, tenant: &str) -> Result<(), Error> {
        self.runtime(tenant, "00000000-0000-0000-0000-000000000000").await.map(drop)
    }
}
