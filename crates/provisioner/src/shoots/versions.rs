//! Versions, and which of two is higher.

use std::fmt;

/// A version such as `1.32.4`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
}

impl Version {
    /// The version with these three numbers.
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self { major, minor, patch }
    }

    /// Exactly three numbers with dots between them; anything else is no version.
    pub fn parse(text: &str) -> Option<Self> {
        match numbers(text)?[..] {
            [major, minor, patch] => Some(Self { major, minor, patch }),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Whether a machine image's version is lower than another. They may have any number of parts; what is not
/// made of numbers cannot be compared and is not lower.
pub fn is_lower(version: &str, than: &str) -> bool {
    numbers(version).zip(numbers(than)).is_some_and(|(version, than)| version < than)
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    text.split('.').map(number).collect()
}

/// Without a sign, and without leading zeros: each number has one way to be written.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let padded = text.len() > 1 && text.starts_with('0');
    if plain && !padded { text.parse().ok() } else { None }
}
