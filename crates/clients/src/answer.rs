//! Responses: read once, classified once.

use std::time::Duration;

use base::failure::shortened;
use jiff::Timestamp;
use reqwest::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER},
};
use serde::de::DeserializeOwned;

use crate::{
    error::{Component, Error, Kind},
    oauth::Token,
};

/// An answer that is no failure.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    body: Vec<u8>,
    component: Component,
    doing: String,
}

impl Answer {
    /// The body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        parsed(&self.body, self.component, &self.doing)
    }

    /// The body as text.
    pub fn text(self) -> Result<String, Error> {
        let Self { body, component, doing, .. } = self;
        String::from_utf8(body)
            .map_err(|_| Error::new(component, Kind::Malformed, &doing).saying("it is no text"))
    }
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) content_type: Option<String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// Was sent with the request, and is cut out should the answer repeat it.
    secret: Option<Token>,
}

impl Raw {
    /// Everything but the body. `now` turns dates into durations.
    pub(crate) fn head(status: StatusCode, headers: &HeaderMap, now: Timestamp) -> Self {
        let content_type =
            headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let retry_after = retry_after(headers, now);
        let headers = headers.clone();
        Self { status, retry_after, content_type, headers, body: Vec::new(), secret: None }
    }

    /// Keeps `token` out of all errors and logs of this answer.
    pub(crate) fn without(mut self, token: &Token) -> Self {
        self.secret = Some(token.clone());
        self
    }

    /// The token that was sent with the request.
    pub(crate) fn token(&self) -> Option<&Token> {
        self.secret.as_ref()
    }

    /// The kind of failure it is; `None` when it is none.
    pub(crate) fn kind(&self) -> Option<Kind> {
        Kind::of_status(self.status, self.retry_after)
    }

    /// The answer, or the failure that it is.
    pub(crate) fn accepted(self, component: Component, doing: &str) -> Result<Answer, Error> {
        match self.kind() {
            None => {
                Ok(Answer { status: self.status, body: self.body, component, doing: doing.into() })
            }
            Some(kind) => {
                let (status, said) = (Some(self.status.as_u16()), self.refusal_text());
                Err(Error { status, said, ..Error::new(component, kind, doing) })
            }
        }
    }

    /// What a refusal says, where systems usually say it. The rest of the body is left out: it may
    /// repeat what was sent, secrets included.
    fn refusal_text(&self) -> Option<String> {
        let body: serde_json::Value = serde_json::from_slice(&self.body).ok()?;
        let said = ["description", "error_description", "message", "error"]
            .iter()
            .find_map(|field| body.get(field)?.as_str())
            .or_else(|| body.pointer("/error/message")?.as_str())?;
        Some(self.cleaned(said))
    }

    /// The other side's own code for a refusal, where those of Azure's family have it.
    pub(crate) fn code(&self) -> Option<String> {
        let body: serde_json::Value = serde_json::from_slice(&self.body).ok()?;
        Some(self.cleaned(body.pointer("/error/code")?.as_str()?))
    }

    /// A text from this answer, fit to be shown.
    pub(crate) fn cleaned(&self, text: &str) -> String {
        let text = match &self.secret {
            Some(token) => token.cut_from(text),
            None => text.to_owned(),
        };
        shortened(text)
    }
}

/// A body as JSON. A failure names the field, never its value.
pub(crate) fn parsed<T: DeserializeOwned>(
    body: &[u8],
    component: Component,
    doing: &str,
) -> Result<T, Error> {
    let mut text = serde_json::Deserializer::from_slice(body);
    serde_path_to_error::deserialize(&mut text).map_err(|error| {
        let failed = Error::new(component, Kind::Malformed, doing);
        match error.path().to_string() {
            path if path == "." => failed.saying("the body is not what was expected"),
            path => failed.saying(format!("field {path}")),
        }
    })
}

/// The failure that an endless body is.
pub(crate) fn too_large(component: Component, doing: &str) -> Error {
    Error::new(component, Kind::Malformed, doing).saying("the body is too large")
}

/// Cap for `Retry-After`: times near the end of time cannot even be added to the present one.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// Both forms of the header; a date in the past means at once.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds).min(LONGEST_WAIT));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let until = Timestamp::try_from(date).unwrap_or(Timestamp::MAX);
    Some(Duration::try_from(until.duration_since(now)).unwrap_or_default().min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, text.parse().unwrap());
        retry_after(&headers, "2026-01-01T12:00:00Z".parse().unwrap())
    }

    #[test]
    fn both_forms_of_retry_after_are_understood() {
        assert_eq!(header("7"), Some(Duration::from_secs(7)));
        assert_eq!(header("Thu, 01 Jan 2026 12:00:09 GMT"), Some(Duration::from_secs(9)));
        assert_eq!(header("Thu, 01 Jan 2026 11:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(header("soon"), None);
        assert_eq!(header(&u64::MAX.to_string()), Some(LONGEST_WAIT));
        assert_eq!(header("Fri, 31 Dec 9999 23:59:59 GMT"), Some(LONGEST_WAIT));
    }

    #[test]
    fn a_wrong_type_names_the_field_and_not_the_value() {
        #[derive(Debug, serde::Deserialize)]
        struct Inner {
            #[expect(dead_code, reason = "only parsed")]
            size: u32,
        }
        #[derive(Debug, serde::Deserialize)]
        struct Outer {
            #[expect(dead_code, reason = "only parsed")]
            inner: Inner,
        }

        let error =
            parsed::<Outer>(br#"{"inner": {"size": "hunter2"}}"#, Component("edp"), "trying");

        let error = error.unwrap_err();
        assert_eq!(error.kind, Kind::Malformed);
        assert_eq!(error.said.as_deref(), Some("field inner.size"));
        assert!(!base::failure::chain(&error).contains("hunter2"));
    }
}
