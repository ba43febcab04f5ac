//! What is answered when a page cannot be shown: what is wrong, and where to go on.

use axum::{
    http::{Method, StatusCode, header::LOCATION},
    response::{IntoResponse, Response},
};
use base::failure::chain;
use broker::{instances, operations::view::OperationsError};
use maud::{DOCTYPE, Markup, html};

use crate::{
    assets::{ICON, STYLE},
    layout::LOGO,
};

/// A request that is not answered as asked.
#[derive(Debug)]
pub(crate) enum PageError {
    /// There is no session.
    SignedOut,
    /// The scope that is missing.
    Forbidden(&'static str),
    /// There is no such thing.
    Missing(String),
    /// A method that an address does not take, such as the address of a form, opened like a page.
    WrongMethod(Method, String),
    /// Something in the request is wrong.
    Bad(String),
    /// More at once than there may be.
    TooMany(String),
    /// The database, or what else is needed, does not answer.
    Unavailable(String),
}

impl PageError {
    fn parts(&self) -> (StatusCode, &'static str, String) {
        match self {
            Self::SignedOut => {
                (StatusCode::UNAUTHORIZED, "Not signed in", "Sign in to see this page.".into())
            }
            Self::Forbidden(scope) => {
                let text = format!(
                    "Your account lacks the scope {scope}. Operators of this control plane can give it to you."
                );
                (StatusCode::FORBIDDEN, "Not for this account", text)
            }
            Self::Missing(what) => {
                (StatusCode::NOT_FOUND, "Not found", format!("There is no {what}."))
            }
            Self::WrongMethod(Method::GET | Method::HEAD, path) => {
                let text = format!("{path} takes a form only. Go to the page that has the form.");
                (StatusCode::METHOD_NOT_ALLOWED, "Not a page", text)
            }
            Self::WrongMethod(method, path) => {
                let text = format!("{path} does not take {method}. Nothing was changed.");
                (StatusCode::METHOD_NOT_ALLOWED, "That did not work", text)
            }
            Self::Bad(text) => (StatusCode::BAD_REQUEST, "That did not work", text.clone()),
            Self::TooMany(text) => {
                (StatusCode::TOO_MANY_REQUESTS, "Too much at once", format!("{text}."))
            }
            Self::Unavailable(text) => {
                (StatusCode::SERVICE_UNAVAILABLE, "Not available right now", text.clone())
            }
        }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, heading, text) = self.parts();
        let page = alone(
            heading,
            &html! {
                p { (text) }
                p { a.button href="/" { "Go to the overview" } }
            },
        );
        (status, page).into_response()
    }
}

/// A page that says one thing, with a way to sign in again.
pub(crate) fn notice(heading: &str, text: &str, sign_in: &str) -> Markup {
    alone(
        heading,
        &html! {
            p { (text) }
            p { a.button.first href=(sign_in) { "Sign in" } }
        },
    )
}

/// What a form answers when the session is over: what was typed stays here, and is sent again after signing in elsewhere.
pub(crate) fn session_over(action: &str, fields: &[(String, String)], sign_in: &str) -> Markup {
    alone(
        "Your session is over",
        &html! {
            p { "Nothing was changed. Sign in again in another tab" @if fields.is_empty() { "." } @else { ", then come back and send the form again: this page keeps what you typed." } }
            p { a.button.first href=(sign_in) target="_blank" rel="noopener" { "Sign in" } }
            @if !fields.is_empty() {
                form method="post" action=(action) {
                    @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
                    button.button type="submit" { "Send the form again" }
                }
            }
        },
    )
}

/// A page without navigation.
fn alone(heading: &str, text: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (heading) " · kcp" }
                link rel="icon" href=(ICON.address());
                link rel="stylesheet" href=(STYLE.address());
            }
            body {
                header.top { div {
                    a.brand href="/" aria-label="kcp, overview" { (LOGO) "kcp" }
                    nav aria-label="Main" { a href="/" { "Overview" } }
                } }
                main.alone #content { div.card { div.empty { h1 { (heading) } (text) } } }
            }
        }
    }
}

impl From<OperationsError> for PageError {
    fn from(error: OperationsError) -> Self {
        match error {
            OperationsError::Unknown(id) => Self::Missing(format!("operation {id}")),
            OperationsError::Ended(id) => Self::Bad(format!("Operation {id} has ended already.")),
            OperationsError::Conflict(_) | OperationsError::Bad { .. } => {
                Self::Bad(format!("{error}."))
            }
            OperationsError::Unavailable(_) | OperationsError::Internal(_) => {
                tracing::warn!(error = chain(&error), "operations cannot be shown");
                Self::Unavailable("The database did not answer. Try again in a moment.".into())
            }
        }
    }
}

impl From<instances::Error> for PageError {
    fn from(error: instances::Error) -> Self {
        use instances::Error;
        match &error {
            Error::NotFound(text) => Self::Missing(text.clone()),
            Error::Gone => Self::Missing("such runtime any more".into()),
            Error::Unavailable(_) | Error::Internal(_) | Error::Runtime { .. } => {
                tracing::warn!(error = chain(&error), "a page cannot be shown");
                Self::Unavailable(format!("{error}."))
            }
            _ => Self::Bad(format!("{error}.")),
        }
    }
}

/// Sends a browser on with a GET.
pub(crate) fn see(address: &str) -> Response {
    match address.parse::<axum::http::HeaderValue>() {
        Ok(address) => (StatusCode::SEE_OTHER, [(LOCATION, address)]).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
