//! Evaluations of a runtime's availability.

use clients::avs::{Avs, COMPONENT, NewEvaluation, Runtime, Scope};
use engine::{Cx, StepError};

use crate::{
    creations::{CreatedObject, PlannedCreation},
    operations::provisioning::Provisioning,
};

/// Makes an evaluation and gives its id, which is to be stored with the operation before anything else happens.
pub(in crate::operations) async fn create(
    cx: &Cx<'_, Provisioning>,
    avs: &Avs,
    scope: Scope<'_>,
) -> Result<(i64, CreatedObject), StepError> {
    let order = &cx.input.order;
    let runtime = Runtime {
        plan: &order.plan_name,
        instance_id: &order.instance_id,
        instance_name: &order.parameters.name,
        global_account_id: &order.context.globalaccount_id,
        subaccount_id: &order.context.subaccount_id,
        shoot_name: &order.shoot_name,
    };
    let evaluation = NewEvaluation::of(avs.settings(), &runtime, scope);
    let thing = PlannedCreation {
        system: COMPONENT.0,
        name: &evaluation.name,
        instance: cx.instance,
        operation: cx.root,
    };
    let call = async { avs.create(&evaluation).await.map(|made| made.id.to_string()) };
    let created = cx.env.creations.create(thing, call).await?;
    let id = created.id.parse().map_err(|error| StepError::internal(&error))?;
    Ok((id, created))
}
