//! How the original programs encrypt columns.
//!
//! What a reader would get wrong: the older mode authenticates nothing. A wrong key gives noise and no error; only that the noise is
//! no base64 shows it.

use std::fmt;

use aws_lc_rs::{
    aead::{AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    cipher::{
        AES_128, AES_192, AES_256, AES_CFB_IV_LEN, DecryptingKey, DecryptionContext,
        UnboundCipherKey,
    },
    iv::FixedLength,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret, SecretString};

use super::Error;

/// The key of an original program: 16, 24 or 32 bytes.
#[derive(Clone)]
pub struct SourceKey(SecretString);

impl SourceKey {
    /// A key as the original's settings have it.
    pub fn new(key: SecretString) -> Result<Self, Error> {
        match key.expose_secret().len() {
            16 | 24 | 32 => Ok(Self(key)),
            other => Err(Error::Key(format!("it has {other} bytes and not 16, 24 or 32"))),
        }
    }
}

impl fmt::Debug for SourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SourceKey([REDACTED])")
    }
}

/// Why a value cannot be decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CipherError {
    /// There is no key.
    #[error("no key was given")]
    NoKey,
    /// It is not encrypted, or not with this key.
    #[error("it does not open with the key")]
    Closed,
}

/// Opens encrypted columns.
#[derive(Debug, Clone, Default)]
pub struct Cipher(Option<SourceKey>);

impl Cipher {
    /// With this key, or with none.
    pub fn new(key: Option<SourceKey>) -> Self {
        Self(key)
    }

    /// The text of an encrypted value. What is empty is not encrypted.
    pub fn open(&self, value: &str) -> Result<String, CipherError> {
        if value.is_empty() {
            return Ok(String::new());
        }
        let key = self.0.as_ref().ok_or(CipherError::NoKey)?;
        let key = key.0.expose_secret().as_bytes();
        let bytes = BASE64_STANDARD.decode(value).map_err(|_| CipherError::Closed)?;
        // The newer mode first: it knows whether the key is right.
        let plain = gcm(key, &bytes).or_else(|| cfb(key, &bytes)).ok_or(CipherError::Closed)?;
        String::from_utf8(plain).map_err(|_| CipherError::Closed)
    }

    /// Whether the key opens what is encrypted, as some values show: one that opens is enough.
    pub(super) fn check(&self, values: &[String]) -> Result<(), Error> {
        let Some(first) = values.first() else { return Ok(()) };
        if values.iter().any(|value| self.open(value).is_ok()) {
            return Ok(());
        }
        Err(Error::Key(match self.open(first) {
            Err(CipherError::NoKey) => {
                "the source has encrypted values, and no key was given: name a file with \
                                        --key-file, or set KCP_IMPORT_KEY"
                    .into()
            }
            _ => "it opens none of the source's encrypted values".into(),
        }))
    }
}

/// `base64(nonce ‖ cipher ‖ tag)`.
fn gcm(key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN)?;
    let algorithm = match key.len() {
        16 => &AES_128_GCM,
        24 => &AES_192_GCM,
        _ => &AES_256_GCM,
    };
    let key = LessSafeKey::new(UnboundKey::new(algorithm, key).ok()?);
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let mut opened = sealed.to_vec();
    let length = key.open_in_place(nonce, Aad::empty(), &mut opened).ok()?.len();
    opened.truncate(length);
    Some(opened)
}

/// `base64(iv ‖ cipher(base64(plain)))`.
fn cfb(key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    let (iv, sealed) = bytes.split_at_checked(AES_CFB_IV_LEN)?;
    let algorithm = match key.len() {
        16 => &AES_128,
        24 => &AES_192,
        _ => &AES_256,
    };
    let iv: [u8; AES_CFB_IV_LEN] = iv.try_into().ok()?;
    let key = DecryptingKey::cfb128(UnboundCipherKey::new(algorithm, key).ok()?).ok()?;
    let mut opened = sealed.to_vec();
    let context = DecryptionContext::Iv128(FixedLength::from(iv));
    let inner = key.decrypt(&mut opened, context).ok()?;
    BASE64_STANDARD.decode(inner).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::originals::{encrypted, encrypted_gcm};

    fn cipher(key: &str) -> Cipher {
        Cipher::new(Some(SourceKey::new(key.to_owned().into()).unwrap()))
    }

    #[test]
    fn values_of_both_modes_and_of_every_length_of_key_open() {
        for key in ["k".repeat(16), "k".repeat(24), "k".repeat(32)] {
            for plain in ["x", "a client secret", &"long ".repeat(100)] {
                assert_eq!(cipher(&key).open(&encrypted(&key, plain)).unwrap(), plain);
                assert_eq!(cipher(&key).open(&encrypted_gcm(&key, plain)).unwrap(), plain);
            }
        }
        assert_eq!(cipher(&"k".repeat(16)).open("").unwrap(), "");
    }

    #[test]
    fn a_wrong_key_and_a_missing_one_open_nothing() {
        let (key, other) = ("k".repeat(32), cipher(&"o".repeat(32)));
        let plain = "a client secret of some length";

        assert_eq!(other.open(&encrypted(&key, plain)), Err(CipherError::Closed));
        assert_eq!(other.open(&encrypted_gcm(&key, plain)), Err(CipherError::Closed));
        assert_eq!(other.open("no base64 at all"), Err(CipherError::Closed));
        assert_eq!(Cipher::default().open(&encrypted(&key, plain)), Err(CipherError::NoKey));
    }

    #[test]
    fn a_key_of_another_length_is_refused_and_never_printed() {
        let refused = SourceKey::new("short".to_owned().into()).unwrap_err().to_string();
        let key = SourceKey::new("hush-hush-hush-h".to_owned().into()).unwrap();

        assert!(refused.contains("5 bytes and not 16, 24 or 32"), "{refused}");
        assert!(!format!("{key:?}").contains("hush"));
    }
}
