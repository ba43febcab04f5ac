//! Answers that end before their end.
//!
//! How it works on a real socket: a body that fails makes the server drop the connection at once.
//! What has been flushed by then has left; so the body first lets the server flush, or does not.
//! Whether the end is a close or a reset is up to the [`super::wire::Line`].

use std::io;

use axum::{
    body::{Body, Bytes},
    http::{
        HeaderValue, StatusCode,
        header::{CONNECTION, CONTENT_LENGTH},
    },
    response::Response,
};
use futures::stream;

/// The connection ends without an answer.
pub(super) fn without_a_word() -> Response {
    let mut answer = Response::new(ending(None, false));
    *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    answer
}

/// The headers leave as they are, with the length that the body should have had.
pub(super) fn after_headers(mut answer: Response, body: &Bytes) -> Response {
    announce(&mut answer, body.len().max(1));
    *answer.body_mut() = ending(None, true);
    answer
}

/// The headers and the first half of the body leave.
pub(super) fn halfway(mut answer: Response, body: &Bytes) -> Response {
    announce(&mut answer, body.len().max(1));
    let half = body.slice(..body.len() / 2);
    *answer.body_mut() = ending(Some(half), true);
    answer
}

/// Everything leaves, and then the connection ends.
pub(super) fn after_all(mut answer: Response, body: Bytes) -> Response {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    *answer.body_mut() = Body::from(body);
    answer
}

fn announce(answer: &mut Response, length: usize) {
    answer.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
}

enum Next {
    Send(Option<Bytes>),
    Flush,
    Fail,
}

fn ending(part: Option<Bytes>, flushed: bool) -> Body {
    let first = if flushed { Next::Send(part) } else { Next::Fail };
    Body::from_stream(stream::unfold(first, |next| async move {
        match next {
            Next::Send(Some(part)) if !part.is_empty() => Some((Ok(part), Next::Flush)),
            Next::Send(_) | Next::Flush => {
                // The server flushes when its body has nothing to give for the moment.
                tokio::task::yield_now().await;
                Some((Err(cut()), Next::Fail))
            }
            Next::Fail => Some((Err(cut()), Next::Fail)),
        }
    }))
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "the connection is cut on purpose")
}
