//! The key that signs tokens: made at the first start, kept in a file that only its owner can read.

use std::{
    fs,
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der},
    rsa::{KeyPair, KeySize},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use jsonwebtoken::{
    Algorithm, EncodingKey,
    jwk::{Jwk, PublicKeyUse, ThumbprintHash},
};

/// An RSA key and its public half as clients see it.
pub struct SigningKey {
    private: EncodingKey,
    public: Jwk,
    id: String,
}

/// A signing key that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// No key could be made.
    #[error("making a signing key failed")]
    Generate,
    /// The key's file cannot be read or written.
    #[error("the signing key in {} cannot be read or written", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The file holds something else.
    #[error("the signing key is not an RSA key in PKCS#8")]
    Format(#[from] jsonwebtoken::errors::Error),
}

impl SigningKey {
    /// Makes a key.
    pub fn generate() -> Result<Self, KeyError> {
        Self::from_pem(&new_pem()?)
    }

    /// Reads the key in `path`, or makes one and keeps it there.
    pub fn from_file_or_create(path: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::File { path: path.to_owned(), source };
        match fs::read_to_string(path) {
            Ok(pem) => Self::from_pem(&pem),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let pem = new_pem()?;
                write_privately(path, &pem).map_err(failed)?;
                Self::from_pem(&pem)
            }
            Err(error) => Err(failed(error)),
        }
    }

    pub(super) fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let private = EncodingKey::from_rsa_pem(pem.as_bytes())?;
        let mut public = Jwk::from_encoding_key(&private, Algorithm::RS256)?;
        let id = public.thumbprint(ThumbprintHash::SHA256)?;
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        public.common.key_id = Some(id.clone());
        Ok(Self { private, public, id })
    }

    pub(super) fn private(&self) -> &EncodingKey {
        &self.private
    }

    pub(super) fn public(&self) -> &Jwk {
        &self.public
    }

    /// The id under which clients find the public half.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

pub(super) fn new_pem() -> Result<String, KeyError> {
    let pair = KeyPair::generate(KeySize::Rsa2048).map_err(|_| KeyError::Generate)?;
    let der: Pkcs8V1Der<'_> = pair.as_der().map_err(|_| KeyError::Generate)?;
    let text = BASE64_STANDARD.encode(der.as_ref());
    let mut pem = String::from("-----BEGIN PRIVATE KEY-----\n");
    for line in text.as_bytes().chunks(64) {
        pem.push_str(&String::from_utf8_lossy(line));
        pem.push('\n');
    }
    pem.push_str("-----END PRIVATE KEY-----\n");
    Ok(pem)
}

/// A crash in the middle leaves no half key behind: the file appears whole or not at all.
fn write_privately(path: &Path, text: &str) -> std::io::Result<()> {
    let unfinished = path.with_extension("new");
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&unfinished)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(unfinished, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_key_is_the_same_after_a_restart_and_private_to_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("issuer-key.pem");

        let first = SigningKey::from_file_or_create(&path).unwrap();
        let second = SigningKey::from_file_or_create(&path).unwrap();

        assert_eq!(first.id(), second.id());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_with_something_else_in_it_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("issuer-key.pem");
        fs::write(&path, "not a key").unwrap();

        assert!(matches!(SigningKey::from_file_or_create(&path), Err(KeyError::Format(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "not a key");
    }
}
