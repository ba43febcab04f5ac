//! Whether two addresses of issuers are probably meant to be the same one.
//!
//! For messages only: whose tokens are accepted is decided by the exact text.

use url::{Host, Url};

/// Whether only the scheme, the name of this machine, capital letters or slashes at the end tell two addresses apart.
pub(super) fn similar(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        let url = Url::parse(text.trim()).ok()?;
        let local = match url.host()? {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        };
        let host = if local { "localhost".to_owned() } else { url.host_str()?.to_owned() };
        let path = url.path().trim_end_matches('/').to_ascii_lowercase();
        Some((host, url.port(), path))
    };
    plain(one).is_some_and(|one| plain(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_issuer_are_similar_and_other_issuers_are_not() {
        let own = "http://127.0.0.1:8082";
        for similar_one in [
            "http://127.0.0.1:8082/",
            "http://localhost:8082",
            "https://localhost:8082//",
            "http://[::1]:8082",
            " http://127.0.0.1:8082",
        ] {
            assert!(similar(own, similar_one), "{similar_one}");
        }
        for other in [
            "http://127.0.0.1:8083",
            "http://issuer.example.test:8082",
            "http://127.0.0.1:8082/a",
            "",
        ] {
            assert!(!similar(own, other), "{other}");
        }
        assert!(similar("https://issuer.example.test/Realm", "https://ISSUER.example.test/realm/"));
    }
}
