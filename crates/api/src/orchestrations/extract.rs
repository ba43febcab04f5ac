//! Extractors for requests about orchestrations: a body, a page, a form.

use axum::{
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::request::Parts,
};
use broker::orchestrations::{LARGEST_PAGE, PageRequest, Retry};
use domain::orchestration::{Parameters, State};
use serde::{Deserialize, de::DeserializeOwned};
use url::form_urlencoded;

use super::fields;
use crate::{error::ErrorText, unique_json::UniqueJson};

/// The parameters of an orchestration. The content type is ignored.
pub(super) struct Body(pub(super) Parameters);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = ErrorText;

    async fn from_request(request: Request, state: &S) -> Result<Self, ErrorText> {
        let UniqueJson(sent) = json(request, state).await?;
        let checked = fields::checked(sent).map_err(ErrorText::bad)?;
        let read = serde_json::from_value(checked);
        read.map(Self)
            .map_err(|error| ErrorText::bad(format!("while decoding request body: {error}")))
    }
}

/// How many runtimes at a time.
pub(super) struct Workers(pub(super) i64);

impl<S: Send + Sync> FromRequest<S> for Workers {
    type Rejection = ErrorText;

    async fn from_request(request: Request, state: &S) -> Result<Self, ErrorText> {
        #[derive(Deserialize)]
        struct WorkersBody {
            workers: i64,
        }
        json::<WorkersBody, S>(request, state).await.map(|asked| Self(asked.workers))
    }
}

async fn json<T: DeserializeOwned, S: Send + Sync>(
    request: Request,
    state: &S,
) -> Result<T, ErrorText> {
    let bytes = axum::body::Bytes::from_request(request, state)
        .await
        .map_err(|error| ErrorText(error.status(), error.body_text()))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ErrorText::bad(format!("while decoding request body: {error}")))
}

/// Which page.
pub(super) struct PageQuery(pub(super) PageRequest);

impl<S: Send + Sync> FromRequestParts<S> for PageQuery {
    type Rejection = ErrorText;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorText> {
        let Query(fields) = Query::<Vec<(String, String)>>::from_request_parts(parts, state)
            .await
            .map_err(|_| ErrorText::query("the query cannot be read"))?;
        page(fields).map(Self).map_err(ErrorText::query)
    }
}

fn page(fields: Vec<(String, String)>) -> Result<PageRequest, String> {
    let (mut request, mut page, mut size) = (PageRequest::default(), None, None);
    for (name, value) in fields {
        match name.as_str() {
            "page" => request.page = once("page", &mut page, &value, u32::MAX)?,
            "page_size" => request.page_size = once("pageSize", &mut size, &value, LARGEST_PAGE)?,
            "state" => request.states.push(state(&value)?.as_str().into()),
            other => return Err(format!("\"{other}\" is not known here")),
        }
    }
    Ok(request)
}

/// A state of orchestrations. Known clients ask for each of them in lists of operations too, of which none may be in it.
fn state(value: &str) -> Result<State, String> {
    let words = State::ALL.map(State::as_str).join(", ");
    value.parse().map_err(|_| format!("state \"{value}\" is none of: {words}"))
}

/// A whole number that is given once.
fn once(name: &str, before: &mut Option<()>, value: &str, most: u32) -> Result<u32, String> {
    if before.replace(()).is_some() {
        return Err(format!("{name} has to be one parameter"));
    }
    let number: i64 = value.parse().map_err(|_| format!("{name} has to be an integer"))?;
    if number < 1 {
        return Err(format!("{name} cannot be smaller than 1"));
    }
    match u32::try_from(number) {
        Ok(number) if number <= most => Ok(number),
        _ => Err(format!("{name} cannot be bigger than {most}")),
    }
}

/// The operations to retry. The form may be empty or begin with `&`.
pub(super) fn form(body: &str) -> Retry {
    let mut retry = Retry::default();
    for (name, value) in form_urlencoded::parse(body.as_bytes()) {
        match name.as_ref() {
            "operation-id" if !value.is_empty() => retry.operations.push(value.into_owned()),
            "immediate" => retry.immediate = value == "true",
            _ => {}
        }
    }
    retry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_as_clients_write_it() {
        let read = |operations: &[&str], immediate| Retry {
            operations: operations.iter().map(ToString::to_string).collect(),
            immediate,
        };

        assert_eq!(form(""), read(&[], false));
        assert_eq!(form("&immediate=true"), read(&[], true));
        assert_eq!(form("operation-id=A&operation-id=B"), read(&["A", "B"], false));
        assert_eq!(form("operation-id=A&immediate=true"), read(&["A"], true));
    }

    #[test]
    fn a_page_that_cannot_be_is_refused_by_its_name() {
        let asked = |query: &[(&str, &str)]| {
            page(query.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
        };

        let both = asked(&[("page", "2"), ("page_size", "5"), ("state", "in progress")]).unwrap();
        assert_eq!((both.page, both.page_size), (2, 5));
        assert_eq!(asked(&[("page", "0")]).unwrap_err(), "page cannot be smaller than 1");
        assert_eq!(
            asked(&[("page_size", "101")]).unwrap_err(),
            "pageSize cannot be bigger than 100"
        );
        assert_eq!(
            asked(&[("page", "1"), ("page", "1")]).unwrap_err(),
            "page has to be one parameter"
        );
        assert_eq!(asked(&[("stat", "x")]).unwrap_err(), "\"stat\" is not known here");
    }

    #[test]
    fn a_state_is_one_of_seven_words() {
        let words =
            ["pending", "in progress", "canceling", "retrying", "canceled", "succeeded", "failed"];
        let asked = |words: &[&str]| {
            page(words.iter().map(|word| ("state".to_owned(), (*word).to_owned())).collect())
        };

        assert_eq!(asked(&words).unwrap().states, words);
        for wrong in ["bogus", "inprogress", "Failed", ""] {
            let problem = format!("state \"{wrong}\" is none of: {}", words.join(", "));
            assert_eq!(asked(&["failed", wrong]).unwrap_err(), problem);
        }
    }
}
