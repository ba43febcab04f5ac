//! Which Gardener a garden plays.

use std::{fmt, str::FromStr};

/// A version of Gardener, by its minor number: `1.117`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32);

/// A text that is no version of Gardener that can be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no version of Gardener from 1.65 on, such as 1.117")]
pub struct UnknownVersion(String);

impl Version {
    /// The version that the original provisioner was built with.
    pub const V1_65: Self = Self(65);
    /// The version that is played unless another one is named.
    pub const V1_117: Self = Self(117);

    /// The number behind `1.`.
    pub const fn minor(self) -> u32 {
        self.0
    }

    /// The release, as Gardener writes it into objects.
    pub fn release(self) -> String {
        let patch = if self == Self::V1_65 { 2 } else { 0 };
        format!("v1.{}.{patch}", self.0)
    }
}

/// The Gardeners that have a rule or a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gardeners {
    All,
    /// Those before 1.117.
    Older,
    /// 1.117 and later.
    Newer,
}

impl Gardeners {
    /// Whether a version is among them.
    pub(super) fn have(self, version: Version) -> bool {
        match self {
            Self::All => true,
            Self::Older => version < Version::V1_117,
            Self::Newer => version >= Version::V1_117,
        }
    }
}

impl Default for Version {
    fn default() -> Self {
        Self::V1_117
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

impl FromStr for Version {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        let unknown = || UnknownVersion(text.to_owned());
        let plain = text.strip_prefix('v').unwrap_or(text);
        let rest = plain.strip_prefix("1.").ok_or_else(unknown)?;
        let minor = rest.split('.').next().unwrap_or(rest);
        let minor: u32 = minor.parse().map_err(|_| unknown())?;
        if minor < Self::V1_65.0 { Err(unknown()) } else { Ok(Self(minor)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_with_and_without_its_patch() {
        assert_eq!("1.65".parse(), Ok(Version::V1_65));
        assert_eq!("v1.117.0".parse(), Ok(Version::V1_117));
        assert_eq!(Version::V1_65.release(), "v1.65.2");
        for wrong in ["", "1", "2.65", "1.64", "1.x", "117"] {
            assert!(wrong.parse::<Version>().is_err(), "{wrong}");
        }
    }
}
