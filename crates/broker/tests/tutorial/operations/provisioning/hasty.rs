//! A step that makes a greeting in every run: what the generated tests are there to catch.

use super::Provisioning;
use crate::operations::{prelude::*, shared::needed};

pub(super) struct HastyHelloWorld;

impl Step<Provisioning> for HastyHelloWorld {
    const NAME: &'static str = "Hello_World";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let greetings = needed(cx.env.greetings.as_ref(), "greetings")?;
        cx.data.hello_world = Some(greetings.make(cx.instance).await?.text);
        done()
    }
}
