//! The provisioner's API: GraphQL over HTTP, name for name as its clients know it.
//!
//! What a reader would get wrong: a field that fails must not simply return an error. The library would leave it
//! out of the answer; `answer` makes it null, or makes the whole answer null when it cannot be.

mod answer;
mod audited;
mod caller;
mod explorer;
mod http;
mod inputs;
mod kubeconfig;
mod mutation;
mod outputs;
mod query;
mod strict;
mod transport;

use std::time::Duration;

use async_graphql::EmptySubscription;
use axum::{Router, routing::any};
use provisioner::Provisioner;

pub use explorer::routes as explorer;

use self::{http::Service, mutation::Mutation, query::Query};

/// Where it is served.
pub const PATH: &str = "/graphql";

type Schema = async_graphql::Schema<Query, Mutation, EmptySubscription>;

/// How many directives one field may have.
const MOST_DIRECTIVES: usize = 5;

/// Limits of one query. A query beyond them is not valid.
#[derive(Debug, Clone, Copy)]
pub struct QueryLimits {
    /// How deep fields may be nested.
    pub depth: usize,
    /// How much may be asked for: one for each field, and [`QueryLimits::CALL`] for each use case.
    pub complexity: usize,
    /// How long a query may wait for a change; shorter than the time that a request may take.
    pub wait: Duration,
}

impl QueryLimits {
    /// The cost of one use case, besides its fields.
    pub const CALL: usize = 20;
    /// Enough for every known client and for reading the whole schema.
    pub const DEFAULT: Self = Self { depth: 20, complexity: 1_000, wait: Duration::from_secs(20) };
}

/// The route of the API. It wants a [`crate::Principal`] in the extensions of each request.
pub fn routes(provisioner: Provisioner, limits: QueryLimits) -> Router {
    let service = Service::new(schema(Some(provisioner), limits), limits);
    Router::new().route(PATH, any(http::serve)).with_state(service)
}

/// The schema, printed.
pub fn sdl() -> String {
    schema(None, QueryLimits::DEFAULT).sdl()
}

/// The schema, with the provisioner that answers; one without can only be printed.
fn schema(provisioner: Option<Provisioner>, limits: QueryLimits) -> Schema {
    let mut schema = Schema::build(Query, Mutation, EmptySubscription);
    if let Some(provisioner) = provisioner {
        schema = schema.data(provisioner);
    }
    schema
        .data(limits)
        .limit_depth(limits.depth)
        .limit_complexity(limits.complexity)
        .limit_directives(MOST_DIRECTIVES)
        .extension(strict::check::Check)
        .finish()
}
