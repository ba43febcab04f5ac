//! Has Gardener delete the cluster.

use engine::{Cx, Retry, Step, StepResult, done};
use serde_json::json;

use crate::{
    operations::{
        OnRuntime, as_step_error, note_all, note_warnings, shared::secs, shoot_to_remove,
    },
    shoots::{LEGACY_OPERATION_ANNOTATION, OPERATION_ANNOTATION},
};

const OPERATION: [&str; 2] = [OPERATION_ANNOTATION, LEGACY_OPERATION_ANNOTATION];

pub(super) struct DeleteShoot;

impl<O: OnRuntime> Step<O> for DeleteShoot {
    const NAME: &'static str = "Delete_Shoot";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let Some(shoot) = shoot_to_remove(cx).await? else { return done() };
        let id = cx.root.to_string();
        if !shoot.is_going() && shoot.annotation(OPERATION[0]) != Some(id.as_str()) {
            let annotations = OPERATION.map(|key| (key, id.as_str()));
            let annotations: std::collections::BTreeMap<_, _> = annotations.into_iter().collect();
            let patch = json!({"metadata": {"annotations": annotations}});
            let marked = cx.env.gardener.merge(shoot.name(), &patch).await;
            note_warnings(cx, &marked.map_err(as_step_error)?);
        }
        let uid = shoot.metadata.uid.as_deref();
        let deleted = cx.env.gardener.delete_warned(shoot.name(), uid).await;
        note_all(cx, &deleted.map_err(as_step_error)?.1);
        done()
    }
}
