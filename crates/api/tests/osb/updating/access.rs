//! The duties of a broker about changes: versions, credentials and identities.

use axum::http::header;

use super::{INSTANCE, change, made};
use crate::{
    conformance::status,
    service::{PLATFORM, WAITING, basic},
};

#[tokio::test]
async fn h_a2_a_change_needs_the_version_and_credentials_and_takes_any_originating_identity() {
    let real = made().await;
    let path = format!("{INSTANCE}?{WAITING}");
    let call = async |version: Option<&str>, password: &str, identity: Option<&str>| {
        let mut request = real.service.request("PATCH", &path);
        let headers = request.headers_mut().unwrap();
        headers.insert(header::AUTHORIZATION, basic(PLATFORM.0, password).parse().unwrap());
        headers.remove("x-broker-api-version");
        if let Some(version) = version {
            headers.insert("x-broker-api-version", version.parse().unwrap());
        }
        if let Some(identity) = identity {
            headers.insert("x-broker-api-originating-identity", identity.parse().unwrap());
        }
        status(&real.service.send(request.body(change(12).to_string().into()).unwrap()).await)
    };

    for (version, expected) in [
        (None, 412),
        (Some("1.14"), 412),
        (Some("3.0"), 412),
        (Some("2.13"), 202),
        (Some("2.99"), 202),
    ] {
        assert_eq!(call(version, PLATFORM.1, None).await, expected, "{version:?}");
    }
    assert_eq!(call(Some("2.17"), "wrong", None).await, 401, "A2");
    for identity in
        ["cloudfoundry eyJ1c2VyX2lkIjogImEifQ==", "cloudfoundry e30=", "nonsense", "a b"]
    {
        assert_eq!(call(Some("2.17"), PLATFORM.1, Some(identity)).await, 202, "H6: {identity}");
    }
    assert_eq!(real.operations().await, 2, "each is the same change");
}
