//! Classifies the Status of a Kubernetes API server.

use std::time::Duration;

use serde::Deserialize;

use crate::{
    answer::{LONGEST_WAIT, Raw},
    error::{Component, Error, Kind},
};

/// The status that an API server sends instead of an object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    kind: String,
    reason: String,
    message: String,
    details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Details {
    name: String,
    retry_after_seconds: Option<u64>,
}

/// The code of a 404 that is about the kind and not about the object: a CRD is not there.
pub(super) const NO_SUCH_KIND: &str = "NoMatch";

/// The failure that an answer is; `None` when it is none.
pub(super) fn failure(raw: &Raw, component: Component, doing: &str) -> Option<Error> {
    if raw.status.is_success() {
        return None;
    }
    let status = serde_json::from_slice::<Status>(&raw.body).ok();
    let Some(status) = status.filter(|status| status.kind == "Status") else {
        let kind = match Kind::of_status(raw.status, raw.retry_after)? {
            // Whether it is there or was changed cannot be read: look again.
            Kind::Conflict => Kind::Changed,
            kind => kind,
        };
        let error = Error::new(component, kind, doing);
        let plain = kind == Kind::NotFound;
        return Some(if plain { error.because(NO_SUCH_KIND) } else { error });
    };
    let details = status.details.unwrap_or_default();
    let retry_after = raw.retry_after.or(details.retry_after_seconds.map(wait));
    let kind = kind(raw.status, &status.reason, retry_after)?;
    let error = Error::new(component, kind, doing).saying(status.message);
    // An object that is missing is named; a kind that is missing is not.
    let nameless = kind == Kind::NotFound && details.name.is_empty();
    let reason = if nameless { NO_SUCH_KIND.into() } else { status.reason };
    Some(if reason.is_empty() { error } else { error.because(reason) })
}

fn wait(seconds: u64) -> Duration {
    Duration::from_secs(seconds).min(LONGEST_WAIT)
}

fn kind(status: reqwest::StatusCode, reason: &str, retry_after: Option<Duration>) -> Option<Kind> {
    match reason {
        "AlreadyExists" => Some(Kind::AlreadyExists),
        "Conflict" | "Expired" => Some(Kind::Changed),
        _ => Kind::of_status(status, retry_after),
    }
}

/// Converts an error of `kube`. Its texts are left out: they repeat bodies.
#[must_use]
pub fn error(component: Component, doing: &str, error: kube::Error) -> Error {
    let failed = |kind| Error::new(component, kind, doing);
    match error {
        kube::Error::Service(below) => match below.downcast::<Error>() {
            Ok(ours) => Error { doing: doing.into(), ..*ours },
            Err(_) => failed(Kind::Unavailable),
        },
        kube::Error::Api(status) => {
            let code = reqwest::StatusCode::from_u16(status.code)
                .unwrap_or(reqwest::StatusCode::INTERNAL_SERVER_ERROR);
            let seconds = status.details.as_ref().map(|details| details.retry_after_seconds);
            let seconds = seconds.filter(|seconds| *seconds > 0);
            let retry_after = seconds.map(|seconds| wait(seconds.into()));
            let kind = kind(code, &status.reason, retry_after).unwrap_or(Kind::Malformed);
            failed(kind).because(status.reason).saying(status.message)
        }
        kube::Error::Auth(_) => failed(Kind::Unauthorized),
        kube::Error::SerdeError(_)
        | kube::Error::FromUtf8(_)
        | kube::Error::InferKubeconfig(_)
        | kube::Error::RustlsTls(_) => failed(Kind::Malformed),
        kube::Error::BuildRequest(_) | kube::Error::HttpError(_) => {
            failed(Kind::Refused { status: 400 })
        }
        _ => failed(Kind::Unavailable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::{StatusCode, header::HeaderMap};

    fn of(status: u16, body: &str) -> Error {
        let status = StatusCode::from_u16(status).unwrap();
        let mut raw = Raw::head(status, &HeaderMap::new(), "2026-01-01T12:00:00Z".parse().unwrap());
        raw.body = body.into();
        failure(&raw, Component::GARDENER, "trying").unwrap()
    }

    #[test]
    fn a_status_object_says_more_than_its_number() {
        let there = of(409, r#"{"kind":"Status","reason":"AlreadyExists","message":"c-1"}"#);
        let changed = of(409, r#"{"kind":"Status","reason":"Conflict"}"#);
        let busy = of(
            429,
            r#"{"kind":"Status","reason":"TooManyRequests","details":{"retryAfterSeconds":3}}"#,
        );

        assert_eq!(there.kind, Kind::AlreadyExists);
        assert_eq!(there.failure().reason, "AlreadyExists");
        assert_eq!(changed.kind, Kind::Changed);
        assert_eq!(busy.kind, Kind::Throttled { retry_after: Some(Duration::from_secs(3)) });
    }

    #[test]
    fn a_missing_kind_is_told_from_a_missing_object() {
        let object = of(404, r#"{"kind":"Status","reason":"NotFound","details":{"name":"c-1"}}"#);
        let unknown = of(404, r#"{"kind":"Status","reason":"NotFound","details":{}}"#);
        let kind = of(404, "404 page not found");

        assert_eq!(object.reason.as_deref(), Some("NotFound"));
        assert_eq!(unknown.reason.as_deref(), Some(NO_SUCH_KIND));
        assert_eq!(kind.reason.as_deref(), Some(NO_SUCH_KIND));
        assert_eq!(of(502, "<html>").kind, Kind::Unavailable);
    }
}
