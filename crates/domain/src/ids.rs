//! Names of things, one type each, so that one cannot be taken for another.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Defines id types. `Uuid` ids order by creation when made with `new`; `String` ids are given by others.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name($inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = <$inner as FromStr>::Err;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl From<$inner> for $name {
            fn from(inner: $inner) -> Self {
                Self(inner)
            }
        }

        impl From<$name> for $inner {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl AsRef<$inner> for $name {
            fn as_ref(&self) -> &$inner {
                &self.0
            }
        }
    )*};
}

ids! {
    /// Names what was ordered; chosen by the platform.
    InstanceId(String);
    /// Names one change.
    OperationId(Uuid);
    /// Names one cluster.
    RuntimeId(Uuid);
}

impl OperationId {
    /// A new id; later ones sort behind earlier ones.
    #[expect(clippy::new_without_default, reason = "a default id would be a surprise")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The bare id.
    pub fn uuid(&self) -> Uuid {
        self.0
    }
}

impl InstanceId {
    /// The bare id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_written() {
        let operation = OperationId::new();
        let instance = InstanceId::from("a-b".to_owned());

        assert_eq!(operation.to_string().parse(), Ok(operation));
        assert_eq!(instance.to_string().parse(), Ok(instance));
        assert!("a-b".parse::<RuntimeId>().is_err());
    }
}
