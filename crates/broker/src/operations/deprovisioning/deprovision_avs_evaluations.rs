//! Ends the watch over the runtime: first from inside, then from outside, then by evaluations whose id came too late to be used.

use clients::avs::{COMPONENT, Scope};

use super::{Deprovisioning, as_transient};
use crate::operations::prelude::*;

pub(super) struct DeprovisionAvsEvaluations;

impl Step<Deprovisioning> for DeprovisionAvsEvaluations {
    const NAME: &'static str = "De-provision_AVS_Evaluations";
    const RETRY: Retry = Retry::every(secs(10));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        let (env, input) = (cx.env, cx.input);
        let Some(avs) = &env.avs else { return done() };
        let known = &cx.data.details.avs;
        if let Some(id) = known.internal_id.filter(|_| !known.internal_deleted) {
            // Its parent keeps an evaluation that is deleted first. It is the parent of the plan that the order had then.
            for parent in avs.settings().parents() {
                avs.unlink(parent, id).await.map_err(as_transient)?;
            }
            avs.delete(id).await.map_err(as_transient)?;
            cx.data.details.avs.internal_deleted = true;
            cx.save().await?;
        }
        let known = &cx.data.details.avs;
        if let Some(id) = known.external_id.filter(|_| !known.external_deleted) {
            let scope = Scope::External { domain: &input.order.shoot_domain };
            let parent = avs.settings().parent_of(&input.order.plan_name, scope);
            avs.unlink(parent, id).await.map_err(as_transient)?;
            avs.delete(id).await.map_err(as_transient)?;
            cx.data.details.avs.external_deleted = true;
            cx.save().await?;
        }
        let internal = |error: store::Error| StepError::internal(&error);
        let unused = env.creations.of(cx.instance).await.map_err(internal)?;
        for creation in unused.into_iter().filter(|creation| creation.system == COMPONENT.0) {
            let id = creation.answer.as_deref().and_then(|answer| answer.parse().ok());
            let Some(id) = id else { continue };
            for parent in avs.settings().parents() {
                avs.unlink(parent, id).await.map_err(as_transient)?;
            }
            avs.delete(id).await.map_err(as_transient)?;
            env.creations.forget(creation.id).await;
        }
        done()
    }
}
