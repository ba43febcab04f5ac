//! What the broker's steps have in common, as far as the tutorial's use it.

use base::Failure;
use broker::operations::creator::Creator;
use engine::{Cx, StepError};
use serde_json::{Value, json};

use super::provisioning::Provisioning;

/// Keeps what was learnt on the instance's row too, in the commit of this run.
pub(super) fn keep(cx: &mut Cx<'_, Provisioning>, also: Value) -> Result<(), StepError> {
    let details = serde_json::to_value(&*cx.data).map_err(|error| StepError::internal(&error))?;
    let mut body = json!({ "details": details });
    if let (Some(body), Value::Object(also)) = (body.as_object_mut(), also) {
        body.extend(also);
    }
    cx.change("instance", body);
    Ok(())
}

/// What has been collected so far.
pub(super) fn creator<'a>(cx: &'a mut Cx<'_, Provisioning>) -> Result<&'a mut Creator, StepError> {
    cx.memory.creator.as_mut().ok_or_else(|| {
        StepError::transient(Failure::new("broker", "memory_lost", "nothing has been collected"))
    })
}

/// A system that the plan has steps for, and that is not configured here any more.
pub(super) fn needed<'a, T>(system: Option<&'a T>, name: &'static str) -> Result<&'a T, StepError> {
    system.ok_or_else(|| {
        let text = format!("{name} is not configured");
        StepError::transient(Failure::new(name, "not_configured", text))
    })
}
