//! An order: checked, resolved, and stored with its operation in one transaction.

use domain::{
    OperationId,
    parameters::{Provisioning, ResolvedOrder},
    plan::Kind,
};
use serde::Serialize;
use store::broker::{AcceptedInstance, InstanceFilter, NewInstance, ReachedLimit};
use uuid::Uuid;

use super::{
    Broker, Caller, Error, Labels, Provision, labels, limits, orderer,
    requests::{label, require_plan, storable},
    stored::{self, StoredInput},
};
use crate::{
    Context, Order,
    accounts::{self, Need},
    catalog::{Orderer, Plan, PlatformRegion, Request, names},
};

/// The id was ordered before, with other words.
const OTHER_WORDS: &str = "provisioning operation already exist";
/// The id was ordered before, and what was ordered is gone.
pub(super) const GONE: &str = "cannot fetch instance for operation";

/// An accepted order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedOrder {
    /// The operation that makes the instance; none when the instance is complete already.
    pub operation: Option<OperationId>,
    /// Where its owner will manage it.
    pub dashboard_url: String,
    /// Labels for its owner.
    pub labels: Labels,
}

/// The fields that make two orders the same. Written in this order, so that the same order gives the same bytes.
#[derive(Serialize)]
struct Comparable<'a> {
    service_id: &'a str,
    plan_id: &'a str,
    platform_region: &'a str,
    context: &'a Context,
    parameters: &'a Provisioning,
}

/// The bytes by which a repetition of an order is recognised.
pub(crate) fn comparable(order: &Order) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Comparable {
        service_id: &order.service_id,
        plan_id: &order.plan_id,
        platform_region: &order.platform_region,
        context: &order.context,
        parameters: &order.parameters,
    })
}

impl Broker {
    /// Accepts an order. One that was accepted before is answered with what became of it.
    pub async fn provision(
        &self,
        caller: &Caller,
        request: Provision,
    ) -> Result<AcceptedOrder, Error> {
        let order = self.orderable(caller, &request).await?;
        let digest = comparable(&order)?;
        let new = new_instance(&order)?;
        let plan = self.plan(&order.plan_id)?;
        let id = OperationId::new();
        let operation = stored::provision(id.uuid(), &StoredInput::by(caller, order.clone()))?;
        let limits = limits::of(plan);
        let accepted = self.parts().store.accept_new(&new, &digest, operation, &limits).await?;
        match accepted {
            AcceptedInstance::Accepted => Ok(self.provisioned(Some(id), &order)),
            AcceptedInstance::Same { operation } => self.repeated(operation, &order).await,
            obstacle => Err(self.refused_order(caller, &new, plan, obstacle).await?),
        }
    }

    /// Checks an order as [`Self::provision`] does, accepts nothing, and returns the runtime that it would make. What becomes of an
    /// order can still differ: its account may have enough instances a moment later, and zones are drawn for each order.
    pub async fn check_order(
        &self,
        caller: &Caller,
        request: &Provision,
    ) -> Result<ResolvedOrder, Error> {
        let order = self.orderable(caller, request).await?;
        let digest = comparable(&order)?;
        let new = new_instance(&order)?;
        let plan = self.plan(&order.plan_id)?;
        let answer = self.parts().store.would_accept(&new, &digest, &limits::of(plan)).await?;
        match answer {
            AcceptedInstance::Accepted => Ok(order.resolved),
            AcceptedInstance::Same { operation } => {
                self.repeated(operation, &order).await.map(|_| order.resolved)
            }
            obstacle => Err(self.refused_order(caller, &new, plan, obstacle).await?),
        }
    }

    /// An order that is right, and that an account could pay for.
    async fn orderable(&self, caller: &Caller, request: &Provision) -> Result<Order, Error> {
        let order = self.checked(caller, request)?;
        self.require_account(&order).await?;
        Ok(order)
    }

