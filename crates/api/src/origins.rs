//! Pages of other origins that may read answers in the browser: dashboards fetch kubeconfigs.
//!
//! What a reader would get wrong: this opens no door. It tells browsers which pages may see an answer; tokens and scopes are checked
//! as ever. A browser's question before the request carries no token, so it is answered before they are.

use std::{fmt, str::FromStr, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};

/// For how long a browser remembers the answer to its question, in seconds.
const REMEMBERED: HeaderValue = HeaderValue::from_static("600");

/// An origin, as browsers write it: `https://dashboard.example.com`. Or `*`, any origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(HeaderValue);

/// A text that is no origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an origin: `https://dashboard.example.com`, without a path, or `*`")]
pub struct NotAnOrigin(String);

impl FromStr for Origin {
    type Err = NotAnOrigin;

    fn from_str(text: &str) -> Result<Self, NotAnOrigin> {
        let bad = || NotAnOrigin(text.to_owned());
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let plain = |c: char| c.is_ascii_alphanumeric() && !c.is_ascii_uppercase();
        let is_host = |host: &str| {
            host.starts_with(|c| plain(c) || c == '[')
                && host.chars().all(|c| plain(c) || "-.:[]".contains(c))
        };
        if text != "*" && !host.is_some_and(is_host) {
            return Err(bad());
        }
        HeaderValue::from_str(text).map(Self).map_err(|_| bad())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_str().unwrap_or_default())
    }
}

/// The origins whose pages may read an answer. None by default.
#[derive(Debug, Clone, Default)]
pub struct Origins(Arc<[Origin]>);

impl From<Vec<Origin>> for Origins {
    fn from(origins: Vec<Origin>) -> Self {
        Self(origins.into())
    }
}

impl Origins {
    /// Lets pages of these origins read the answers of these routes, which are all read with GET.
    pub(crate) fn around<S: Clone + Send + Sync + 'static>(self, routes: Router<S>) -> Router<S> {
        if self.0.is_empty() {
            return routes;
        }
        routes.route_layer(from_fn_with_state(self, share))
    }

    /// The origin to name in the answer, if the one that asks may read it.
    fn allowed(&self, headers: &HeaderMap) -> Option<&HeaderValue> {
        let asks = headers.get(header::ORIGIN)?;
        let any = HeaderValue::from_static("*");
        self.0.iter().map(|origin| &origin.0).find(|origin| *origin == asks || **origin == any)
    }
}

async fn share(State(origins): State<Origins>, request: Request, next: Next) -> Response {
    let allowed = origins.allowed(request.headers()).cloned();
    let is_question = *request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match &allowed {
        Some(_) if is_question => {
            let headers = [
                (header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET")),
                (header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("Authorization")),
                (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED),
            ];
            (StatusCode::NO_CONTENT, headers).into_response()
        }
        _ => next.run(request).await,
    };
    let headers = response.headers_mut();
    // Caches must not give one origin's answer to another one.
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = allowed {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, routing::get};
    use tower::ServiceExt as _;

    use super::*;

    const DASHBOARD: &str = "https://dashboard.example.com";

    fn routes(origins: &[&str]) -> Router {
        let origins: Vec<Origin> = origins.iter().map(|text| text.parse().unwrap()).collect();
        let refused = Router::new().route("/file", get(async || StatusCode::UNAUTHORIZED));
        Origins::from(origins).around(refused)
    }

    async fn ask(origins: &[&str], method: Method, origin: Option<&str>) -> Response {
        let mut request = Request::builder().method(method.clone()).uri("/file");
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        if method == Method::OPTIONS {
            request = request.header(header::ACCESS_CONTROL_REQUEST_METHOD, "GET");
        }
        routes(origins).oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    fn allows(response: &Response) -> Option<&str> {
        let origin = response.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN)?;
        origin.to_str().ok()
    }

    #[tokio::test]
    async fn a_named_origin_is_echoed_with_every_answer_and_another_one_never() {
        let known = ["https://other.example.com", DASHBOARD];
        for (origins, asks, allowed) in [
            (&known[..], Some(DASHBOARD), Some(DASHBOARD)),
            (&known[..], Some("https://dashboard.example.com.evil.test"), None),
            (&known[..], Some("http://dashboard.example.com"), None),
            (&known[..], Some("null"), None),
            (&known[..], None, None),
            (&["*"][..], Some("https://anything.test"), Some("*")),
            (&["*"][..], None, None),
            (&[][..], Some(DASHBOARD), None),
        ] {
            let answer = ask(origins, Method::GET, asks).await;
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "the door is the same");
            assert_eq!(allows(&answer), allowed, "{origins:?}: {asks:?}");
            let varies = answer.headers().contains_key(header::VARY);
            assert_eq!(varies, !origins.is_empty(), "{origins:?}");
        }
    }

    #[tokio::test]
    async fn the_question_of_a_browser_is_answered_for_a_named_origin_alone() {
        let answer = ask(&[DASHBOARD], Method::OPTIONS, Some(DASHBOARD)).await;
        assert_eq!((answer.status(), allows(&answer)), (StatusCode::NO_CONTENT, Some(DASHBOARD)));
        let headers = answer.headers();
        assert_eq!(headers[header::ACCESS_CONTROL_ALLOW_METHODS], "GET");
        assert_eq!(headers[header::ACCESS_CONTROL_ALLOW_HEADERS], "Authorization");

        for (origins, asks) in [(&[DASHBOARD][..], "https://evil.test"), (&[][..], DASHBOARD)] {
            let answer = ask(origins, Method::OPTIONS, Some(asks)).await;
            assert_eq!((answer.status(), allows(&answer)), (StatusCode::METHOD_NOT_ALLOWED, None));
        }
    }

    #[test]
    fn only_origins_as_browsers_write_them_are_taken() {
        for good in ["*", DASHBOARD, "http://127.0.0.1:8080", "https://[::1]:8443"] {
            assert_eq!(good.parse::<Origin>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            "dashboard.example.com",
            "https://",
            "https://dashboard.example.com/",
            "https://Dashboard.example.com",
            "https://*.example.com",
            "https://a.test\r\nx: y",
            "ftp://a.test",
            "null",
        ] {
            let error = bad.parse::<Origin>().unwrap_err().to_string();
            assert!(error.contains("is not an origin"), "{error}");
        }
    }
}
