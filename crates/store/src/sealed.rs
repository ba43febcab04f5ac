//! Columns encrypted at rest, each value bound to the place it is stored in.
//!
//! A sealed value is `version, length of the key id, key id, salt, nonce, ciphertext and tag`. Table, column
//! and row are not in it: they are authenticated beside it, so a value that was moved does not open.
//! Each value has a cipher key of its own, derived from the configured key and the value's salt: a cipher key with random
//! nonces may seal 2^32 values and no more, and nobody would count them. Values of version 1 have no salt; they open.
//! What a reader would get wrong: the *first* key of the list seals, every key of the list opens.

mod check;
mod digest;
mod keys;
#[cfg(test)]
mod tests;

use std::{fmt, path::Path, sync::Arc};

use aws_lc_rs::{
    aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey},
    hkdf,
};
use secrecy::{ExposeSecret, SecretBox};

pub use keys::{Keys, KeysError};

/// How values are sealed.
const VERSION: u8 = 2;
/// How values were sealed with one cipher key for all.
const WITHOUT_SALT: u8 = 1;
const TAG_LEN: usize = 16;
const SALT_LEN: usize = 16;
const KEY_LEN: usize = 32;

/// Seals and opens values. Clones share the keys.
#[derive(Clone)]
pub struct Sealer(Arc<Ring>);

/// The keys in use: the first one seals, all of them open.
struct Ring {
    current: DerivedKeys,
    older: Vec<DerivedKeys>,
}

/// A key made ready for its two uses, each with a key of its own derived from the configured one.
struct DerivedKeys {
    id: String,
    /// Cipher keys of values are derived from it.
    root: hkdf::Prk,
    /// The cipher key of all values of version 1.
    shared: RandomizedNonceKey,
    digest: aws_lc_rs::hmac::Key,
}

/// Where a sealed value is stored. It opens there and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealLocation<'a> {
    /// The table.
    pub table: &'a str,
    /// The column.
    pub column: &'a str,
    /// The row's key, as text.
    pub row: &'a str,
}

/// Why a sealed value does not open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// Too short or of an unknown version.
    #[error("the value in {table}.{column} is cut short or was never sealed")]
    NotSealed {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// Sealed with a key that is not configured.
    #[error("the value in {table}.{column} is sealed with key \"{key}\", which is not configured")]
    UnknownKey {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The id of the missing key.
        key: String,
    },
    /// Changed, or sealed for another place.
    #[error("the value in {table}.{column} was changed or sealed for another place")]
    Refused {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
}

impl Sealer {
    /// Seals with the first of the keys and opens with all of them.
    pub fn new(keys: &Keys) -> Self {
        let [current, older @ ..] = keys.entries() else {
            unreachable!("a list of keys is never empty")
        };
        let older = older.iter().map(|key| DerivedKeys::new(key)).collect();
        Self(Arc::new(Ring { current: DerivedKeys::new(current), older }))
    }

    /// A new random key that lives as long as this value.
    pub fn generate() -> Self {
        Self::new(&Keys::generate())
    }

    /// The keys in the file at `path`; writes a new random one there first if there is no file.
    pub fn from_file_or_create(path: &Path) -> Result<Self, KeysError> {
        Keys::from_file_or_create(path).map(|keys| Self::new(&keys))
    }

    /// Encrypts `plain` for one place.
    pub fn seal(&self, place: SealLocation<'_>, plain: &[u8]) -> Vec<u8> {
        let key = &self.0.current;
        let mut secret = Vec::with_capacity(plain.len() + TAG_LEN);
        secret.extend_from_slice(plain);
        let mut salt = [0; SALT_LEN];
        aws_lc_rs::rand::fill(&mut salt).expect("the system gives random bytes");
        let nonce = key
            .cipher(&salt)
            .seal_in_place_append_tag(Aad::from(place.encoded(VERSION)), &mut secret)
            .expect("sealing fails only for values of many gigabytes");
        let mut sealed = Vec::with_capacity(2 + key.id.len() + SALT_LEN + NONCE_LEN + secret.len());
        sealed.push(VERSION);
        keys::push_id(&mut sealed, &key.id);
        sealed.extend_from_slice(&salt);
        sealed.extend_from_slice(nonce.as_ref());
        sealed.append(&mut secret);
        sealed
    }

    /// Decrypts what was sealed for the same place.
    pub fn open(&self, place: SealLocation<'_>, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let envelope = Envelope::read(sealed).ok_or_else(|| place.not_sealed())?;
        let key = self.key(envelope.key).ok_or_else(|| place.unknown_key(envelope.key))?;
        let mut secret = envelope.secret.to_vec();
        let derived = envelope.salt.map(|salt| key.cipher(salt));
        let version = if derived.is_some() { VERSION } else { WITHOUT_SALT };
        let plain = derived
            .as_ref()
            .unwrap_or(&key.shared)
            .open_in_place(
                Nonce::assume_unique_for_key(envelope.nonce),
                Aad::from(place.encoded(version)),
                &mut secret,
            )
            .map_err(|_| place.refused())?
            .len();
        secret.truncate(plain);
        Ok(secret)
    }

    /// The id of the key a value is sealed with; `None` when it is no sealed value.
    pub fn key_id(sealed: &[u8]) -> Option<&str> {
        Envelope::read(sealed).map(|envelope| envelope.key)
    }

    /// The id of the key that seals.
    pub fn current_id(&self) -> &str {
        &self.0.current.id
    }

    /// The ids of all keys, the one that seals first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.0.current).chain(&self.0.older).map(|key| key.id.as_str())
    }

    /// Whether a value is sealed with the key that seals now, and in the way of now.
    pub fn is_current(&self, sealed: &[u8]) -> bool {
        sealed.starts_with(&self.current_prefix())
    }

    /// The prefix of values that are sealed with the current key, to search for the others.
    pub fn current_prefix(&self) -> Vec<u8> {
        let mut prefix = vec![VERSION];
        keys::push_id(&mut prefix, &self.0.current.id);
        prefix
    }

    /// The same content under the current key; `None` when it is under that key already.
    pub fn reseal(
        &self,
        place: SealLocation<'_>,
        sealed: &[u8],
    ) -> Result<Option<Vec<u8>>, SealError> {
        if self.is_current(sealed) {
            return Ok(None);
        }
        let plain = SecretBox::new(self.open(place, sealed)?.into_boxed_slice());
        Ok(Some(self.seal(place, plain.expose_secret())))
    }

    fn key(&self, id: &str) -> Option<&DerivedKeys> {
        std::iter::once(&self.0.current).chain(&self.0.older).find(|key| key.id == id)
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let older: Vec<_> = self.0.older.iter().map(|key| &key.id).collect();
        f.debug_struct("Sealer")
            .field("current", &self.0.current.id)
            .field("older", &older)
            .finish_non_exhaustive()
    }
}

