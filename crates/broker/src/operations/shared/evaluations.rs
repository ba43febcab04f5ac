//! Evaluations of a runtime's availability.

use clients::{
    Error,
    avs::{Avs, NewEvaluation, Runtime, Scope},
};

use crate::Order;

/// Makes an evaluation and gives its id. Repeating it makes another one.
pub(in crate::operations) async fn create(
    avs: &Avs,
    order: &Order,
    scope: Scope<'_>,
) -> Result<i64, Error> {
    let runtime = Runtime {
        plan: &order.plan_name,
        instance_id: &order.instance_id,
        instance_name: &order.parameters.name,
        global_account_id: &order.context.globalaccount_id,
        subaccount_id: &order.context.subaccount_id,
        shoot_name: &order.shoot_name,
    };
    let evaluation = NewEvaluation::of(avs.settings(), &runtime, scope);
    Ok(avs.create(&evaluation).await?.id)
}
