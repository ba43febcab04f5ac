//! The layer around every simulator: enters calls in the ledger and makes the trouble.
//!
//! What a reader would get wrong: the ledger is written before the answer leaves, and the trouble
//! has decided by then. A simulator inside sees ordinary calls only.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Bytes, to_bytes},
    extract::{ConnectInfo, Request, State},
    http::{StatusCode, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use base::Clock;

use super::{
    Cut, Incoming, Kind, Troubles, cut,
    delivery::Delivery,
    reply::{busy, error, malformed, mistyped},
    wire::Line,
};
use crate::{
    ledger::{About, Ledger, call::Call},
    store::Error,
    trouble::answer_log::AnswerLog,
};

/// The largest body a simulator takes.
const LARGEST: usize = 4 << 20;

#[derive(Clone)]
struct LayerContext {
    system: &'static str,
    ledger: Arc<Ledger>,
    troubles: Arc<Troubles>,
    clock: Clock,
    remembered: Arc<AnswerLog>,
}

/// Puts the layer around the routes of one system: what it receives is entered in `ledger`, and it
/// meets the trouble in `troubles`. Connections are reset only if they are served with
/// [`super::wire::Wires`]; otherwise they are closed.
pub fn around(
    routes: Router,
    system: &'static str,
    ledger: Arc<Ledger>,
    troubles: Arc<Troubles>,
    clock: Clock,
) -> Router {
    let watched = LayerContext { system, ledger, troubles, clock, remembered: Arc::default() };
    routes.route_layer(from_fn_with_state(watched, watch))
}

async fn watch(State(watched): State<LayerContext>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let answer = match to_bytes(body, LARGEST).await {
        Ok(body) => watched.answer(parts, body, next).await,
        Err(_) => watched.too_large(&parts),
    };
    answer.unwrap_or_else(|error| {
        // Most likely the disk is full. A repeated call may find room.
        tracing::error!(%error, system = watched.system, "a call cannot be entered in the ledger");
        StatusCode::SERVICE_UNAVAILABLE.into_response()
    })
}

impl LayerContext {
    async fn answer(&self, parts: Parts, body: Bytes, next: Next) -> Result<Response, Error> {
        let met = self.troubles.meet(&Incoming {
            system: self.system,
            method: parts.method.as_str(),
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or_default(),
            body: &body,
            step: parts.headers.get("x-kcp-step").and_then(|step| step.to_str().ok()),
        })?;
        let call = self.receive(&parts, met.as_ref())?;
        let (remembered, clock) = (self.remembered.clone(), self.clock.clone());
        let delivery = Delivery { parts, body, next, remembered, clock };
        match met {
            None => left(&call, delivery.make(&call).await),
            Some(kind) => self.troubled(kind, &call, delivery).await,
        }
    }

    /// The answer of a call that meets trouble.
    async fn troubled(
        &self,
        kind: Kind,
        call: &Arc<Call>,
        mut delivery: Delivery,
    ) -> Result<Response, Error> {
        match kind {
            Kind::Slow { delay_ms } => {
                self.clock.sleep(Duration::from_millis(delay_ms)).await;
                left(call, delivery.make(call).await)
            }
            Kind::Uneven { from_ms, to_ms } => {
                self.clock.sleep(self.troubles.between(from_ms, to_ms)).await;
                left(call, delivery.make(call).await)
            }
            Kind::Silent => std::future::pending().await,
            Kind::Down { refuse: true } => reset(call, delivery, Cut::BeforeHeaders).await,
            Kind::Reset { when } => reset(call, delivery, when).await,
            Kind::Down { refuse: false } => left(call, error(503, None)),
            Kind::Busy { retry_after_seconds, as_date } => {
                left(call, busy(self.clock.now(), retry_after_seconds, as_date))
            }
            Kind::Status { status, body } => left(call, error(status, body)),
            Kind::LostAnswer { status } => {
                delivery.make(call).await;
                if let Some(status) = status {
                    return left(call, error(status, None));
                }
                call.lost()?;
                Ok(cut::without_a_word())
            }
            Kind::Truncated => {
                let (answer, body) = delivery.whole(call).await;
                call.lost()?;
                Ok(cut::halfway(answer, &body))
            }
            Kind::Malformed { body } => {
                let (answer, whole) = delivery.whole(call).await;
                left(call, malformed(answer, &whole, body))
            }
            Kind::Mistyped { media } => left(call, mistyped(delivery.make(call).await, &media)),
            Kind::Duplicate => {
                let answer = delivery.make(call).await;
                let again = self.receive(&delivery.parts, Some(&kind))?;
                again.replied(delivery.make(&again).await.status().as_u16())?;
                left(call, answer)
            }
            Kind::Phantom => {
                delivery.only_pretend();
                left(call, delivery.make(call).await)
            }
            Kind::Partial { status, .. } => {
                delivery.make(call).await;
                left(call, error(status.unwrap_or(500), None))
            }
            Kind::StaleRead { seconds } => left(call, delivery.make_stale(call, seconds).await),
            Kind::TokenExpire => {
                self.troubles.expire_tokens().await;
                left(call, delivery.make(call).await)
            }
            Kind::Unguarded => {
                delivery.authorize(self.troubles.good_token());
                left(call, delivery.make(call).await)
            }
        }
    }

    fn too_large(&self, request: &Parts) -> Result<Response, Error> {
        let call = self.receive(request, None)?;
        left(&call, StatusCode::PAYLOAD_TOO_LARGE.into_response())
    }

    fn receive(&self, request: &Parts, met: Option<&Kind>) -> Result<Arc<Call>, Error> {
        let about = About::new(self.system, request);
        let allowed = met.map_or(u64::MAX, Kind::changes);
        Call::received(self.ledger.clone(), about, met.map(Kind::name), allowed)
    }
}

/// The connection is reset when so much of the answer has left.
async fn reset(call: &Arc<Call>, delivery: Delivery, when: Cut) -> Result<Response, Error> {
    if let Some(ConnectInfo(line)) = delivery.parts.extensions.get::<ConnectInfo<Line>>() {
        line.cut();
    }
    if when == Cut::BeforeHeaders {
        call.lost()?;
        return Ok(cut::without_a_word());
    }
    let (answer, body) = delivery.whole(call).await;
    if when == Cut::AfterBody {
        return left(call, cut::after_all(answer, body));
    }
    call.lost()?;
    Ok(match when {
        Cut::InBody => cut::halfway(answer, &body),
        _ => cut::after_headers(answer, &body),
    })
}

/// Enters that an answer leaves. A change that could not be kept is answered alike by all systems: nothing was
/// changed, and a repeated call may find room.
fn left(call: &Call, mut answer: Response) -> Result<Response, Error> {
    if call.is_unkept() {
        answer = StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    call.replied(answer.status().as_u16())?;
    Ok(answer)
}
