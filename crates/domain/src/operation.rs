//! Which kinds of operation there are.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// What an operation changes. The words are stored and shown.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// Changes nothing: shows how operations go by.
    Demonstration,
}

impl Kind {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stored_word_is_read_back() {
        for kind in Kind::VARIANTS {
            assert_eq!(kind.as_str().parse(), Ok(*kind));
        }
    }
}
