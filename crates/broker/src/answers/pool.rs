//! The pool of hyperscaler accounts in numbers.
//!
//! What a reader would get wrong: an account is free when a provisioning could claim it, by the same labels. One for everybody is
//! shared whatever else it is labelled with, and is never used up.

use std::collections::BTreeMap;

use clients::gardener::Binding;
use jiff::Timestamp;
use serde::Serialize;

/// Which bindings are accounts of the pool.
pub(super) const LABELLED: &str = "hyperscalerType";

/// The pool as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PoolReading {
    /// When it was read.
    pub at: Timestamp,
    /// By provider.
    pub accounts: Vec<AccountCounts>,
}

/// How many accounts of one sort there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccountCounts {
    /// The provider, as accounts are labelled: `aws`, `gcp_cf-sa30`.
    pub hyperscaler: String,
    /// Whether only people in the EU may touch them.
    pub eu_access: bool,
    /// Accounts that can be claimed.
    pub free: i64,
    /// Accounts that belong to a global account.
    pub claimed: i64,
    /// Accounts that were given back and wait to be emptied.
    pub dirty: i64,
    /// Shared accounts.
    pub shared: i64,
}

impl AccountCounts {
    /// How many of those that can be claimed are not free.
    pub fn used(&self) -> i64 {
        self.claimed + self.dirty
    }
}

impl PoolReading {
    /// Counts bindings.
    pub(super) fn of(bindings: &[Binding], at: Timestamp) -> Self {
        let mut counts: BTreeMap<(&str, bool), AccountCounts> = BTreeMap::new();
        for binding in bindings {
            let Some(hyperscaler) = binding.labelled(LABELLED) else { continue };
            let eu_access = match binding.labelled("euAccess") {
                None => false,
                Some("true") => true,
                // No claim finds it: some ask for this value, the others for none.
                Some(_) => continue,
            };
            let count = counts.entry((hyperscaler, eu_access)).or_insert_with(|| AccountCounts {
                hyperscaler: hyperscaler.to_owned(),
                eu_access,
                free: 0,
                claimed: 0,
                dirty: 0,
                shared: 0,
            });
            let label = |name: &str| binding.labelled(name);
            let state = if label("shared") == Some("true") {
                &mut count.shared
            } else if label("dirty").is_some() {
                &mut count.dirty
            } else if label("tenantName").is_some() {
                &mut count.claimed
            } else {
                &mut count.free
            };
            *state += 1;
        }
        Self { at, accounts: counts.into_values().collect() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn accounts_are_counted_by_the_labels_that_claims_go_by() {
        let binding = |labels: serde_json::Value| -> Binding {
            serde_json::from_value(json!({"metadata": {"name": "a", "labels": labels}})).unwrap()
        };
        let bindings = [
            binding(json!({"hyperscalerType": "aws"})),
            binding(json!({"hyperscalerType": "aws", "tenantName": "ga-1"})),
            binding(json!({"hyperscalerType": "aws", "tenantName": "ga-2", "dirty": "true"})),
            binding(json!({"hyperscalerType": "aws", "shared": "true", "dirty": "true"})),
            binding(json!({"hyperscalerType": "aws", "shared": "false"})),
            binding(json!({"hyperscalerType": "aws", "euAccess": "true"})),
            binding(json!({"hyperscalerType": "aws", "euAccess": "false"})),
            binding(json!({"other": "label"})),
        ];

        let read = PoolReading::of(&bindings, Timestamp::UNIX_EPOCH);

        let counts = |at: usize| {
            let AccountCounts { eu_access, free, claimed, dirty, shared, .. } = read.accounts[at];
            (eu_access, free, claimed, dirty, shared)
        };
        assert_eq!(read.accounts.len(), 2);
        assert_eq!(counts(0), (false, 2, 1, 1, 1));
        assert_eq!(counts(1), (true, 1, 0, 0, 0));
    }
}
