//! Cookies that only this broker can read and write.

use axum::http::{HeaderMap, HeaderValue, header};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Serialize, de::DeserializeOwned};
use store::{SealLocation, Sealer};

/// The cookie of the session.
pub(super) const SESSION: &str = "kcp-session";
/// The cookie of a sign-in that has begun.
pub(super) const SIGNING_IN: &str = "kcp-signing-in";
/// The largest value that is opened.
const LARGEST: usize = 4_096;

/// Seals values into cookies and opens them.
pub(super) struct Cookies {
    sealer: Sealer,
    /// Whether browsers reach the console over TLS, so that no other host of the domain can set a cookie in its name.
    tls: bool,
}

impl Cookies {
    pub(super) fn new(sealer: Sealer, tls: bool) -> Self {
        Self { sealer, tls }
    }

    /// The value of the cookie of this name that a browser has sent; none when it is not one of ours.
    pub(super) fn open<T: DeserializeOwned>(&self, headers: &HeaderMap, name: &str) -> Option<T> {
        let wanted = self.named(name);
        let sent = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        let mut pairs =
            sent.flat_map(|line| line.split(';')).filter_map(|it| it.trim().split_once('='));
        let (_, value) = pairs.find(|(own, value)| *own == wanted && value.len() <= LARGEST)?;
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(value).ok()?;
        let plain = self.sealer.open(place(name), &sealed).ok()?;
        serde_json::from_slice(&plain).ok()
    }

    /// The cookie with this value, for as long as the browser runs.
    pub(super) fn sealed(&self, name: &str, value: &impl Serialize) -> HeaderValue {
        let plain = serde_json::to_vec(value).unwrap_or_default();
        let value = BASE64_URL_SAFE_NO_PAD.encode(self.sealer.seal(place(name), &plain));
        self.header(name, &value, "")
    }

    /// The end of a cookie.
    pub(super) fn ended(&self, name: &str) -> HeaderValue {
        self.header(name, "", "; Max-Age=0")
    }

    fn header(&self, name: &str, value: &str, more: &str) -> HeaderValue {
        let secure = if self.tls { "; Secure" } else { "" };
        let text =
            format!("{}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{more}", self.named(name));
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
    }

    fn named(&self, name: &str) -> String {
        if self.tls { format!("__Host-{name}") } else { name.to_owned() }
    }
}

/// A value opens as the cookie that it was sealed for, and as no other.
fn place(name: &str) -> SealLocation<'_> {
    SealLocation { table: "console", column: "cookie", row: name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(cookie: &HeaderValue) -> HeaderMap {
        let text = cookie.to_str().unwrap();
        let pair = text.split(';').next().unwrap();
        let line = format!("other=1; {pair}");
        HeaderMap::from_iter([(header::COOKIE, HeaderValue::try_from(line).unwrap())])
    }

    #[test]
    fn a_cookie_opens_under_its_own_name_and_with_its_own_key_only() {
        let cookies = Cookies::new(Sealer::generate(), true);
        let cookie = cookies.sealed(SESSION, &"jo@example.test");
        let text = cookie.to_str().unwrap().to_owned();
        let moved = HeaderValue::try_from(text.replace(SESSION, SIGNING_IN)).unwrap();
        let other = Cookies::new(Sealer::generate(), true);

        assert_eq!(cookies.open::<String>(&sent(&cookie), SESSION).unwrap(), "jo@example.test");
        assert!(text.starts_with("__Host-kcp-session=") && !text.contains("jo@"));
        assert!(text.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"), "{text}");
        assert!(cookies.open::<String>(&sent(&moved), SIGNING_IN).is_none());
        assert!(other.open::<String>(&sent(&cookie), SESSION).is_none());
        assert!(cookies.open::<String>(&HeaderMap::new(), SESSION).is_none());
    }
}
