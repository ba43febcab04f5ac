//! Stores what the change says: the runtime has it now.
//!
//! What a reader would get wrong: credentials and the licence may have been stored since, beside or behind a suspension. Those are
//! newer, and stay.

use std::collections::BTreeMap;

use serde_json::json;
use store::broker::{FieldRevision, InstanceChange, InstancePlan, StateChange};

use super::{Updating, changed};
use crate::operations::{
    creator,
    prelude::*,
    shared::{cluster_state, document},
};

pub(super) struct SaveParameters;

impl Step<Updating> for SaveParameters {
    const NAME: &'static str = "Save_Parameters";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(60)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        let order = changed(cx)?;
        let mut order_fields = BTreeMap::from([
            ("/parameters".to_owned(), document(&order.parameters)?),
            ("/resolved".to_owned(), document(&order.resolved)?),
        ]);
        let mut plan = None;
        if cx.input.plan_id.is_some() {
            order_fields.insert("/plan_id".into(), document(&order.plan_id)?);
            order_fields.insert("/plan_name".into(), document(&order.plan_name)?);
            order_fields.insert("/plan_kind".into(), document(&order.plan_kind)?);
            plan = Some(InstancePlan { id: order.plan_id.clone(), name: order.plan_name.clone() });
        }
        let said = serde_json::to_value(&cx.input.context);
        let said = said.map_err(|error| StepError::internal(&error))?;
        let revisions = json!(cx.input.order.context_revisions);
        let mut revised_fields = BTreeMap::new();
        for (name, value) in said.as_object().into_iter().flatten() {
            let field = format!("/context/{name}");
            if let Some(known) = revisions[name].as_u64() {
                let revision = FieldRevision { at: format!("/context_revisions/{name}"), known };
                revised_fields.insert(field.clone(), revision);
            }
            order_fields.insert(field, document(value)?);
        }
        let change = InstanceChange {
            order_fields,
            revised_fields,
            plan,
            details: Some(document(&cx.data.details)?),
            runtime_state: cluster(cx).await?,
            ..InstanceChange::default()
        };
        cx.change(&change)?;
        done()
    }
}

/// The cluster as it is now: as it was ordered, with everything that was changed since.
async fn cluster(cx: &Cx<'_, Updating>) -> Result<Option<StateChange>, StepError> {
    let order = changed(cx)?;
    match (cx.data.details.runtime_id, &order.resolved.cluster) {
        (Some(runtime), Some(_)) => {
            let sent = creator::change(order, cx.data.orders_purpose)?;
            cluster_state::after(cx.env, runtime, &sent).await
        }
        _ => Ok(None),
    }
}
