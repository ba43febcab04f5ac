//! Finds the account that pays for the cluster: the order's own, the global account's, or one that many use.

use clients::Error;
use store::broker::InstanceChange;

use super::Provisioning;
use crate::{
    accounts::{self, Need},
    operations::{
        prelude::*,
        shared::{missing_data, update_instance},
    },
};

pub(super) struct ResolveTargetSecret;

impl Step<Provisioning> for ResolveTargetSecret {
    const NAME: &'static str = "Resolve_Target_Secret";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(10));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        if cx.data.target_secret.is_some() {
            return done();
        }
        let order = &cx.input.order;
        let cluster = order.resolved.cluster.as_ref();
        let cluster = cluster.ok_or_else(|| missing_data("the order has no cluster to pay for"))?;
        let pool = cx.env.gardener.pool(cx.env.settings.account_bindings);
        if let Some(named) = &cluster.target_secret {
            if let Some((secret, need)) = accounts::named_account(order)
                && !pool.is_own(secret, need.tenant, need.account_need()).await?
            {
                let text = format!("targetSecret {secret}: {}", accounts::NOT_OWN);
                return Err(StepError::fatal(Failure::new("broker", "foreign_account", text)));
            }
            cx.data.target_secret = Some(named.clone());
            update_instance(cx, InstanceChange::default())?;
            return done();
        }
        let need = Need::of(order).ok_or_else(|| missing_data("the order needs no account"))?;
        // The tenant's own is found again; which of the shared ones is least used may change, so it is kept.
        let binding = if need.shared {
            pool.shared(need.account_need()).await
        } else {
            pool.claim(need.tenant, need.account_need()).await
        };
        let binding = binding.map_err(exhausted)?;
        let secret = pool.name_for_shoot(&binding);
        let secret = secret.ok_or_else(|| missing_data("the account's binding names no secret"))?;
        cx.data.target_secret = Some(secret.to_owned());
        update_instance(cx, InstanceChange::default())?;
        done()
    }
}

/// An empty pool fills up again when accounts have been cleaned, so it is worth some patience.
fn exhausted(error: Error) -> StepError {
    match error.kind {
        clients::Kind::NotFound => StepError::transient(error.failure()),
        _ => error.into(),
    }
}
