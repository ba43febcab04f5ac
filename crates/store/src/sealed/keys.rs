//! The keys that seal and open, and how they are written in settings and files.
//!
//! `2026-11:BASE64,2026-05:BASE64`, or one per line: the first one seals, the others only open. No
//! error in here repeats what it could not read, because that may be a key.

use std::{
    fmt, fs,
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use aws_lc_rs::{hkdf, rand};
use base64::{Engine, engine::general_purpose::STANDARD};
use secrecy::{ExposeSecret, SecretBox, SecretSlice, SecretString};

/// Shorter than an encoded key, so that a key in the place of an id is never taken for one.
const LONGEST_ID: usize = 24;
const KEY_LEN: usize = 32;

/// One current key and older ones; never empty.
#[derive(Clone)]
pub struct Keys(Vec<Arc<Key>>);

pub(super) struct Key {
    id: String,
    bytes: SecretBox<[u8; KEY_LEN]>,
}

/// Keys that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// No entry.
    #[error("there is no key in the list of keys")]
    Empty,
    /// An entry without a readable id.
    #[error(
        "entry {position} of the list of keys does not begin with a key id and a colon \
         (an id has 1 to {LONGEST_ID} letters, digits, '-', '_' or '.')"
    )]
    NoId {
        /// Counted from one.
        position: usize,
    },
    /// An entry whose key is not 32 bytes in base64.
    #[error("key \"{id}\" is not 32 bytes in base64")]
    NotAKey {
        /// The id of the entry.
        id: String,
    },
    /// Two entries with one id.
    #[error("key \"{id}\" is in the list of keys twice")]
    Twice {
        /// The id of the entries.
        id: String,
    },
    /// A file that cannot be read or written.
    #[error("the key file {} cannot be used", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file that others may read.
    #[error("the key file {} is open to other users; run: chmod 600 {}", path.display(), path.display())]
    Exposed {
        /// Which file.
        path: PathBuf,
    },
}

impl Keys {
    /// Reads `id:base64` entries that are separated by commas or line ends.
    pub fn parse(text: &SecretString) -> Result<Self, KeysError> {
        let mut keys: Vec<Arc<Key>> = Vec::new();
        let entries = text.expose_secret().split([',', '\n']).map(str::trim);
        for entry in entries.filter(|entry| !entry.is_empty()) {
            let key = Key::parse(entry, keys.len() + 1)?;
            if keys.iter().any(|other| other.id == key.id) {
                return Err(KeysError::Twice { id: key.id });
            }
            keys.push(Arc::new(key));
        }
        if keys.is_empty() { Err(KeysError::Empty) } else { Ok(Self(keys)) }
    }

    /// Reads a file of such entries; who may read it is up to its owner.
    pub fn from_file(path: &Path) -> Result<Self, KeysError> {
        let text = fs::read_to_string(path).map_err(|source| file(path, source))?;
        Self::parse(&SecretString::from(text))
    }

    /// Reads the file at `path`, which only its owner may read; if there is none, makes one first.
    pub fn from_file_or_create(path: &Path) -> Result<Self, KeysError> {
        match fs::metadata(path) {
            Ok(found) if found.permissions().mode() & 0o077 != 0 => {
                return Err(KeysError::Exposed { path: path.into() });
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Self::generate().create(path).map_err(|source| file(path, source))?;
            }
            Err(source) => return Err(file(path, source)),
        }
        Self::from_file(path)
    }

    /// Adds a new key to the file at `path`, behind the others: it opens and does not seal yet. Returns its id.
    pub fn add_to_file(path: &Path) -> Result<String, KeysError> {
        let keys = Self::from_file(path)?;
        let added = Self::generate();
        let id = added.0[0].id.clone();
        let all = Self(keys.0.into_iter().chain(added.0).collect());
        all.replace(path).map_err(|source| file(path, source))?;
        Ok(id)
    }

    /// One new random key.
    pub fn generate() -> Self {
        let mut id = [0; 4];
        rand::fill(&mut id).expect("the system has randomness");
        let bytes = SecretBox::init_with_mut(|bytes: &mut [u8; KEY_LEN]| {
            rand::fill(bytes).expect("the system has randomness");
        });
        Self(vec![Arc::new(Key { id: format!("{:08x}", u32::from_be_bytes(id)), bytes })])
    }

    /// These keys with a new one in front, which seals from now on.
    #[must_use]
    pub fn rotated(&self) -> Self {
        let mut keys = Self::generate();
        keys.0.extend(self.0.iter().cloned());
        keys
    }

    pub(super) fn entries(&self) -> &[Arc<Key>] {
        &self.0
    }

    /// Creates a file atomically; of two processes that start at once, one wins for both.
    fn create(&self, path: &Path) -> io::Result<()> {
        let draft = path.with_extension(format!("new-{}-{}", std::process::id(), self.0[0].id));
        let written = self.write_new(&draft).and_then(|()| match fs::hard_link(&draft, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
        let removed = fs::remove_file(&draft);
        written.and(removed)
    }

    /// Replaces a file atomically.
    fn replace(&self, path: &Path) -> io::Result<()> {
        let draft = path.with_extension(format!("new-{}", std::process::id()));
        self.write_new(&draft)?;
        fs::rename(&draft, path)
    }

    fn write_new(&self, path: &Path) -> io::Result<()> {
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        for key in &self.0 {
            let encoded = SecretString::from(STANDARD.encode(key.bytes.expose_secret()));
            writeln!(file, "{}:{}", key.id, encoded.expose_secret())?;
        }
        file.sync_all()
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Keys").field(&self.0.iter().map(|key| &key.id).collect::<Vec<_>>()).finish()
    }
}

impl Key {
    fn parse(entry: &str, position: usize) -> Result<Self, KeysError> {
        let (id, encoded) = entry.split_once(':').ok_or(KeysError::NoId { position })?;
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(fits) {
            return Err(KeysError::NoId { position });
        }
        let not_a_key = || KeysError::NotAKey { id: id.into() };
        let decoded: SecretSlice<u8> = STANDARD.decode(encoded).map_err(|_| not_a_key())?.into();
        let source = decoded.expose_secret();
        if source.len() != KEY_LEN {
            return Err(not_a_key());
        }
        let bytes = SecretBox::init_with_mut(|bytes: &mut [u8; KEY_LEN]| {
            bytes.copy_from_slice(source);
        });
        Ok(Self { id: id.into(), bytes })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// A key for one purpose, of which nothing can be learnt about the others.
    pub(super) fn derive(&self, purpose: &[u8]) -> SecretBox<[u8; KEY_LEN]> {
        let root = hkdf::Salt::none(hkdf::HKDF_SHA256).extract(self.bytes.expose_secret());
        SecretBox::init_with_mut(|bytes: &mut [u8; KEY_LEN]| {
            root.expand(&[purpose], hkdf::HKDF_SHA256)
                .and_then(|derived| derived.fill(bytes))
                .expect("the derived key is as long as the hash");
        })
    }
}

/// Appends a key id with its length in front.
pub(super) fn push_id(bytes: &mut Vec<u8>, id: &str) {
    bytes.push(u8::try_from(id.len()).expect("a key id is short"));
    bytes.extend_from_slice(id.as_bytes());
}

/// Takes a key id with its length in front off `bytes`.
pub(super) fn split_id(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    let (id, rest) = rest.split_at_checked(usize::from(length))?;
    let id = std::str::from_utf8(id).ok().filter(|id| !id.is_empty())?;
    Some((id, rest))
}

fn file(path: &Path, source: io::Error) -> KeysError {
    KeysError::File { path: path.into(), source }
}
