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
pub(super) async fn nullable<T, O: From<T>>(
    ctx: &Context<'_>,
    work: impl Future<Output = Result<T, Error>>,
) -> Option<O> {
    match unbroken(work).await {
        Ok(answer) => Some(answer.into()),
        Err(error) => {
            ctx.add_error(ctx.set_error_path(failure(&error)));
            None
        }
    }
}

/// Answers a field that cannot be null.
pub(super) async fn required<T>(
    work: impl Future<Output = Result<T, Error>>,
) -> async_graphql::Result<T> {
    unbroken(work).await.map_err(|error| {
        let ServerError { message, extensions, .. } = failure(&error);
        async_graphql::Error { message, source: Some(Arc::new(Voids)), extensions }
    })
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
        "a call was not done"
    );
    let mut extensions = ErrorExtensionValues::default();
    extensions.set("error_code", error.code.number());
    extensions.set("error_component", error.component.as_str());
    extensions.set("error_reason", error.reason.as_str());
    let mut failure = ServerError::new(message, None);
    failure.extensions = Some(extensions);
    failure
}

async fn unbroken<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| {
        tracing::error!(panic = text(panic.as_ref()), "a use case panicked");
        Err(Error::internal(BROKEN))
    })
}

/// What a panic said.
pub(super) fn text(panic: &(dyn Any + Send)) -> &str {
    let words = panic.downcast_ref::<&str>().copied();
    words.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}
