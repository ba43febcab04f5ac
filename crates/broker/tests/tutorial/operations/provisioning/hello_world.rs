//! Greets the runtime, and tells Kyma how to fetch the greeting.

use secrecy::ExposeSecret;
use serde_json::json;

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{creator, keep, needed},
};

/// The component of Kyma that shows the greeting.
const COMPONENT: &str = "hello-world";

pub(super) struct HelloWorld;

impl Step<Provisioning> for HelloWorld {
    const NAME: &'static str = "Hello_World";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(10));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let greetings = needed(cx.env.greetings.as_ref(), "greetings")?;
        // An earlier run may have got through and not lived to save it: look before you act.
        let greeting = match greetings.find(cx.instance).await? {
            Some(found) => found,
            None => greetings.make(cx.instance).await?,
        };
        // In memory, because it is a secret. When the stage starts over, this step runs again and brings it back.
        let overrides = creator(cx)?.overrides();
        overrides.set(Some(COMPONENT), "greeting.token", greeting.token.expose_secret(), true);
        // Saved with the operation, and on the instance's row for the operations that come later.
        cx.data.hello_world = Some(greeting.text);
        keep(cx, json!({}))?;
        done()
    }
}
