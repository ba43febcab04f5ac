//! One instance, as its owner sees it.

use std::time::Duration;

use engine::State;
use serde::Serialize;
use store::broker::Instance;

use super::{
    Broker, Caller, Error, Labels,
    labels::{self, Life},
    pairs::PROVISION,
    suspension::Course,
};
use crate::{Context, Order, catalog::PlatformRegion};
use domain::parameters::Provisioning;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// An instance.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceView {
    /// Its service.
    pub service_id: String,
    /// Its plan.
    pub plan_id: String,
    /// Where its owner manages it.
    pub dashboard_url: String,
    /// How it was ordered.
    pub record: Record,
    /// Labels for its owner.
    pub labels: Labels,
}

/// How an instance was ordered, without credentials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// Its plan.
    pub plan_id: String,
    /// Its service.
    pub service_id: String,
    /// The context of the order.
    pub ers_context: Context,
    /// The parameters of the request.
    pub parameters: Provisioning,
    /// From which region of the platform.
    pub platform_region: String,
    /// The provider of that region.
    pub platform_provider: &'static str,
}

impl Broker {
    /// An instance that was made completely and is not removed. A suspended one is there, and says that it is not active.
    pub async fn find(&self, caller: &Caller, instance: &str) -> Result<InstanceView, Error> {
        let missing =
            || Error::NotFound(format!("instance with instanceID {instance} does not exist"));
        let there = self.parts().store.find(instance).await?;
        let row = there.filter(|row| caller.sees(&row.global_account)).ok_or_else(missing)?;
        let course = self.course(&row.id).await?;
        let suspended = matches!(course, Some(Course::Suspended(_)));
        let made_by = match course {
            Some(Course::Made(made_by)) => Some(made_by),
            Some(Course::Suspended(_)) => None,
            Some(Course::Removed(_)) | None => {
                let text = format!("failed to get operation for instanceID {instance}");
                let made_by = self.newest_effective(&row.id, &[PROVISION]).await?;
                Some(made_by.ok_or(Error::NotFound(text))?)
            }
        };
        let unmade = match made_by.map(|made_by| made_by.state) {
            None | Some(State::Succeeded) => None,
            Some(State::Failed | State::Canceled) => Some("failed"),
            Some(State::Pending | State::InProgress) => Some("in progress"),
        };
        if let Some(word) = unmade {
            return Err(Error::NotFound(format!("provisioning of instanceID {instance} {word}")));
        }
        if row.deleted_at.is_some() {
            return Err(missing());
        }
        self.found(row, suspended)
    }

    fn found(&self, row: Instance, suspended: bool) -> Result<InstanceView, Error> {
        let parts = self.parts();
        let mut order: Order = serde_json::from_slice(&row.order)?;
        if suspended {
            order.context.active = Some(false);
        }
        let lifetime =
            parts.catalog.plan(&row.plan_id).and_then(|plan| plan.limits().lifetime_days);
        let life = Life {
            created_at: row.created_at,
            expired_at: row.expired_at,
            lifetime: lifetime.map(|days| DAY * days),
        };
        let mut labels = labels::of(&parts.settings, &order);
        labels::add_trial(&mut labels, &parts.settings, &order, &life, parts.clock.now());
        Ok(InstanceView {
            service_id: row.service_id,
            plan_id: row.plan_id,
            // As the order was answered: an address that changes is of no use to a platform.
            dashboard_url: order.dashboard_url.clone(),
            record: Record::of(order),
            labels,
        })
    }
}

impl Record {
    fn of(order: Order) -> Self {
        let place = PlatformRegion {
            platform_region: order.platform_region,
            provider: order.platform_provider,
            eu_access: order.resolved.eu_access,
        };
        Self {
            plan_id: order.plan_id,
            service_id: order.service_id,
            ers_context: Context { sm_operator_credentials: None, ..order.context },
            parameters: order.parameters.shown(),
            platform_provider: place.provider_word(),
            platform_region: place.platform_region,
        }
    }
}
