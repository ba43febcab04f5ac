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

/// What is said when there are enough.
pub(super) fn reached(plan: &Plan, which: Reached) -> Error {
    let (whose, most) = match which {
        Reached::GlobalAccount => ("global account", plan.limits().per_global_account),
        Reached::Subaccount => ("subaccount", plan.limits().per_subaccount),
    };
    let most = most.unwrap_or_default();
    Error::Limit(match (plan.kind(), most) {
        (Kind::Trial, 1) => {
            format!("trial Kyma was created for the {whose}, but there is only one allowed")
        }
        _ => format!("the plan {} allows at most {most} instances in one {whose}", plan.name()),
    })
}
