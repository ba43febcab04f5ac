//! How many instances an account may have, and what it is told when it has them.

use domain::plan::Kind;
use store::broker::{Limit, Limits, Reached};

use super::Error;
use crate::catalog::{Counting, Plan};

/// The limits of a plan, as the store counts them.
pub(super) fn of(plan: &Plan) -> Limits {
    let limits = plan.limits();
    let limit = |most| Limit {
        plans: match limits.counts {
            Counting::ThisPlan => Some(vec![plan.id().to_owned()]),
            Counting::EveryPlan => None,
        },
        most,
    };
    Limits {
        per_global_account: limits.per_global_account.map(limit),
        per_subaccount: limits.per_subaccount.map(limit),
    }
}

/// What is said when there are enough, and whether some of them are of the plan.
pub(super) fn reached(plan: &Plan, which: Reached, of_plan: bool) -> Error {
    let (whose, most) = match which {
        Reached::GlobalAccount => ("global account", plan.limits().per_global_account),
        Reached::Subaccount => ("subaccount", plan.limits().per_subaccount),
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
