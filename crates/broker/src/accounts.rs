//! Which provider account pays for an order, and whether there is one: a look into the pool before anything is accepted.
//!
//! What a reader would get wrong: the look promises nothing. The account is claimed by the operation, so two orders may
//! have seen the same last one; and a pool that cannot be seen refuses nobody, because it may be full.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base::{Clock, failure::chain};
use clients::{
    Error,
    gardener::{AccountNeed, Pool},
};
use domain::plan::Kind;
use tokio::time::timeout;

use crate::Order;

/// How long an order waits for the look. Platforms give up after a minute; the operation has all the time it needs.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a look counts: a crowd of orders is one look, and an account that was cleaned is seen soon.
const FRESH: Duration = Duration::from_secs(2);

/// The account that an order needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need<'a> {
    /// For whom.
    pub tenant: &'a str,
    /// From which pool.
    pub hyperscaler: &'a str,
    /// Whether only people in the EU may touch it.
    pub eu_access: bool,
    /// Whether it is one that many use; the tenant's own otherwise.
    pub shared: bool,
}

impl<'a> Need<'a> {
    /// The account that an order needs from the pool; none when it brings its cluster or names its account.
    pub fn of(order: &'a Order) -> Option<Self> {
        let cluster = order.resolved.cluster.as_ref()?;
        if cluster.target_secret.is_some() {
            return None;
        }
        Self::of_cluster(order)
    }

    fn of_cluster(order: &'a Order) -> Option<Self> {
        let cluster = order.resolved.cluster.as_ref()?;
        let shared = order.plan_kind == Kind::Trial;
        Some(Self {
            tenant: order.paying_account(),
            hyperscaler: cluster.provider.as_str(),
            // The shared ones serve both sides of the border.
            eu_access: order.resolved.eu_access && !shared,
            shared,
        })
    }

    /// In the words of the pool.
    pub fn account_need(self) -> AccountNeed<'a> {
        AccountNeed { hyperscaler: self.hyperscaler, eu_access: self.eu_access }
    }
}

/// Why an account that an order names is not used.
pub const NOT_OWN: &str = "this is no provider account of the global account, or not one for the order's provider and region";

/// The account that an order names and that has to be its global account's own, whoever orders: the secret, and what it is for.
pub fn named_account(order: &Order) -> Option<(&str, Need<'_>)> {
    let secret = order.resolved.cluster.as_ref()?.target_secret.as_deref()?;
    let need = Need { shared: false, ..Need::of_cluster(order)? };
    Some((secret, need))
}

/// The missing account, for people.
impl fmt::Display for Need<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.shared { "shared" } else { "unassigned" };
        let place = if self.eu_access { " with EU access" } else { "" };
        write!(
            f,
            "{kind} provider accounts are available in the pool \"{}\"{place}",
            self.hyperscaler
        )
    }
}

/// The pool in the garden, looked at now and then.
pub struct PooledAccounts {
    pool: Pool,
    clock: Clock,
    looks: Mutex<HashMap<PoolPart, Arc<AccountsReading>>>,
}

/// A part of the pool, alike for all tenants: its provider, whether for EU access, whether shared.
type PoolPart = (String, bool, bool);

/// When it was looked at, and whether something was there; nobody can say when the pool could not be seen. A caller that
/// comes while another looks waits for its result.
type AccountsReading = tokio::sync::Mutex<Option<(Duration, Option<bool>)>>;

impl PooledAccounts {
    /// The accounts of `pool`.
    pub fn new(pool: Pool, clock: Clock) -> Self {
        Self { pool, clock, looks: Mutex::default() }
    }

    /// Whether there certainly is no account for the order.
    pub async fn are_exhausted(&self, need: Need<'_>) -> bool {
        if self.has_some(need).await != Some(false) {
            return false;
        }
        need.shared
            || within_patience(self.pool.has_own(need.tenant, need.account_need())).await
                == Some(false)
    }

    /// Whether the account that this secret stands for certainly is not the tenant's own.
    pub async fn are_not_own(&self, secret: &str, need: Need<'_>) -> bool {
        within_patience(self.pool.is_own(secret, need.tenant, need.account_need())).await
            == Some(false)
    }

    /// Whether there is something in the order's part of the pool that is nobody's, or everybody's.
    async fn has_some(&self, need: Need<'_>) -> Option<bool> {
        let place = (need.hyperscaler.to_owned(), need.eu_access, need.shared);
        let look = {
            let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
            looks.entry(place).or_default().clone()
        };
        let mut look = look.lock().await;
        match *look {
            Some((at, found)) if self.clock.monotonic() < at + FRESH => return found,
            _ => {}
        }
        let found = if need.shared {
            within_patience(self.pool.has_shared(need.account_need())).await
        } else {
            within_patience(self.pool.has_free(need.account_need())).await
        };
        *look = Some((self.clock.monotonic(), found));
        found
    }
}

/// The result of a look into the pool; none when it took too long or failed.
async fn within_patience(look: impl Future<Output = Result<bool, Error>>) -> Option<bool> {
    match timeout(PATIENCE, look).await {
        Ok(Ok(found)) => Some(found),
        Ok(Err(error)) => {
            tracing::warn!(error = chain(&error), "the pool of accounts cannot be looked at");
            None
        }
        Err(_) => {
            tracing::warn!("the pool of accounts does not answer in time");
            None
        }
    }
}
