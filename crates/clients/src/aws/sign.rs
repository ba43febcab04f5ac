//! Signature Version 4: proves that a request comes from the owner of the access key.
//!
//! Own code, because the kept crates weigh more than it does (docs/decisions/0095).

use std::fmt::Write as _;

use aws_lc_rs::{
    digest::{SHA256, digest},
    hmac::{HMAC_SHA256, Key, sign},
};
use secrecy::{ExposeSecret, SecretString};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// A request as it is signed.
pub(super) struct SignableRequest<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) query: &'a str,
    /// In the order of their names, which are in small letters.
    pub(super) headers: &'a [(&'a str, &'a str)],
    pub(super) body: &'a [u8],
}

/// Where and when a signature holds.
pub(super) struct Scope<'a> {
    /// As in `20150830T123600Z`.
    pub(super) at: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
}

impl SignableRequest<'_> {
    /// The value of the header that carries the signature.
    pub(super) fn authorization(&self, scope: &Scope<'_>, id: &str, key: &SecretString) -> String {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let credential = scope.text();
        let text = format!(
            "{ALGORITHM}\n{}\n{credential}\n{}",
            scope.at,
            hex::encode(digest(&SHA256, self.canonical(&names).as_bytes()))
        );
        let signature = hex::encode(mac(&scope.key(key), text.as_bytes()));
        format!(
            "{ALGORITHM} Credential={id}/{credential}, SignedHeaders={names}, Signature={signature}"
        )
    }

    fn canonical(&self, names: &str) -> String {
        let Self { method, path, query, headers, body } = self;
        let headers = headers.iter().fold(String::new(), |mut lines, (name, value)| {
            let _ = writeln!(lines, "{name}:{}", value.trim());
            lines
        });
        let body = hex::encode(digest(&SHA256, body));
        format!("{method}\n{path}\n{query}\n{headers}\n{names}\n{body}")
    }
}

impl Scope<'_> {
    fn date(&self) -> &str {
        self.at.get(..8).unwrap_or(self.at)
    }

    fn text(&self) -> String {
        format!("{}/{}/{}/aws4_request", self.date(), self.region, self.service)
    }

    fn key(&self, key: &SecretString) -> Vec<u8> {
        let first = format!("AWS4{}", key.expose_secret()).into_bytes();
        let parts = [self.date(), self.region, self.service, "aws4_request"];
        parts.iter().fold(first, |key, part| mac(&key, part.as_bytes()))
    }
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    sign(&Key::new(HMAC_SHA256, key), text).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(signed: &SignableRequest<'_>, service: &str) -> String {
        let key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned().into();
        let scope = Scope { at: "20150830T123600Z", region: "us-east-1", service };
        let header = signed.authorization(&scope, "AKIDEXAMPLE", &key);
        assert!(header.contains(&format!("AKIDEXAMPLE/20150830/us-east-1/{service}/aws4_request")));
        header.rsplit_once("Signature=").unwrap().1.to_owned()
    }

    #[test]
    fn signatures_are_those_of_the_published_examples() {
        let at = ("x-amz-date", "20150830T123600Z");
        let form = ("content-type", "application/x-www-form-urlencoded");
        let host = ("host", "example.amazonaws.com");
        let vanilla = SignableRequest {
            method: "GET",
            path: "/",
            query: "",
            headers: &[host, at],
            body: b"",
        };
        let posted = SignableRequest {
            method: "POST",
            path: "/",
            query: "",
            headers: &[form, host, at],
            body: b"Param1=value1",
        };
        let users = SignableRequest {
            method: "GET",
            path: "/",
            query: "Action=ListUsers&Version=2010-05-08",
            headers: &[
                ("content-type", "application/x-www-form-urlencoded; charset=utf-8"),
                ("host", "iam.amazonaws.com"),
                at,
            ],
            body: b"",
        };

        assert_eq!(
            signature(&vanilla, "service"),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
        assert_eq!(
            signature(&posted, "service"),
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
        );
        assert_eq!(
            signature(&users, "iam"),
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
        );
    }
}
