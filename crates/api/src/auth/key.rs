//! One public key, bound to the algorithms that fit its type.

use std::collections::HashMap;

use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse},
};
use serde_json::Value;

/// The shortest RSA modulus that is accepted, in characters of unpadded base64: 2048 bits.
const SHORTEST_MODULUS: usize = 2048 / 6;

/// A key that signatures can be checked with.
#[derive(Clone)]
pub(super) struct Key {
    pub(super) key: DecodingKey,
    /// The algorithms it may be used with; never a symmetric one.
    pub(super) algorithms: Vec<Algorithm>,
}

/// The usable keys of a key set, by id. Others are left out, as the standard asks for.
pub(super) fn usable(set: &Value) -> HashMap<String, Key> {
    let keys = set.get("keys").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    keys.iter().filter_map(|key| one(serde_json::from_value(key.clone()).ok()?)).collect()
}

fn one(jwk: Jwk) -> Option<(String, Key)> {
    if !matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature)) {
        return None;
    }
    let mut algorithms = fitting(&jwk.algorithm);
    if let Some(only) = jwk.common.key_algorithm {
        algorithms.retain(|algorithm| KeyAlgorithm::from(*algorithm) == only);
    }
    if algorithms.is_empty() {
        return None;
    }
    let key = DecodingKey::from_jwk(&jwk).ok()?;
    Some((jwk.common.key_id?, Key { key, algorithms }))
}

fn fitting(parameters: &AlgorithmParameters) -> Vec<Algorithm> {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    match parameters {
        AlgorithmParameters::RSA(rsa) if rsa.n.len() >= SHORTEST_MODULUS => {
            vec![RS256, RS384, RS512, PS256, PS384, PS512]
        }
        AlgorithmParameters::EllipticCurve(curve) => match curve.curve {
            EllipticCurve::P256 => vec![ES256],
            EllipticCurve::P384 => vec![ES384],
            _ => vec![],
        },
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
            vec![EdDSA]
        }
        _ => vec![],
    }
}
