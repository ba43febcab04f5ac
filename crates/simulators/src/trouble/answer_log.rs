//! Recent responses to reads, so that stale ones can be sent again.
//!
//! What a reader would get wrong: only answers that were given are known. What nobody read has no past.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use aws_lc_rs::digest::{Context, SHA256, SHA256_OUTPUT_LEN};
use axum::{
    body::{Body, Bytes, HttpBody, to_bytes},
    http::{HeaderMap, Method, StatusCode, request::Parts},
    response::Response,
};
use jiff::Timestamp;
use serde::Deserialize;

/// How large a body may be to be remembered.
const LARGEST: usize = 256 << 10;
/// How much of one system is remembered.
const MOST: usize = 8 << 20;
/// How much an answer counts beside its body.
const AN_ANSWER: usize = 512;

/// Which read it was.
type ReadDigest = [u8; SHA256_OUTPUT_LEN];

#[derive(Debug, Default)]
pub(super) struct AnswerLog(Mutex<AnswerHistory>);

#[derive(Debug, Default)]
struct AnswerHistory {
    answers: HashMap<ReadDigest, VecDeque<Answer>>,
    /// The read of every answer, oldest first.
    order: VecDeque<ReadDigest>,
    size: usize,
}

#[derive(Debug, Clone)]
struct Answer {
    at: Timestamp,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// Which read a request is; `None` when it is none.
pub(super) fn read_of(request: &Parts, body: &[u8]) -> Option<ReadDigest> {
    let query = request.uri.query().unwrap_or_default();
    let plain = matches!(request.method, Method::GET | Method::HEAD);
    let lasting = query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1"));
    if lasting || !(plain || asks_only(body)) {
        return None;
    }
    let mut digest = Context::new(&SHA256);
    let header = |name| request.headers.get(name).map_or(&b""[..], |value| value.as_bytes());
    for part in
        [request.uri.path().as_bytes(), query.as_bytes(), header("tenant"), header("accept"), body]
    {
        digest.update(&part.len().to_be_bytes());
        digest.update(part);
    }
    let mut read = [0; SHA256_OUTPUT_LEN];
    read.copy_from_slice(digest.finish().as_ref());
    Some(read)
}

/// Whether a body is a GraphQL query, which reads although it is posted.
fn asks_only(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct GraphQlBody {
        query: String,
    }
    let asked = serde_json::from_slice::<GraphQlBody>(body).ok();
    asked.is_some_and(|asked| {
        let text = asked.query.trim_start();
        text.starts_with('{') || text.starts_with("query")
    })
}

impl AnswerLog {
    /// Remembers an answer, unless it is too large or has no end.
    pub(super) async fn note(&self, read: ReadDigest, at: Timestamp, answer: Response) -> Response {
        let small = |size: u64| size <= LARGEST as u64;
        if !answer.body().size_hint().exact().is_some_and(small) {
            return answer;
        }
        let (head, body) = answer.into_parts();
        let Ok(body) = to_bytes(body, LARGEST).await else {
            return Response::from_parts(head, Body::empty());
        };
        let (status, headers) = (head.status, head.headers.clone());
        self.kept().add(read, Answer { at, status, headers, body: body.clone() });
        Response::from_parts(head, Body::from(body))
    }

    /// The answer to the read at `then`.
    pub(super) fn at(&self, read: &ReadDigest, then: Timestamp) -> Option<Response> {
        let kept = self.kept();
        let answers = kept.answers.get(read)?;
        let old = answers.iter().rev().find(|answer| answer.at <= then);
        let Answer { status, headers, body, .. } = old.or(answers.front())?.clone();
        let mut response = Response::new(Body::from(body));
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        Some(response)
    }

    fn kept(&self) -> MutexGuard<'_, AnswerHistory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AnswerHistory {
    fn add(&mut self, read: ReadDigest, answer: Answer) {
        let answers = self.answers.entry(read).or_default();
        let same = |last: &Answer| last.status == answer.status && last.body == answer.body;
        if answers.back().is_some_and(same) {
            return;
        }
        self.size += AN_ANSWER + answer.body.len();
        answers.push_back(answer);
        self.order.push_back(read);
        while self.size > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, read: &ReadDigest) {
        let Some(answers) = self.answers.get_mut(read) else { return };
        if let Some(answer) = answers.pop_front() {
            self.size -= AN_ANSWER + answer.body.len();
        }
        if answers.is_empty() {
            self.answers.remove(read);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn memory_is_bounded_and_the_oldest_goes_first() {
        let remembered = AnswerLog::default();
        let at: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let body = |number: u8| Response::new(Body::from(vec![number; LARGEST]));

        for number in 0..100 {
            remembered.note([number; 32], at, body(number)).await;
        }

        assert!(remembered.kept().size <= MOST);
        assert!(remembered.at(&[0; 32], at).is_none());
        assert!(remembered.at(&[99; 32], at).is_some());
    }

    #[test]
    fn a_posted_query_is_a_read_and_a_mutation_is_none() {
        assert!(asks_only(br#"{"query": " query ($id: ID!) { x }"}"#));
        assert!(asks_only(br#"{"query": "{ x }"}"#));
        assert!(!asks_only(br#"{"query": "mutation { x }"}"#));
        assert!(!asks_only(b"grant_type=password"));
    }
}
