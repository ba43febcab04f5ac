//! Tells the Director which cluster the runtime has, and that it is being made.

use clients::director::{Change, Condition};
use engine::{Cx, Retry, Step, StepResult, done};
use serde_json::{Map, Value};

use crate::operations::{OnRuntime, as_step_error, shared::secs};

pub(super) struct UpdateDirectorEntry;

impl<O: OnRuntime> Step<O> for UpdateDirectorEntry {
    const NAME: &'static str = "Update_Director_Entry";
    const CALLS: &'static [&'static str] = &["director"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(30));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let target = &cx.input.target;
        let domain = cx.data.domain.clone().unwrap_or_default();
        let labels = Map::from_iter([
            ("gardenerClusterName".to_owned(), Value::from(target.shoot.clone())),
            ("gardenerClusterDomain".to_owned(), Value::from(domain)),
        ]);
        let change = Change { labels, condition: Some(Condition::Provisioning) };
        let id = target.runtime.to_string();
        cx.env
            .director
            .update(target.directors_tenant(), &id, &change)
            .await
            .map_err(as_step_error)?;
        done()
    }
}
