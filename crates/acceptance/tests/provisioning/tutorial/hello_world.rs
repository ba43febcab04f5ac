//! Greets the runtime, and tells Kyma how to fetch the greeting.

use std::time::Duration;

use broker::operations::{creator, provisioning::Provisioning, update_instance};
use engine::{Cx, Retry, Step, StepResult, done};
use secrecy::ExposeSecret;
use serde_json::json;
use store::broker::InstanceChange;

use super::greetings::Greetings;

/// Under which name the greeting is stored.
pub(super) const KEPT_AS: &str = "hello_world";

pub(super) struct HelloWorld {
    pub(super) greetings: Greetings,
}

impl Step<Provisioning> for HelloWorld {
    const NAME: &'static str = "Hello_World";
    const RETRY: Retry = Retry::DEFAULT.failing_for(Duration::from_mins(10));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        // An earlier run may have got through and not lived to save it: look before you act.
        let greeting = match self.greetings.find(cx.instance).await? {
            Some(found) => found,
            None => self.greetings.make(cx.instance).await?,
        };
        // In memory, because it is a secret. When the stage starts over, this step runs again and brings it back.
        let overrides = creator(cx)?.overrides();
        overrides.set(None, "greeting.token", greeting.token.expose_secret(), true);
        // Saved with the operation, and on the instance's row for the operations that come later.
        cx.data.others.insert(KEPT_AS.into(), json!(greeting.text));
        update_instance(cx, InstanceChange::default())?;
        done()
    }
}
