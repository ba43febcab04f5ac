//! From an HTTP request to a GraphQL request, and the texts when it is none.

use async_graphql::{Request as Query, Variables};
use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::http::refusal;

/// What was sent.
pub(super) struct GraphQlRequest {
    pub(super) query: Query,
    /// It came by GET, which must not change anything.
    pub(super) only_reads: bool,
}

/// What a body holds. Clients send more than this; the rest does not matter here.
#[derive(Deserialize)]
struct Body {
    query: Option<String>,
    #[serde(rename = "operationName")]
    operation_name: Option<String>,
    variables: Option<Map<String, Value>>,
    /// Nothing here listens to them, but they must have their form.
    #[serde(rename = "extensions")]
    _extensions: Option<Map<String, Value>>,
}

pub(super) async fn receive(request: Request) -> Result<GraphQlRequest, Response> {
    if *request.method() == Method::GET {
        let query = from_uri(request.uri()).map_err(|name| {
            refusal(StatusCode::BAD_REQUEST, &format!("{name} could not be decoded"))
        })?;
        return Ok(GraphQlRequest { query, only_reads: true });
    }
    if *request.method() != Method::POST || !is_json(request.headers()) {
        return Err(refusal(StatusCode::BAD_REQUEST, "transport not supported"));
    }
    let body = Bytes::from_request(request, &()).await.map_err(IntoResponse::into_response)?;
    let body = first_object(&body).map_err(|error| {
        let text = format!("json body could not be decoded: {error}");
        refusal(StatusCode::BAD_REQUEST, &text)
    })?;
    Ok(GraphQlRequest { query: query(body), only_reads: false })
}

/// The object that a body begins with. What comes after it is not looked at, as in the reference.
fn first_object(body: &[u8]) -> Result<Body, serde_json::Error> {
    let mut values = serde_json::Deserializer::from_slice(body).into_iter::<Map<String, Value>>();
    let object = match values.next() {
        Some(object) => object?,
        None => return Err(serde::de::Error::custom("EOF while parsing a value")),
    };
    serde_json::from_value(Value::Object(object))
}

/// The query of a GET, or the name of the parameter that cannot be read.
fn from_uri(uri: &Uri) -> Result<Query, &'static str> {
    let asked = uri.query().unwrap_or_default();
    let parameter = |wanted: &str| {
        let mut all = url::form_urlencoded::parse(asked.as_bytes());
        all.find(|(name, value)| name == wanted && !value.is_empty())
            .map(|(_, value)| value.into_owned())
    };
    let object = |name| match parameter(name) {
        None => Ok(None),
        Some(text) => serde_json::from_str(&text).map_err(|_| name),
    };
    Ok(query(Body {
        query: parameter("query"),
        operation_name: parameter("operationName"),
        variables: object("variables")?,
        _extensions: object("extensions")?,
    }))
}

fn query(body: Body) -> Query {
    let variables = Variables::from_json(body.variables.unwrap_or_default().into());
    let query = Query::new(body.query.unwrap_or_default()).variables(variables);
    match body.operation_name.filter(|name| !name.is_empty()) {
        Some(name) => query.operation_name(name),
        None => query,
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
