//! How many instances an account may have, and the refusal when it has them.

use domain::plan::Kind;
use store::broker::{InstanceLimits, Limit, ReachedLimit};

use super::Error;
use crate::catalog::{Counting, Plan};

/// The limits of a plan, as the store counts them.
pub(super) fn of(plan: &Plan) -> InstanceLimits {
    let limits = plan.limits();
    let limit = |most| Limit {
        plans: match limits.counts {
            Counting::ThisPlan => Some(vec![plan.id().to_owned()]),
            Counting::EveryPlan => None,
        },
        most,
    };
    InstanceLimits {
        per_global_account: limits.per_global_account.map(limit),
        per_subaccount: limits.per_subaccount.map(limit),
    }
}

/// The error for a reached limit, and whether instances of the plan count in it.
pub(super) fn reached(plan: &Plan, which: ReachedLimit, of_plan: bool) -> Error {
    let (whose, most) = match which {
        ReachedLimit::GlobalAccount => ("global account", plan.limits().per_global_account),
        ReachedLimit::Subaccount => ("subaccount", plan.limits().per_subaccount),
    };
    let most = most.unwrap_or_default();
    Error::Limit(match (plan.kind(), most) {
        (Kind::Trial, 1) => {
            if of_plan {
                format!("trial Kyma was created for the {whose}, but there is only one allowed")
            } else {
                format!(
                    "the {whose} has an instance of another plan: a trial is for those that have none"
                )
            }
        }
        _ => format!("the plan {} allows at most {most} instances in one {whose}", plan.name()),
    })
}
