//! A step that makes a greeting in every run: what the generated tests are there to catch.

use broker::operations::{
    Env, Limits,
    provisioning::{self, Provisioning, Switches},
};
use engine::{Cx, Plan, Step, StepResult, done};
use serde_json::json;

use super::{greetings::Greetings, hello_world::KEPT_AS};

struct HastyHelloWorld {
    greetings: Greetings,
}

impl Step<Provisioning> for HastyHelloWorld {
    const NAME: &'static str = "Hello_World";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let made = self.greetings.make(cx.instance).await?;
        cx.data.others.insert(KEPT_AS.into(), json!(made.text));
        done()
    }
}

/// The same plan with a step that does not look first.
pub(super) fn making(limits: &Limits, env: &Env, greetings: Greetings) -> Plan<Provisioning> {
    provisioning::plan(limits, Switches::of(env))
        .step_after("Init_Kyma_Template", HastyHelloWorld { greetings })
}
