//! Forms that only our own pages can send.
//!
//! A form carries a word that belongs to the session and that a foreign page cannot read; and a browser says where a form comes from.
//! Both must fit. What does not fit is answered with 400, not 403: the person may do it, this form may not.

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{
        HeaderMap,
        header::{HOST, ORIGIN},
    },
    response::{IntoResponse, Response},
};
use maud::{Markup, html};
use url::{Url, form_urlencoded};

use crate::{access::Person, error::PageError};

const FIELD: &str = "form";

/// The fields of a form that came from one of our pages.
#[derive(Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// A field without spaces around it; empty when there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        let field = self.0.iter().rfind(|(own, _)| own == name);
        field.map(|(_, value)| value.trim()).unwrap_or_default()
    }

    /// Whether a box is ticked.
    pub(crate) fn ticked(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }
}

/// The hidden field of every form.
pub(crate) fn word(person: &Person) -> Markup {
    html! { input type="hidden" name=(FIELD) value=(person.form); }
}

/// Fields that are given in an address, for a form that is shown.
impl From<Vec<(String, String)>> for Fields {
    fn from(fields: Vec<(String, String)>) -> Self {
        Self(fields)
    }
}

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        read(request, state).await.map_err(IntoResponse::into_response)
    }
}

async fn read<S: Send + Sync>(request: Request, state: &S) -> Result<Fields, PageError> {
    let person = request.extensions().get::<Person>().cloned().ok_or(PageError::SignedOut)?;
    let own = is_own(request.headers());
    let body = Bytes::from_request(request, state)
        .await
        .map_err(|_| PageError::Bad("The form did not arrive whole. Send it again.".into()))?;
    let fields = Fields(form_urlencoded::parse(&body).into_owned().collect());
    if own && !person.form.is_empty() && fields.get(FIELD) == person.form {
        return Ok(fields);
    }
    Err(PageError::Bad(
        "This form is out of date. Go back, reload the page and send it again.".into(),
    ))
}

/// Whether a browser says that the form comes from here. Old ones say nothing.
fn is_own(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    match (text(ORIGIN.as_str()), text(HOST.as_str())) {
        (None, _) => true,
        (Some(origin), Some(host)) => Url::parse(origin).is_ok_and(|origin| {
            origin[url::Position::BeforeHost..url::Position::AfterPort] == *host
        }),
        (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    async fn sent(headers: &[(&str, &str)], body: &str) -> Result<Fields, Response> {
        let mut request =
            Request::builder().method("POST").uri("/").header("host", "127.0.0.1:8080");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::from(body.to_owned())).unwrap();
        request.extensions_mut().insert(Person::developer("secret".into()));
        Fields::from_request(request, &()).await
    }

    #[tokio::test]
    async fn a_form_of_ours_is_read() {
        let own = [("sec-fetch-site", "same-origin"), ("origin", "http://127.0.0.1:8080")];

        let fields = sent(&own, "form=secret&name=+demo+").await.unwrap();

        assert_eq!(fields.get("name"), "demo");
        assert_eq!(fields.get("other"), "");
        assert!(sent(&[("origin", "http://127.0.0.1:8080")], "form=secret").await.is_ok());
    }

    #[tokio::test]
    async fn a_form_of_a_foreign_page_is_refused() {
        for headers in [
            &[("sec-fetch-site", "cross-site")][..],
            &[("sec-fetch-site", "same-site")],
            &[("origin", "http://evil.example")],
            &[("origin", "null")],
            &[("origin", "http://127.0.0.1:8081")],
        ] {
            assert!(sent(headers, "form=secret").await.is_err(), "{headers:?}");
        }
        assert!(sent(&[], "form=guessed").await.is_err());
        assert!(sent(&[], "name=demo").await.is_err());
    }
}
