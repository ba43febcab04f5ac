//! Gives the hyperscaler account back, unless something may still be in it.

use clients::gardener::{Binding, Pool};
use domain::plan::Kind as PlanKind;
use engine::wait;

use super::{Deprovisioning, as_transient, neighbours};
use crate::operations::prelude::*;

pub(super) struct ReleaseSubscription;

impl Step<Deprovisioning> for ReleaseSubscription {
    const NAME: &'static str = "Release_Subscription";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::every(secs(10));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        let order = &cx.input.order;
        let without_account = matches!(order.plan_kind, PlanKind::Trial | PlanKind::OwnCluster);
        // An instance that sleeps keeps its account.
        if without_account || cx.input.temporary {
            return done();
        }
        if cx.data.cluster_may_exist() {
            return wait("the cluster may still exist: its account is kept");
        }
        let pool = cx.env.gardener.pool(cx.env.settings.account_bindings);
        let owned = pool.owned_by(order.paying_account()).await.map_err(as_transient)?;
        let ours: Vec<Binding> = owned.into_iter().filter(|one| is_ours(cx, &pool, one)).collect();
        if ours.is_empty() || neighbours::in_account(cx).await? {
            return done();
        }
        for binding in &ours {
            // Shared, internal, used by other Shoots, dirty already, gone: all of that is as it should be.
            pool.release(binding.name()).await.map_err(as_transient)?;
        }
        done()
    }
}

/// Whether it is the account that was noted or, when the answer to the claim was lost, one that fits; or the one of
/// the event hubs, which the legacy plan claims besides.
fn is_ours(cx: &Cx<'_, Deprovisioning>, pool: &Pool, binding: &Binding) -> bool {
    if cx.env.event_hubs.is_some() && fits(cx, binding, "azure") {
        return true;
    }
    match cx.data.details.target_secret.as_deref() {
        Some(noted) => binding.name() == noted || pool.name_for_shoot(binding) == Some(noted),
        None => fits(cx, binding, cx.input.order.resolved.provider_word()),
    }
}

/// Whether it is an account of the provider, on the order's side of the EU's border.
pub(super) fn fits(cx: &Cx<'_, Deprovisioning>, binding: &Binding, provider: &str) -> bool {
    let label = |key: &str| binding.metadata.labels.as_ref()?.get(key).map(String::as_str);
    let kind = label("hyperscalerType").unwrap_or_default();
    let fits = kind == provider || kind.strip_prefix(provider).is_some_and(|s| s.starts_with('_'));
    fits && label("euAccess").is_some() == cx.input.order.resolved.eu_access
}
