//! One request on its way to the simulator, which can be delivered more than once.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes, HttpBody, to_bytes},
    extract::Request,
    http::{HeaderValue, StatusCode, Uri, header::AUTHORIZATION, request::Parts},
    middleware::Next,
    response::Response,
};
use base::Clock;
use jiff::Timestamp;

use super::answer_log::{AnswerLog, read_of};
use crate::ledger::call::Call;

/// The largest answer that is taken apart.
const LARGEST: usize = 4 << 20;

pub(super) struct Delivery {
    pub(super) parts: Parts,
    pub(super) body: Bytes,
    pub(super) next: Next,
    pub(super) remembered: Arc<AnswerLog>,
    pub(super) clock: Clock,
}

impl Delivery {
    /// Delivers it; what a read is answered is remembered.
    pub(super) async fn make(&self, call: &Arc<Call>) -> Response {
        let request = Request::from_parts(self.parts.clone(), Body::from(self.body.clone()));
        let answer = call.scope(self.next.clone().run(request)).await;
        match read_of(&self.parts, &self.body) {
            Some(read) => self.remembered.note(read, self.clock.now(), answer).await,
            None => answer,
        }
    }

    /// Delivers it, and answers a read as it was answered so many seconds ago.
    pub(super) async fn make_stale(&self, call: &Arc<Call>, seconds: u64) -> Response {
        let answer = self.make(call).await;
        // A caller that may not read now may not read old answers either.
        if !(answer.status().is_success() || answer.status() == StatusCode::NOT_FOUND) {
            return answer;
        }
        let ago = Duration::from_secs(seconds);
        let then = self.clock.now().checked_sub(ago).unwrap_or(Timestamp::MIN);
        let old = read_of(&self.parts, &self.body).and_then(|read| self.remembered.at(&read, then));
        old.unwrap_or(answer)
    }

    /// Delivers it and takes the answer apart. Of one that goes on and on only the head is there.
    pub(super) async fn whole(&self, call: &Arc<Call>) -> (Response, Bytes) {
        let (parts, body) = self.make(call).await.into_parts();
        let body = match body.size_hint().exact() {
            Some(_) => to_bytes(body, LARGEST).await.unwrap_or_default(),
            None => Bytes::new(),
        };
        (Response::from_parts(parts, Body::empty()), body)
    }

    /// Changes nothing. Most simulators keep their state in a store that sees to it; a cluster has
    /// its own word for it.
    pub(super) fn only_pretend(&mut self) {
        let uri = self.parts.uri.to_string();
        if !self.parts.uri.path().starts_with("/clusters/") {
            return;
        }
        let joint = if uri.contains('?') { '&' } else { '?' };
        if let Ok(dry) = format!("{uri}{joint}dryRun=All").parse::<Uri>() {
            self.parts.uri = dry;
        }
    }

    /// Goes in with another token.
    pub(super) fn authorize(&mut self, token: Option<String>) {
        let header = token.and_then(|token| HeaderValue::try_from(format!("Bearer {token}")).ok());
        if let Some(header) = header {
            self.parts.headers.insert(AUTHORIZATION, header);
        }
    }
}
