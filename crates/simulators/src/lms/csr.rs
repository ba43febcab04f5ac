//! The little of a certificate request that is needed: the key, the common name, and that both belong together.

use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::{Engine, prelude::BASE64_STANDARD};
use rcgen::{PKCS_RSA_SHA256, PublicKeyData, SignatureAlgorithm};

const RSA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];

/// A request whose signature is good.
#[derive(Debug)]
pub(super) struct Request {
    /// The common name that is asked for.
    pub(super) name: String,
    key: Vec<u8>,
}

impl Request {
    /// Reads PEM; `None` if it is no request of an RSA key, or was not signed with that key.
    pub(super) fn read(pem: &str) -> Option<Self> {
        let body = pem.trim().strip_prefix("-----BEGIN CERTIFICATE REQUEST-----")?;
        let body = body.strip_suffix("-----END CERTIFICATE REQUEST-----")?;
        let text: String = body.split_whitespace().collect();
        let der = BASE64_STANDARD.decode(text).ok()?;
        let (whole, _) = content(&der)?;
        let (info, after) = content(whole)?;
        let signed = &whole[..whole.len() - after.len()];
        let (_, after) = content(after)?;
        let signature = bits(after)?;
        let (_version, rest) = content(info)?;
        let (names, rest) = content(rest)?;
        let (key_info, _) = content(rest)?;
        let (algorithm, after) = content(key_info)?;
        let key = bits(after)?;
        if content(algorithm)?.0 != RSA {
            return None;
        }
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key).verify(signed, signature).ok()?;
        Some(Self { name: common_name(names)?, key: key.to_vec() })
    }
}

impl PublicKeyData for Request {
    fn der_bytes(&self) -> &[u8] {
        &self.key
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_RSA_SHA256
    }
}

fn common_name(mut names: &[u8]) -> Option<String> {
    while !names.is_empty() {
        let (set, rest) = content(names)?;
        names = rest;
        let (oid, value) = content(content(set)?.0)?;
        if oid == COMMON_NAME {
            return String::from_utf8(content(value)?.0.to_vec()).ok();
        }
    }
    None
}

/// A string of whole bytes.
fn bits(bytes: &[u8]) -> Option<&[u8]> {
    content(bytes)?.0.strip_prefix(&[0])
}

/// The content of an element, and the bytes after it.
fn content(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    if first & 0x80 == 0 {
        return rest.split_at_checked(usize::from(*first));
    }
    let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
    let length = digits
        .iter()
        .try_fold(0_usize, |sum, digit| sum.checked_mul(256)?.checked_add(usize::from(*digit)))?;
    rest.split_at_checked(length)
}
