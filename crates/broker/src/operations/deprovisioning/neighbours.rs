//! Whether others need what an instance shares with them: the data tenant of a subaccount, the provider's account of a
//! global account.
//!
//! What a reader would get wrong: when two neighbours go at the same time, each must not leave the work to the other.
//! So an instance that finds a neighbour first says that it is going itself and then looks again: the one that says so last
//! finds nobody and does the work.

use engine::{Cx, StepError};
use store::broker::{Instance, InstanceChange, InstanceFilter};

use super::Deprovisioning;

/// How many neighbours are looked at at once.
const PAGE: u32 = 100;

/// Whether another instance of the subaccount is there to stay.
pub(super) async fn in_subaccount(cx: &mut Cx<'_, Deprovisioning>) -> Result<bool, StepError> {
    let subaccount = cx.input.order.context.subaccount_id.clone();
    let filter = InstanceFilter { subaccounts: vec![subaccount], ..InstanceFilter::default() };
    stay(cx, filter, |_| true).await
}

/// Whether another instance of the global account is there to stay whose clusters are paid from the same account.
pub(super) async fn in_account(cx: &mut Cx<'_, Deprovisioning>) -> Result<bool, StepError> {
    let order = &cx.input.order;
    // Neighbours may have moved along, or stayed.
    let accounts = [order.paying_account(), &order.context.globalaccount_id];
    let accounts = accounts.map(str::to_owned).to_vec();
    let filter = InstanceFilter { accounts, ..InstanceFilter::default() };
    let provider = cx.input.order.resolved.provider_word();
    // Event hubs stand in an Azure account whatever the provider, and no Shoot tells of them.
    let events = cx.env.event_hubs.is_some();
    // Before it has an account, an instance does not say of which provider it will be.
    let shares =
        |other: &Instance| events || other.provider.is_empty() || other.provider == provider;
    stay(cx, filter, shares).await
}

async fn stay(
    cx: &mut Cx<'_, Deprovisioning>,
    filter: InstanceFilter,
    shares: impl Fn(&Instance) -> bool,
) -> Result<bool, StepError> {
    let filter = InstanceFilter { deleted: Some(false), most: PAGE, ..filter };
    if !any(cx, filter.clone(), &shares).await? {
        return Ok(false);
    }
    if cx.input.temporary {
        return Ok(true);
    }
    cx.change(&InstanceChange { deleted: true, ..InstanceChange::default() })?;
    cx.save().await?;
    any(cx, filter, &shares).await
}

async fn any(
    cx: &Cx<'_, Deprovisioning>,
    mut filter: InstanceFilter,
    shares: &impl Fn(&Instance) -> bool,
) -> Result<bool, StepError> {
    loop {
        let page = cx.env.store.list(&filter).await;
        let page = page.map_err(|error| StepError::internal(&error))?;
        // One that cannot be read may share what is about to be removed.
        if !page.unreadable.is_empty()
            || page.instances.iter().any(|other| other.id != cx.instance && shares(other))
        {
            return Ok(true);
        }
        match page.next {
            None => return Ok(false),
            next => filter.after = next,
        }
    }
}
