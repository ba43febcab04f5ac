//! The Director: the registry in which every runtime has an entry, its labels, and a token to connect with.
//!
//! What a reader would get wrong: an update replaces all labels, so it is always read, merge, write.

mod codes;
mod runtimes;
mod types;

use crate::{
    GraphQl, Http,
    about::{About, Usage},
    error::{Component, Error},
};

pub use self::types::{Change, Condition, OneTimeToken, Registration, Runtime};

/// What it is to us.
pub const ABOUT: About = About {
    name: Component::DIRECTOR.0,
    purpose: "is the registry of runtimes: each has an entry with labels, and a token to connect with",
    settings: &[
        ("KCP_PROVISIONER_DIRECTOR_URL", "its GraphQL endpoint, for the provisioner"),
        ("KCP_PROVISIONER_DIRECTOR_TOKEN_URL", "where the provisioner's tokens come from"),
        ("KCP_PROVISIONER_DIRECTOR_CLIENT_ID", "the provisioner's client"),
        ("KCP_PROVISIONER_DIRECTOR_CLIENT_SECRET", "that client's secret"),
        ("KCP_BROKER_DIRECTOR_URL", "its GraphQL endpoint, for the broker"),
        ("KCP_BROKER_DIRECTOR_TOKEN_URL", "where the broker's tokens come from"),
        ("KCP_BROKER_DIRECTOR_CLIENT_ID", "the broker's client"),
        ("KCP_BROKER_DIRECTOR_CLIENT_SECRET", "that client's secret"),
    ],
    usage: Usage::StepsAndMore {
        called: "provisionRuntime registers the runtime before it answers, and the FAILED condition of a runtime is told until it has arrived",
        when_down: "provisionRuntime answers with the error and leaves nothing behind; a registration whose answer was lost is found again by its label",
    },
};

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
