//! The layer around every simulator: enters calls in the ledger and makes the trouble.
//!
//! What a reader would get wrong: the ledger is written before the answer leaves, and the trouble
//! has decided by then. A simulator inside sees ordinary calls only.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER},
        request::Parts,
    },
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use base::Clock;
use jiff::fmt::rfc2822::DateTimePrinter;

use super::{Cut, Kind, Troubles, cut};
use crate::{
    ledger::{About, Ledger, call::Call},
    store::Error,
};

/// The largest body a simulator takes.
const LARGEST: usize = 4 << 20;

#[derive(Clone)]
struct Watched {
    system: &'static str,
    ledger: Arc<Ledger>,
    troubles: Arc<Troubles>,
    clock: Clock,
}

/// One request that can be delivered more than once.
struct Delivery {
    parts: Parts,
    body: Bytes,
    next: Next,
}

/// Puts the layer around the routes of one system.
pub(crate) fn around(
    routes: Router,
    system: &'static str,
    ledger: Arc<Ledger>,
    troubles: Arc<Troubles>,
    clock: Clock,
) -> Router {
    let watched = Watched { system, ledger, troubles, clock };
    routes.route_layer(from_fn_with_state(watched, watch))
}

async fn watch(State(watched): State<Watched>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let answer = match to_bytes(body, LARGEST).await {
        Ok(body) => watched.answer(Delivery { parts, body, next }).await,
        Err(_) => watched.too_large(&parts),
    };
    answer.unwrap_or_else(|error| {
        tracing::error!(%error, system = watched.system, "a call cannot be entered");
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    })
}

impl Watched {
    async fn answer(&self, delivery: Delivery) -> Result<Response, Error> {
        let path = delivery.parts.uri.path();
        let met = self.troubles.meet(self.system, delivery.parts.method.as_str(), path)?;
        let call = self.receive(&delivery.parts, met.as_ref())?;
        let Some(kind) = met else {
            return left(&call, delivery.make(&call).await);
        };
        match kind {
            Kind::Slow { delay_ms } => {
                self.clock.sleep(Duration::from_millis(delay_ms)).await;
                left(&call, delivery.make(&call).await)
            }
            Kind::Down { refuse: true } | Kind::Reset { when: Cut::BeforeHeaders } => {
                call.lost()?;
                Ok(cut::without_a_word())
            }
            Kind::Down { refuse: false } => left(&call, error(503, None)),
            Kind::Busy { retry_after_seconds, as_date } => {
                left(&call, self.busy(retry_after_seconds, as_date))
            }
            Kind::Status { status, body } => left(&call, error(status, body)),
            Kind::LostAnswer { status } => {
                delivery.make(&call).await;
                if let Some(status) = status {
                    return left(&call, error(status, None));
                }
                call.lost()?;
                Ok(cut::without_a_word())
            }
            Kind::Reset { when: Cut::AfterHeaders } => {
                let (answer, body) = whole(delivery.make(&call).await).await;
                call.lost()?;
                Ok(cut::after_headers(answer, &body))
            }
            Kind::Truncated => {
                let (answer, body) = whole(delivery.make(&call).await).await;
                call.lost()?;
                Ok(cut::halfway(answer, &body))
            }
            Kind::Malformed { body } => {
                let answer = delivery.make(&call).await;
                left(&call, malformed(answer, body).await)
            }
            Kind::Duplicate => {
                let answer = delivery.make(&call).await;
                let again = self.receive(&delivery.parts, Some(&kind))?;
                again.replied(delivery.make(&again).await.status().as_u16())?;
                left(&call, answer)
            }
            Kind::Phantom => left(&call, delivery.make(&call).await),
        }
    }

    fn too_large(&self, request: &Parts) -> Result<Response, Error> {
        let call = self.receive(request, None)?;
        left(&call, StatusCode::PAYLOAD_TOO_LARGE.into_response())
    }

    fn receive(&self, request: &Parts, met: Option<&Kind>) -> Result<Arc<Call>, Error> {
        let about = About::new(self.system, request);
        let pretends = met == Some(&Kind::Phantom);
        Call::received(self.ledger.clone(), about, met.map(Kind::name), pretends)
    }

    fn busy(&self, seconds: u64, as_date: bool) -> Response {
        let at = self.clock.now() + Duration::from_secs(seconds);
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&at).ok();
        let text = date.filter(|_| as_date).unwrap_or_else(|| seconds.to_string());
        let mut answer = error(429, None);
        if let Ok(text) = HeaderValue::from_str(&text) {
            answer.headers_mut().insert(RETRY_AFTER, text);
        }
        answer
    }
}

impl Delivery {
    async fn make(&self, call: &Arc<Call>) -> Response {
        let request = Request::from_parts(self.parts.clone(), Body::from(self.body.clone()));
        call.scope(self.next.clone().run(request)).await
    }
}

/// Enters that an answer leaves.
fn left(call: &Call, answer: Response) -> Result<Response, Error> {
    call.replied(answer.status().as_u16())?;
    Ok(answer)
}

/// An answer as gateways give it, unless told otherwise.
fn error(status: u16, body: Option<String>) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let json = body.as_deref().is_some_and(|body| body.trim_start().starts_with(['{', '[']));
    let media = if json { "application/json" } else { "text/html; charset=utf-8" };
    let body = body.unwrap_or_else(|| format!("<html><body><h1>{status}</h1></body></html>\n"));
    (status, [(CONTENT_TYPE, media)], body).into_response()
}

async fn whole(answer: Response) -> (Response, Bytes) {
    let (parts, body) = answer.into_parts();
    let body = to_bytes(body, LARGEST).await.unwrap_or_default();
    (Response::from_parts(parts, Body::empty()), body)
}

async fn malformed(answer: Response, text: Option<String>) -> Response {
    let (mut answer, body) = whole(answer).await;
    let half = || {
        let mut half = body.slice(..body.len() / 2).to_vec();
        half.extend_from_slice(b"{\"");
        half
    };
    answer.headers_mut().remove(CONTENT_LENGTH);
    *answer.body_mut() = Body::from(text.map_or_else(half, String::into_bytes));
    answer
}
