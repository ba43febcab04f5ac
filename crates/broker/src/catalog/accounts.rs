//! Which provider account an order may use.

use domain::plan::{Accounts, Provider};

use super::{Catalog, Plan, PlatformRegion};

/// The provider account to look for in the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The pool's label.
    pub hyperscaler_type: &'static str,
    /// Whether many use it; otherwise it belongs to one global account.
    pub shared: bool,
    /// Whether it must, or must not, be for EU access; shared ones serve both.
    pub eu_access: Option<bool>,
}

impl Catalog {
    /// The account that an order of the plan needs on a provider; none when it brings its own cluster.
    pub fn account(
        &self,
        plan: &Plan,
        provider: Provider,
        place: &PlatformRegion,
    ) -> Option<Account> {
        let shared = match plan.accounts() {
            Accounts::None => return None,
            Accounts::Shared => true,
            Accounts::Dedicated => false,
        };
        Some(Account {
            hyperscaler_type: provider.as_str(),
            shared,
            eu_access: (!shared).then_some(place.eu_access),
        })
    }
}
