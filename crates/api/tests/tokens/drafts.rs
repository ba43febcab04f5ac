//! Tokens as a test writes them: good by default, with one thing spoiled.

use jsonwebtoken::{Algorithm, EncodingKey, crypto::sign};
use serde_json::{Value, json};

use crate::support::tokens::{AUDIENCE, KeyServer, NOW, encoded};

/// A token under construction; each row of the table spoils one thing.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(super) header: Value,
    pub(super) claims: Value,
}

impl Draft {
    pub(crate) fn good(server: &KeyServer) -> Self {
        Self {
            header: json!({"alg": "RS256", "typ": "JWT", "kid": "rsa"}),
            claims: json!({
                "iss": server.url, "sub": "admin", "aud": [AUDIENCE],
                "exp": NOW + 3600, "nbf": NOW, "iat": NOW, "scp": ["operations:read"],
            }),
        }
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.header[name] = value.into();
        self
    }

    pub(crate) fn claim(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.claims[name] = value.into();
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.claims.as_object_mut().unwrap().remove(name);
        self.header.as_object_mut().unwrap().remove(name);
        self
    }

    pub(super) fn message(&self) -> String {
        format!("{}.{}", encoded(self.header.to_string()), encoded(self.claims.to_string()))
    }

    pub(crate) fn signed(&self, algorithm: Algorithm, key: &EncodingKey) -> String {
        let message = self.message();
        format!("{message}.{}", sign(message.as_bytes(), key, algorithm).unwrap())
    }
}
