//! The pages on which people log in. Plain forms; they work without any script.

use axum::{
    http::{StatusCode, header},
    response::{Html, IntoResponse, Response},
};

/// A page with a login form; the hidden fields come back with it.
pub(super) fn login(
    status: StatusCode,
    title: &str,
    notice: Option<&str>,
    hidden: &[(String, String)],
    shown: &str,
) -> Response {
    let field = |(name, value): &(String, String)| {
        format!("<input type=\"hidden\" name=\"{}\" value=\"{}\">\n", text(name), text(value))
    };
    let fields: Vec<String> = hidden.iter().map(field).collect();
    let fields = fields.concat();
    let notice = notice
        .map(|notice| format!("<p role=\"alert\">{}</p>\n", text(notice)))
        .unwrap_or_default();
    page(
        status,
        title,
        &format!(
            "{notice}<form method=\"post\">\n{fields}{shown}\
             <p><label>Name <input name=\"username\" autocomplete=\"username\" required></label></p>\n\
             <p><label>Password <input name=\"password\" type=\"password\" \
             autocomplete=\"current-password\" required></label></p>\n\
             <p><button name=\"decision\" value=\"allow\">Allow</button>\n\
             <button name=\"decision\" value=\"deny\" formnovalidate>Deny</button></p>\n</form>\n"
        ),
    )
}

/// A page that only says something.
pub(super) fn message(status: StatusCode, title: &str, said: &str) -> Response {
    page(status, title, &format!("<p>{}</p>\n", text(said)))
}

/// A field for the code that a device shows.
pub(super) fn user_code(value: &str) -> String {
    format!(
        "<p><label>Code <input name=\"user_code\" value=\"{}\" required></label></p>\n",
        text(value)
    )
}

fn page(status: StatusCode, title: &str, body: &str) -> Response {
    let title = text(title);
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title>\
         </head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    );
    (status, [(header::CACHE_CONTROL, "no-store")], Html(html)).into_response()
}

fn text(raw: &str) -> String {
    raw.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
