//! Checks a query before anything of it runs, and marks what is wrong with it as the client's mistake.
//!
//! What a reader would get wrong: the library checks much of this again while fields are resolved. By then a mutation
//! in front may have run, so nothing may be left for that time.

use std::sync::Arc;

use async_graphql::{
    ErrorExtensionValues, Request, ServerError, ServerResult, ValidationResult, Value, Variables,
    async_trait::async_trait,
    extensions::{
        Extension, ExtensionContext, ExtensionFactory, NextParseQuery, NextPrepareRequest,
        NextValidation,
    },
    parser::types::ExecutableDocument,
};

use super::{literals, variables};
use crate::graphql::http::selected;

const CODE: &str = "code";

/// What is wrong with a query.
#[derive(Debug, Clone, Copy)]
pub(in crate::graphql) enum Fault {
    /// It cannot be read.
    Syntax,
    /// It does not fit the schema or the limits.
    Invalid,
}

impl Fault {
    /// The same error, marked.
    pub(in crate::graphql) fn in_error(self, mut error: ServerError) -> ServerError {
        let code = match self {
            Self::Syntax => "GRAPHQL_PARSE_FAILED",
            Self::Invalid => "GRAPHQL_VALIDATION_FAILED",
        };
        error.extensions.get_or_insert_with(ErrorExtensionValues::default).set(CODE, code);
        error
    }
}

/// Whether an error says that the query itself is wrong.
pub(in crate::graphql) fn is_fault(error: &ServerError) -> bool {
    let code = error.extensions.as_ref().and_then(|extensions| extensions.get(CODE));
    matches!(code, Some(Value::String(_)))
}

/// The checks, as the library wants them.
pub(in crate::graphql) struct Check;

impl ExtensionFactory for Check {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(Self)
    }
}

#[async_trait]
impl Extension for Check {
    async fn prepare_request(
        &self,
        ctx: &ExtensionContext<'_>,
        mut request: Request,
        next: NextPrepareRequest<'_>,
    ) -> ServerResult<Request> {
        let registry = &ctx.schema_env.registry;
        let given = std::mem::take(&mut request.variables);
        let name = request.operation_name.clone();
        let document = request.parsed_query().map_err(|error| Fault::Syntax.in_error(error))?;
        literals::check(registry, document).map_err(|error| Fault::Invalid.in_error(error))?;
        if let Some(operation) = selected(document, name.as_deref()) {
            request.variables = variables::coerced(registry, operation, &given)
                .map_err(|error| Fault::Invalid.in_error(error))?;
        }
        next.run(ctx, request).await
    }

    /// Reading is over; what can still fail here is how deep fragments go.
    async fn parse_query(
        &self,
        ctx: &ExtensionContext<'_>,
        query: &str,
        variables: &Variables,
        next: NextParseQuery<'_>,
    ) -> ServerResult<ExecutableDocument> {
        next.run(ctx, query, variables).await.map_err(|error| Fault::Invalid.in_error(error))
    }

    async fn validation(
        &self,
        ctx: &ExtensionContext<'_>,
        next: NextValidation<'_>,
    ) -> Result<ValidationResult, Vec<ServerError>> {
        next.run(ctx)
            .await
            .map_err(|errors| errors.into_iter().map(|e| Fault::Invalid.in_error(e)).collect())
    }
}