    /// Why the store does not take an order.
    async fn refused_order(
        &self,
        caller: &Caller,
        new: &NewInstance,
        plan: &Plan,
        obstacle: AcceptedInstance,
    ) -> Result<Error, Error> {
        match obstacle {
            AcceptedInstance::Limit(which) => self.enough(plan, new, which).await,
            AcceptedInstance::Reused { .. } => Ok(Error::Taken(self.gone(caller, &new.id).await?)),
            _ => Ok(Error::Taken(OTHER_WORDS)),
        }
    }

    /// The error for an account that has enough instances: of the plan, or of others that count too.
    async fn enough(
        &self,
        plan: &Plan,
        new: &NewInstance,
        which: ReachedLimit,
    ) -> Result<Error, Error> {
        let mut filter = InstanceFilter {
            plans: vec![plan.name().to_owned()],
            deleted: Some(false),
            most: 1,
            ..InstanceFilter::default()
        };
        match which {
            ReachedLimit::GlobalAccount => filter.accounts.push(new.global_account.clone()),
            ReachedLimit::Subaccount => filter.subaccounts.push(new.subaccount.clone()),
        }
        let of_plan = !self.parts().store.list(&filter).await?.instances.is_empty();
        Ok(limits::reached(plan, which, of_plan))
    }

