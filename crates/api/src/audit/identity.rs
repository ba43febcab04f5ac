//! The identity that a platform acts for (`X-Broker-API-Originating-Identity`), as the audit keeps it.
//!
//! What a reader would get wrong: the platform says it, nobody has verified it. It allows nothing.

use axum::http::HeaderMap;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};

use crate::osb::ORIGINATING_IDENTITY;

/// The longest text that is kept.
const LONGEST: usize = 500;
/// What names of fields with credentials contain.
const SECRET: [&str; 6] = ["secret", "password", "token", "credential", "authorization", "key"];

/// The identity in these headers: the platform and its object, without credentials. A value that cannot be decoded is kept as it is.
pub(super) fn on_behalf_of(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(&ORIGINATING_IDENTITY)?;
    let text = String::from_utf8_lossy(value.as_bytes());
    let text = decoded(&text).unwrap_or_else(|| text.trim().to_owned());
    Some(text.chars().take(LONGEST).collect()).filter(|text: &String| !text.is_empty())
}

fn decoded(text: &str) -> Option<String> {
    let (platform, encoded) = text.trim().split_once(' ')?;
    let bytes = BASE64_STANDARD.decode(encoded.trim()).ok()?;
    let mut fields: Map<String, Value> = serde_json::from_slice(&bytes).ok()?;
    // Objects may hold anything: `extra` of Kubernetes has what its authenticator put there.
    fields.retain(|name, value| !value.is_object() && !is_secret(name));
    Some(format!("{platform} {}", Value::Object(fields)))
}

fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use serde_json::json;

    use super::*;

    fn kept(value: &str) -> Option<String> {
        let value = HeaderValue::from_str(value).unwrap();
        on_behalf_of(&HeaderMap::from_iter([(ORIGINATING_IDENTITY, value)]))
    }

    fn encoded(object: &Value) -> String {
        format!("kubernetes {}", BASE64_STANDARD.encode(object.to_string()))
    }

    #[test]
    fn an_identity_is_kept_without_its_credentials() {
        let object = json!({
            "username": "ada", "groups": ["admins"], "extra": {"note": ["hush"]}, "accessToken": "hush",
        });

        let kept = kept(&encoded(&object));

        assert_eq!(kept.unwrap(), r#"kubernetes {"username":"ada","groups":["admins"]}"#);
    }

    #[test]
    fn what_cannot_be_decoded_is_kept_as_it_is() {
        for value in ["ada", "kubernetes ada", "kubernetes WyJhIl0=", "kubernetes bm8ganNvbg=="] {
            assert_eq!(kept(&format!(" {value} ")).as_deref(), Some(value));
        }
        assert_eq!((kept(" "), on_behalf_of(&HeaderMap::new())), (None, None));
    }

    #[test]
    fn no_more_than_500_characters_are_kept() {
        let long = "ä".repeat(600);

        let told = kept(&encoded(&json!({"user_id": long}))).unwrap();
        let raw = kept(&"x".repeat(600)).unwrap();

        assert!(told.starts_with(r#"kubernetes {"user_id":"ää"#), "{told}");
        assert_eq!((told.chars().count(), raw.len()), (500, 500));
    }
}