impl DerivedKeys {
    fn new(key: &keys::Key) -> Self {
        let values = key.derive(b"kcp sealed value");
        Self {
            id: key.id().to_owned(),
            root: hkdf::Prk::new_less_safe(hkdf::HKDF_SHA256, values.expose_secret()),
            shared: cipher(&key.derive(b"kcp sealed column")),
            digest: digest::key(key),
        }
    }

    /// The cipher key of the value with this salt.
    fn cipher(&self, salt: &[u8; SALT_LEN]) -> RandomizedNonceKey {
        cipher(&SecretBox::init_with_mut(|bytes: &mut [u8; KEY_LEN]| {
            self.root
                .expand(&[salt], hkdf::HKDF_SHA256)
                .and_then(|derived| derived.fill(bytes))
                .expect("the derived key is as long as the hash");
        }))
    }
}

fn cipher(key: &SecretBox<[u8; KEY_LEN]>) -> RandomizedNonceKey {
    RandomizedNonceKey::new(&AES_256_GCM, key.expose_secret())
        .expect("a derived key has the length the cipher wants")
}

impl SealLocation<'_> {
    /// Each part with its length in front, so that no two places have the same encoding.
    fn encoded(&self, version: u8) -> Vec<u8> {
        let mut bytes = vec![version];
        for part in [self.table, self.column, self.row] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }

    fn not_sealed(&self) -> SealError {
        SealError::NotSealed { table: self.table.into(), column: self.column.into() }
    }

    fn unknown_key(&self, key: &str) -> SealError {
        let (table, column) = (self.table.into(), self.column.into());
        SealError::UnknownKey { table, column, key: key.into() }
    }

    fn refused(&self) -> SealError {
        SealError::Refused { table: self.table.into(), column: self.column.into() }
    }
}

/// A sealed value, taken apart.
struct Envelope<'a> {
    key: &'a str,
    /// None in version 1.
    salt: Option<&'a [u8; SALT_LEN]>,
    nonce: [u8; NONCE_LEN],
    secret: &'a [u8],
}

impl<'a> Envelope<'a> {
    fn read(sealed: &'a [u8]) -> Option<Self> {
        let (&version, rest) = sealed.split_first()?;
        let (key, rest) = keys::split_id(rest)?;
        let (salt, rest) = match version {
            VERSION => rest.split_first_chunk().map(|(salt, rest)| (Some(salt), rest))?,
            WITHOUT_SALT => (None, rest),
            _ => return None,
        };
        let (nonce, secret) = rest.split_first_chunk()?;
        (secret.len() >= TAG_LEN).then_some(Self { key, salt, nonce: *nonce, secret })
    }
}
