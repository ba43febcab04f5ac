//! From the outcome of a use case to what a client reads, failures and panics included.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc};

use async_graphql::{Context, ErrorExtensionValues, ServerError};
use futures::FutureExt;
use provisioner::Error;

/// What clients read when something broke that they cannot help.
pub(super) const BROKEN: &str = "internal system error";

/// Marks the failure of a field that cannot be null: the whole answer is null then.
struct Voids;

/// Answers a field that may be null.
pub(super) fn nullable<T, O: From<T>>(
    ctx: &Context<'_>,
    work: impl Future<Output = Result<T, Error>>,
) -> impl Future<Output = Option<O>> {
    let work = unbroken(work);
    async move {
        match work.await {
            Ok(answer) => Some(answer.into()),
            Err(error) => {
                ctx.add_error(ctx.set_error_path(failure(&error)));
                None
            }
        }
    }
}

/// Answers a field that cannot be null.
pub(super) fn required<T>(
    work: impl Future<Output = Result<T, Error>>,
) -> impl Future<Output = async_graphql::Result<T>> {
    let work = unbroken(work);
    async move {
        work.await.map_err(|error| {
            let ServerError { message, extensions, .. } = failure(&error);
            async_graphql::Error { message, source: Some(Arc::new(Voids)), extensions }
        })
    }
}

/// Whether a failure leaves nothing of the answer.
pub(super) fn voids(error: &ServerError) -> bool {
    error.source::<Voids>().is_some()
}

/// A failure in the words that clients read.
pub(super) fn failure(error: &Error) -> ServerError {
    let message = base::failure::shortened(error.message.clone());
    // What the caller wrote may be in the text: it is a field of its own, and shortened.
    tracing::info!(
        code = error.code.number(),
        reason = error.reason,
        component = error.component,
        error = message,
        "request rejected"
    );
    let mut extensions = ErrorExtensionValues::default();
    extensions.set("error_code", error.code.number());
    extensions.set("error_component", error.component.as_str());
    extensions.set("error_reason", error.reason.as_str());
    let mut failure = ServerError::new(message, None);
    failure.extensions = Some(extensions);
    failure
}

/// The work, with a panic as its error. The futures of use cases are large: it is boxed before anybody holds it.
fn unbroken<T>(
    work: impl Future<Output = Result<T, Error>>,
) -> impl Future<Output = Result<T, Error>> {
    let work = Box::pin(AssertUnwindSafe(work).catch_unwind());
    async {
        work.await.unwrap_or_else(|panic| {
            tracing::error!(panic = text(panic.as_ref()), "a use case panicked");
            Err(Error::internal(BROKEN))
        })
    }
}

/// What a panic said.
pub(super) fn text(panic: &(dyn Any + Send)) -> &str {
    let words = panic.downcast_ref::<&str>().copied();
    words.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}

#[cfg(test)]
mod tests {
    use async_graphql::{EmptyMutation, EmptySubscription, Object, Schema};
    use provisioner::error::Code;
    use serde_json::{Value, json, to_value};

    use super::*;

    struct Query(Error);

    #[Object]
    impl Query {
        async fn nullable(&self, ctx: &Context<'_>) -> Option<i32> {
            nullable(ctx, async { Err::<i32, _>(self.0.clone()) }).await
        }

        async fn required(&self) -> async_graphql::Result<i32> {
            required(async { Err(self.0.clone()) }).await
        }

        async fn panicking(&self, ctx: &Context<'_>) -> Option<i32> {
            let work = async || -> Result<i32, Error> { panic!("secret /etc/path") };
            nullable(ctx, work()).await
        }
    }

    /// Data and errors of a query whose use cases fail so.
    async fn run(error: Error, query: &str) -> (Value, Vec<ServerError>) {
        let schema = Schema::new(Query(error), EmptyMutation, EmptySubscription);
        let answer = schema.execute(query).await;
        (answer.data.into_json().unwrap(), answer.errors)
    }

    #[tokio::test]
    async fn every_code_leaves_as_a_number_with_component_and_reason() {
        let codes = [
            (Code::BadRequest, 400),
            (Code::Forbidden, 403),
            (Code::Internal, 500),
            (Code::External, 501),
            (Code::BadGateway, 502),
            (Code::Database, 1),
            (Code::NotFound, 2),
        ];

        for (code, number) in codes {
            let error = Error {
                message: "100% wrong".into(),
                code,
                reason: "ERR_INFRA_QUOTA_EXCEEDED".into(),
                component: "gardener".into(),
            };
            let (data, errors) = run(error, "{ nullable }").await;

            assert_eq!(data, json!({"nullable": null}));
            assert_eq!(errors[0].message, "100% wrong");
            let expected = json!({
                "error_code": number,
                "error_component": "gardener",
                "error_reason": "ERR_INFRA_QUOTA_EXCEEDED",
            });
            assert_eq!(to_value(&errors[0].extensions).unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn only_the_failure_of_a_required_field_voids_the_answer() {
        let (_, nullable) = run(Error::bad("no"), "{ nullable }").await;
        let (_, required) = run(Error::bad("no"), "{ required }").await;

        assert!(!voids(&nullable[0]));
        assert!(voids(&required[0]));
    }

    #[tokio::test]
    async fn a_panic_is_an_internal_error_that_says_nothing_of_its_cause() {
        let (data, errors) = run(Error::bad("no"), "{ panicking }").await;

        assert_eq!(data, json!({"panicking": null}));
        assert_eq!(errors[0].message, BROKEN);
        let expected = json!({
            "error_code": 500,
            "error_component": "provisioner",
            "error_reason": "err_provisioner_internal",
        });
        assert_eq!(to_value(&errors[0].extensions).unwrap(), expected);
    }
}
