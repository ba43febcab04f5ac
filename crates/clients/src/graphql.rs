//! GraphQL over HTTP: values go in variables, every operation is aliased to `result`.
//!
//! What a reader would get wrong: success needs a good status *and* no errors *and* data. A
//! `result` of null is data: it says that the thing is not there.

use base::Clock;
use reqwest::RequestBuilder;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    answer::{self, Raw},
    error::{Component, Error, Kind},
    http::Http,
};

/// A client that speaks GraphQL.
#[derive(Debug, Clone)]
pub struct GraphQl {
    http: Http,
    codes: Codes,
}

/// The kind and the code of a system's refusals.
pub type Codes = fn(&Refusal<'_>) -> (Kind, Box<str>);

/// A refusal of a system.
#[derive(Debug, Clone, Copy)]
pub struct Refusal<'a> {
    /// Its number, if it has one.
    pub code: Option<i64>,
    /// Its own word for it; empty if it has none.
    pub reason: &'a str,
    /// Its message.
    pub message: &'a str,
}

/// One operation of a schema, as it is sent.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// The name in metrics.
    pub name: &'static str,
    /// Its text, with `$variables` in place of values.
    pub text: &'static str,
}

#[derive(Serialize)]
struct Question<'a, V> {
    query: &'a str,
    variables: V,
}

#[derive(Deserialize)]
struct Envelope {
    data: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "null_is_empty")]
    errors: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    #[serde(default)]
    message: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    extensions: Map<String, Value>,
}

impl GraphQl {
    /// Speaks through `http`, whose base is the endpoint; `codes` tells what its error codes mean.
    pub fn new(http: Http, codes: Codes) -> Self {
        Self { http, codes }
    }

    /// The system that is asked.
    pub fn component(&self) -> Component {
        self.http.component()
    }

    /// The clock that its calls go by.
    pub(crate) fn clock(&self) -> &Clock {
        self.http.clock()
    }

    /// Asks and gives `result`; `None` when it is null.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        doing: &str,
        operation: Operation,
        headers: &[(&'static str, &str)],
        variables: impl Serialize,
    ) -> Result<Option<T>, Error> {
        let request = self.request(doing, operation, headers, variables)?;
        let raw = self.http.raw(operation.name, doing, request).await?;
        self.read(&raw, doing).await
    }

    /// The same for a question whose answer may take long, and on which nobody depends.
    pub(crate) async fn hint<T: DeserializeOwned>(
        &self,
        doing: &str,
        operation: Operation,
        headers: &[(&'static str, &str)],
        variables: impl Serialize,
    ) -> Result<Option<T>, Error> {
        let request = self.request(doing, operation, headers, variables)?;
        let raw = self.http.hint(operation.name, doing, request).await?;
        self.read(&raw, doing).await
    }

    fn request(
        &self,
        doing: &str,
        operation: Operation,
        headers: &[(&'static str, &str)],
        variables: impl Serialize,
    ) -> Result<RequestBuilder, Error> {
        let body = serde_json::to_vec(&Question { query: operation.text, variables })
            .map_err(|error| Error::below(self.component(), UNSENDABLE, doing, error))?;
        let mut request = self
            .http
            .post("")
            .header("content-type", "application/json; charset=utf-8")
            .header("accept", "application/json; charset=utf-8")
            .body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Ok(request)
    }

    async fn read<T: DeserializeOwned>(&self, raw: &Raw, doing: &str) -> Result<Option<T>, Error> {
        match self.result(raw, doing) {
            Err(error) => {
                if error.kind == Kind::Unauthorized {
                    self.http.withdraw_token(raw).await;
                }
                Err(error)
            }
            Ok(Value::Null) => Ok(None),
            Ok(result) => {
                let text = result.to_string();
                answer::parsed(text.as_bytes(), self.component(), doing).map(Some)
            }
        }
    }

    fn result(&self, raw: &Raw, doing: &str) -> Result<Value, Error> {
        let failed = |kind| Error::new(self.component(), kind, doing);
        let envelope = serde_json::from_slice::<Envelope>(&raw.body).ok();
        let first = envelope.as_ref().and_then(|envelope| envelope.errors.first());
        if let Some(problem) = first {
            let (kind, name) = (self.codes)(&problem.refusal());
            // A gateway in between may say that nothing works and still send JSON.
            let kind = match raw.kind() {
                Some(by_status) if problem.code().is_none() || raw.status.is_server_error() => {
                    by_status
                }
                _ => kind,
            };
            return Err(failed(kind).because(name).saying(raw.cleaned(&problem.message)));
        }
        match raw.kind() {
            None => {}
            // The endpoint itself is not there, which says nothing about the thing asked for.
            Some(Kind::NotFound) => return Err(failed(Kind::Refused { status: 404 })),
            Some(kind) => return Err(failed(kind)),
        }
        let data = envelope
            .and_then(|envelope| envelope.data)
            .ok_or_else(|| failed(Kind::Malformed).saying("there is no data in it"))?;
        let result = data.into_iter().find(|(name, _)| name == "result");
        result
            .map(|(_, result)| result)
            .ok_or_else(|| failed(Kind::Malformed).saying("field data.result"))
    }
}

/// Nothing that we build fails to be written as JSON.
const UNSENDABLE: Kind = Kind::Refused { status: 400 };

impl Problem {
    fn refusal(&self) -> Refusal<'_> {
        let reason = self.extensions.get("error_reason").and_then(Value::as_str);
        let (reason, message) = (reason.unwrap_or_default(), self.message.as_str());
        Refusal { code: self.code(), reason, message }
    }

    /// The number under which systems of this family report a failure.
    fn code(&self) -> Option<i64> {
        let code = self.extensions.get("error_code")?;
        code.as_i64().or_else(|| code.as_str()?.parse().ok())
    }
}

fn null_is_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
