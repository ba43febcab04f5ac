//! The console: server-rendered pages for operators, one stylesheet and one small script of our own.
//!
//! What a reader would get wrong: the pages do not check tokens. A layer in front of them says who looks ([`Person`]): the session of a
//! sign-in, or the development identity of `kcp up`, which is served to this machine only ([`this_machine`]). Each page then asks for the
//! same scopes as the API does for the same data.

mod access;
mod activity;
mod assets;
mod audit;
mod audited;
mod deprovision;
mod error;
mod events;
mod forms;
mod jobs;
mod kubeconfig;
mod landscape;
mod layout;
mod marks;
mod may_exist;
mod names;
mod operation;
mod operations;
mod orchestrations;
mod order;
mod overview;
mod pages;
mod path;
mod pool;
mod query;
mod runtime;
mod runtimes;
mod streams;
#[cfg(test)]
mod testing;
mod unbind;
mod unstuck;
mod update;
mod usual;
mod words;

use std::sync::Arc;

use axum::{
    Router,
    extract::Request,
    http::{
        HeaderValue, Method, StatusCode, Uri,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
            X_FRAME_OPTIONS,
        },
    },
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use broker::{
    answers::Answers, bindings::Bindings, instances::Broker, jobs::Jobs,
    operations::view::Operations, orchestrations::Orchestrations,
};

use activity::{resume_page, resumed, suspend_page, suspended};
use error::PageError;
use streams::Streams;
use usual::Usuals;

pub use access::{Person, SCOPES, this_machine};
pub use forms::Fields;
pub use landscape::Landscape;

/// Everything comes from here; nothing is framed or sent elsewhere, and no page has script or style in it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
    img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The console. Clones are the same one.
#[derive(Clone)]
pub struct Console(Arc<Inner>);

struct Inner {
    parts: Parts,
    streams: Streams,
    usuals: Usuals,
}

/// The services behind the console.
pub struct Parts {
    /// The broker's operations.
    pub operations: Operations,
    /// The use cases of instances.
    pub broker: Broker,
    /// The kubeconfigs and bindings of instances.
    pub bindings: Bindings,
    /// The use cases of orchestrations.
    pub orchestrations: Orchestrations,
    /// The jobs.
    pub jobs: Jobs,
    /// Answers about many operations, and about the account pool.
    pub answers: Answers,
    /// The services and their addresses.
    pub services: Vec<Service>,
    /// The simulated outside world of `kcp up`.
    pub landscape: Option<Landscape>,
}

/// A running service.
#[derive(Debug, Clone)]
pub struct Service {
    pub name: &'static str,
    pub address: String,
}

impl Console {
    /// A console of these parts.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(Inner { parts, streams: Streams::default(), usuals: Usuals::default() }))
    }

    fn parts(&self) -> &Parts {
        &self.0.parts
    }

    fn streams(&self) -> &Streams {
        &self.0.streams
    }

    fn usuals(&self) -> &Usuals {
        &self.0.usuals
    }

    fn now(&self) -> jiff::Timestamp {
        self.parts().broker.parts().clock.now()
    }
}

/// The pages. In front of them belongs a layer that puts a [`Person`] into each request.
pub fn router(console: Console) -> Router {
    let mut routes = Router::new()
        .route("/", get(overview::page))
        .route("/console/events", get(events::events))
        .route("/console/runtimes", get(runtimes::page))
        .route("/console/runtimes/export", get(runtimes::export))
        .route("/console/runtimes/{instance}", get(runtime::page))
        .route(
            "/console/runtimes/{instance}/kubeconfig",
            get(kubeconfig::download).post(kubeconfig::with_token),
        )
        .route(
            "/console/runtimes/{instance}/delete",
            get(deprovision::page).post(deprovision::confirmed),
        )
        .route(
            "/console/runtimes/{instance}/bindings/{binding}/end",
            get(unbind::page).post(unbind::confirmed),
        )
        .route("/console/runtimes/{instance}/change", get(update::page).post(update::sent))
        .route("/console/runtimes/{instance}/suspend", get(suspend_page).post(suspended))
        .route("/console/runtimes/{instance}/resume", get(resume_page).post(resumed))
        .route("/console/order", get(order::page).post(order::ordered))
        .route("/console/operations", get(operations::page))
        .route("/console/operations/{id}", get(operation::page))
        .route("/console/operations/{id}/{action}", get(unstuck::page).post(unstuck::confirmed))
        .route("/console/jobs", get(jobs::page))
        .route("/console/jobs/{name}", get(jobs::one))
        .route("/console/jobs/{name}/run", post(jobs::run))
        .route("/console/pool", get(pool::page))
        .route("/console/audit", get(audit::page))
        .route("/console/may-exist", get(may_exist::page))
        .route("/console/may-exist/{id}/settle", get(may_exist::question).post(may_exist::settled))
        .route("/console", get(home))
        .route("/console/", get(home))
        .route("/console/{*rest}", get(missing))
        .merge(orchestration_routes());
    if console.parts().landscape.is_some() {
        routes = routes.merge(landscape::routes());
    }
    routes
        .with_state(console)
        .method_not_allowed_fallback(wrong_method)
        .route_layer(from_fn(headers))
}

/// Leads to the overview, the console's first page.
pub async fn home() -> Response {
    error::see("/")
}

/// The page for a method that an address does not take, such as the address of a form, opened like a page.
pub async fn wrong_method(method: Method, uri: Uri) -> Response {
    PageError::WrongMethod(method, uri.path().to_owned()).into_response()
}

/// Any other address below the console's.
async fn missing(uri: Uri) -> PageError {
    PageError::Missing(format!("page {}", uri.path()))
}

fn orchestration_routes() -> Router<Console> {
    use orchestrations::{
        cancel, cancel_page, form_page, form_sent, one_page, page, pause, resume, retry, workers,
    };
    Router::new()
        .route("/console/orchestrations", get(page))
        .route("/console/orchestrations/new", get(form_page).post(form_sent))
        .route("/console/orchestrations/{id}", get(one_page))
        .route("/console/orchestrations/{id}/cancel", get(cancel_page).post(cancel))
        .route("/console/orchestrations/{id}/pause", post(pause))
        .route("/console/orchestrations/{id}/resume", post(resume))
        .route("/console/orchestrations/{id}/retry", post(retry))
        .route("/console/orchestrations/{id}/workers", post(workers))
}

/// Stylesheet, script and icon: the same for everybody.
pub fn assets() -> Router {
    Router::new().route("/console/assets/{name}", get(assets::serve))
}

/// A page that says one thing, with a way to sign in again.
pub fn notice(heading: &str, text: &str, sign_in: &str) -> Response {
    error::notice(heading, text, sign_in).into_response()
}

/// The answer to a form whose session is over; with its fields, so that nothing that was typed is lost.
pub fn session_over(action: &str, fields: &[(String, String)], sign_in: &str) -> Response {
    (StatusCode::UNAUTHORIZED, error::session_over(action, fields, sign_in)).into_response()
}

/// The headers that every page has.
pub async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
