//! One section of settings.

use std::{num::NonZeroU16, path::PathBuf};

use secrecy::SecretString;
use url::Url;

/// The settings of one outside system.
pub(crate) trait Section {
    /// Whether anything of it is given.
    fn is_given(&self) -> bool;

    /// The addresses in it, with the names of their settings.
    fn addresses(&self) -> Vec<(String, &Url)>;
}

/// A value of a section: some are addresses.
pub(super) trait Value {
    fn address(&self) -> Option<&Url> {
        None
    }
}

impl Value for Url {
    fn address(&self) -> Option<&Url> {
        Some(self)
    }
}

impl Value for PathBuf {}
impl Value for String {}
impl Value for SecretString {}
impl Value for NonZeroU16 {}
impl Value for i64 {}
impl Value for bool {}

/// A section in which every value may be missing.
macro_rules! section {
    ($name:ident { $($(#[$($meta:tt)*])* $field:ident: $kind:ty,)* }) => {
        /// Its settings.
        #[derive(Debug, confique::Config)]
        #[config(layer_attr(serde(deny_unknown_fields)))]
        pub struct $name {
            $($(#[$($meta)*])* pub $field: Option<$kind>,)*
        }

        impl $crate::systems::section::Section for $name {
            fn is_given(&self) -> bool {
                false $(|| self.$field.is_some())*
            }

            fn addresses(&self) -> Vec<(String, &url::Url)> {
                use $crate::systems::section::Value as _;
                let all = [$((stringify!($field), self.$field.as_ref().and_then(|value| value.address()))),*];
                all.into_iter().filter_map(|(name, url)| Some((name.to_owned(), url?))).collect()
            }
        }
    };
}

pub(super) use section;