    /// The error for an id that was used before: other tenants do not learn whether its instance still exists.
    async fn gone(&self, caller: &Caller, instance: &str) -> Result<&'static str, Error> {
        let newest = self.newest(instance, None).await?;
        let own = newest.is_some_and(|operation| caller.sees(&operation.lane));
        Ok(if own { GONE } else { OTHER_WORDS })
    }

    /// The answer to an order.
    pub(super) fn provisioned(
        &self,
        operation: Option<OperationId>,
        order: &Order,
    ) -> AcceptedOrder {
        AcceptedOrder {
            operation,
            dashboard_url: order.dashboard_url.clone(),
            labels: labels::of(&self.parts().settings, order),
        }
    }

    /// Everything about an order that can be decided without looking at what is stored. Clients see the first thing
    /// that is wrong, so the order of the checks is part of the protocol.
    fn checked(&self, caller: &Caller, request: &Provision) -> Result<Order, Error> {
        let parts = self.parts();
        require_plan(&request.service_id, &request.plan_id)?;
        if request.service_id != parts.catalog.service_id() {
            return Err(Error::Bad("service-id not in the catalog".into()));
        }
        let plan = self.plan(&request.plan_id)?;
        if request.maintenance_version.is_some() {
            return Err(Error::MaintenanceInfo);
        }
        if !request.accepts_incomplete {
            return Err(Error::AsyncRequired);
        }
        label("instance_id", &request.instance_id)?;
        let context = orderer::read(request.context.as_ref())?;
        if !caller.sees(&context.globalaccount_id) {
            return Err(Error::Foreign);
        }
        self.possible(plan, &context)?;
        let place = parts.catalog.place(request.region.as_deref());
        storable("region", &place.platform_region)?;
        let asked = Request {
            place: &place,
            global_account: &context.globalaccount_id,
            parameters: request.parameters.as_ref(),
        };
        let accepted = parts.catalog.check_provision(&parts.offer, plan, &asked)?;
        self.order(&request.instance_id, plan, &place, context, accepted.parameters)
    }

    /// Refuses what the legacy plan can only fail with.
    fn possible(&self, plan: &Plan, context: &Context) -> Result<(), Error> {
        let Some(needs) = self.parts().settings.legacy else { return Ok(()) };
        if plan.kind() == Kind::OwnCluster {
            let text = "own_cluster cannot be ordered: this broker provisions by the legacy plan (runtimes.legacy), which makes clusters itself";
            return Err(Error::Bad(text.into()));
        }
        if needs.service_manager && context.sm_operator_credentials.is_none() {
            let text = "context.sm_operator_credentials is needed: this broker has no credentials of the Service Manager";
            return Err(Error::Bad(text.into()));
        }
        Ok(())
    }

    /// Refuses a new order that no account could pay for. One that was accepted before has its answer, whatever the
    /// pool is like now.
    async fn require_account(&self, order: &Order) -> Result<(), Error> {
        let parts = self.parts();
        let Some(accounts) = &parts.accounts else { return Ok(()) };
        let refusal = match (Need::of(order), accounts::named_account(order)) {
            (Some(need), _) if Box::pin(accounts.are_exhausted(need)).await => {
                Error::Exhausted(need.to_string())
            }
            (None, Some((secret, need))) if Box::pin(accounts.are_not_own(secret, need)).await => {
                Error::Bad(format!("parameters.targetSecret: {}", accounts::NOT_OWN))
            }
            _ => return Ok(()),
        };
        match parts.store.last_operation(&order.instance_id, None).await? {
            Some(_) => Ok(()),
            None => Err(refusal),
        }
    }

    fn plan(&self, id: &str) -> Result<&Plan, Error> {
        let parts = self.parts();
        parts
            .catalog
            .offered_plan(&parts.offer, id)
            .ok_or_else(|| Error::Bad("plan-id not in the catalog".into()))
    }

    /// An order with everything that follows from it, and names drawn for what it will make.
    fn order(
        &self,
        instance: &str,
        plan: &Plan,
        place: &PlatformRegion,
        context: Context,
        parameters: Provisioning,
    ) -> Result<Order, Error> {
        let parts = self.parts();
        let orderer =
            Orderer { user_id: &context.user_id, license_type: context.license_type.as_deref() };
        let random = || Uuid::new_v4().into_bytes();
        let resolved = parts.catalog.resolve(plan, place, &parameters, &orderer, random())?;
        let (shoot_name, shoot_domain) = match plan.kind() {
            Kind::OwnCluster => own_cluster_names(&parameters)?,
            _ => {
                let shoot = names::shoot_name(random());
                let domain = names::shoot_domain(&shoot, &parts.settings.shoot_domain);
                (shoot, domain)
            }
        };
        Ok(Order {
            instance_id: instance.to_owned(),
            service_id: parts.catalog.service_id().to_owned(),
            plan_id: plan.id().to_owned(),
            plan_name: plan.name().to_owned(),
            plan_kind: plan.kind(),
            platform_region: place.platform_region.clone(),
            platform_provider: place.provider,
            dashboard_url: names::dashboard_url(&parts.settings.dashboard, plan.kind(), instance),
            context,
            parameters,
            resolved,
            shoot_name,
            shoot_domain,
            subscription_account: None,
            context_revisions: crate::ContextRevisions::default(),
        })
    }
}

/// The row of an order.
fn new_instance(order: &Order) -> Result<NewInstance, serde_json::Error> {
    Ok(NewInstance {
        id: order.instance_id.clone(),
        global_account: order.context.globalaccount_id.clone(),
        subaccount: order.context.subaccount_id.clone(),
        service_id: order.service_id.clone(),
        plan_id: order.plan_id.clone(),
        plan_name: order.plan_name.clone(),
        provider: order.resolved.provider_word().to_owned(),
        region: order.resolved.region_word().to_owned(),
        platform_region: order.platform_region.clone(),
        shoot_name: order.shoot_name.clone(),
        dashboard_url: order.dashboard_url.clone(),
        order: serde_json::to_vec(order)?,
        details: None,
    })
}

/// The names of a cluster that the order brings along.
fn own_cluster_names(parameters: &Provisioning) -> Result<(String, String), Error> {
    let name = parameters.shoot_name.clone().unwrap_or_default();
    let domain = parameters.shoot_domain.clone().unwrap_or_default();
    storable("parameters.shootName", &name)?;
    storable("parameters.shootDomain", &domain)?;
    Ok((name, domain))
}
