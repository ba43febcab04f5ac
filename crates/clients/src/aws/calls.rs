//! One signed call, and its refusal in Amazon's words.

use reqwest::RequestBuilder;
use secrecy::ExposeSecret;
use url::{Url, form_urlencoded};

use super::{
    Aws,
    sign::{Scope, SignableRequest},
    xml::Element,
};
use crate::{
    answer::Raw,
    error::{Error, Kind},
    http::Http,
};

const VERSION: &str = "2016-11-15";
const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";
/// How many things a page has.
const PAGE: &str = "500";

impl Aws {
    /// Makes one call and reads its answer.
    pub(super) async fn call(
        &self,
        region: &str,
        action: &'static str,
        doing: &str,
        fields: &[(&str, &str)],
    ) -> Result<Element, Error> {
        let (http, request) = self.request(region, action, fields)?;
        let raw = http.raw(action, doing, request).await?;
        let root = std::str::from_utf8(&raw.body).ok().and_then(Element::parse);
        match (raw.kind(), root) {
            (None, Some(root)) if root.name().strip_suffix("Response") == Some(action) => Ok(root),
            (None, _) => Err(self.odd(doing, "the body is not what was expected")),
            (Some(kind), root) => Err(self.refused(doing, kind, &raw, root.as_ref())),
        }
    }

    /// The items of `list` from all pages. A page without the list must not look like an empty one.
    pub(super) async fn pages(
        &self,
        region: &str,
        action: &'static str,
        doing: &str,
        list: &str,
        fields: &[(&str, &str)],
    ) -> Result<Vec<Element>, Error> {
        let mut items: Vec<Element> = Vec::new();
        let mut tokens: Vec<String> = Vec::new();
        loop {
            let mut fields = fields.to_vec();
            fields.push(("MaxResults", PAGE));
            fields.extend(tokens.last().map(|token| ("NextToken", token.as_str())));
            let page = self.call(region, action, doing, &fields).await?;
            let token = page.text(&["nextToken"]).map(str::to_owned);
            let listed =
                page.at(&[list]).ok_or_else(|| self.odd(doing, &format!("field {list}")))?;
            items.extend(listed.children().iter().cloned());
            match token {
                None => return Ok(items),
                Some(token) if tokens.contains(&token) => {
                    return Err(self.odd(doing, "its pages go round in a circle"));
                }
                Some(token) => tokens.push(token),
            }
        }
    }

    pub(super) fn odd(&self, doing: &str, said: &str) -> Error {
        Error::new(self.gate.component(), Kind::Malformed, doing).saying(said)
    }

    fn request(
        &self,
        region: &str,
        action: &str,
        fields: &[(&str, &str)],
    ) -> Result<(Http, RequestBuilder), Error> {
        let (http, url) = self.region(region)?;
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("Action", action)
            .append_pair("Version", VERSION)
            .extend_pairs(fields)
            .finish();
        let at = self.clock.now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let host = host(&url);
        let signed = SignableRequest {
            method: "POST",
            path: url.path(),
            query: "",
            headers: &[("content-type", FORM), ("host", &host), ("x-amz-date", &at)],
            body: body.as_bytes(),
        };
        let scope = Scope { at: &at, region, service: "ec2" };
        let (id, key) = (&self.settings.access_key_id, &self.settings.secret_access_key);
        let authorization = signed.authorization(&scope, id, key);
        let request = http.post("").header("content-type", FORM).header("x-amz-date", &at);
        Ok((http, request.header("authorization", authorization).body(body)))
    }

    fn refused(&self, doing: &str, kind: Kind, raw: &Raw, root: Option<&Element>) -> Error {
        let problem = root.and_then(|root| root.at(&["Errors", "Error"]));
        let code = problem.and_then(|problem| problem.text(&["Code"]));
        let mut error = Error::new(self.gate.component(), meaning(code, kind, raw), doing);
        if let Some(message) = problem.and_then(|problem| problem.text(&["Message"])) {
            let key = self.settings.secret_access_key.expose_secret();
            error = error.saying(raw.cleaned(&message.replace(key, "[REDACTED]")));
        }
        match code {
            Some(code) => error.because(code),
            None => error,
        }
    }
}

/// The host as it is sent: with the port only if it is not the usual one.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The kind of an error code, or of the status for unknown codes.
fn meaning(code: Option<&str>, by_status: Kind, raw: &Raw) -> Kind {
    match code {
        Some("RequestLimitExceeded" | "Throttling" | "ThrottlingException") => {
            Kind::Throttled { retry_after: raw.retry_after }
        }
        Some(
            "AuthFailure" | "UnauthorizedOperation" | "InvalidClientTokenId" | "OptInRequired",
        ) => Kind::Unauthorized,
        Some("InternalError" | "Unavailable" | "ServiceUnavailable") => Kind::Unavailable,
        Some("VolumeInUse" | "IncorrectState") => Kind::Conflict,
        Some(code) if code.ends_with(".NotFound") => Kind::NotFound,
        _ => by_status,
    }
}
