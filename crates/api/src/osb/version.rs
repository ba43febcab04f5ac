//! The API version of a platform: any 2.x, and the header is required.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, Method},
    middleware::Next,
    response::Response,
};

use super::respond::Refusal;

const HEADER: HeaderName = HeaderName::from_static("x-broker-api-version");
/// The first minor version in which instances and bindings can be fetched.
const FETCHING: u32 = 14;

/// Rejects unsupported API versions.
pub(super) async fn check(request: Request, next: Next) -> Result<Response, Refusal> {
    let minor = minor(request.headers())?;
    if minor < FETCHING
        && let Some(what) = fetched(&request)
    {
        return Err(Refusal::Version(format!(
            "get {what} endpoint only supported starting with OSB version 2.14"
        )));
    }
    Ok(next.run(request).await)
}

fn minor(headers: &HeaderMap) -> Result<u32, Refusal> {
    let refuse = |text: &str| Err(Refusal::Version(format!("X-Broker-API-Version Header {text}")));
    let value = headers.get(HEADER).map(|value| value.to_str().unwrap_or("?").trim());
    let Some(value) = value.filter(|value| !value.is_empty()) else { return refuse("not set") };
    // A sign would be parsed, too.
    let digits = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
    let number = |text: &str| Some(text).filter(digits)?.parse::<u32>().ok();
    let version = value.split_once('.').and_then(|(major, minor)| number(major).zip(number(minor)));
    match version {
        None => refuse("must contain a version"),
        Some((2, minor)) => Ok(minor),
        Some(_) => refuse("must be 2.x"),
    }
}

/// The resource that a request fetches, if the route came with version 2.14.
fn fetched(request: &Request) -> Option<&'static str> {
    let path = request.uri().path();
    if request.method() != Method::GET {
        None
    } else if path.contains("/service_bindings/") {
        Some("binding")
    } else if path.contains("/service_instances/") && !path.ends_with("/last_operation") {
        Some("instance")
    } else {
        None
    }
}
