//! A create that never ends by itself.

use std::{sync::Arc, time::Duration};

use broker::Details;
use engine::{Cx, Operation, Plan, Retry, Step, StepResult, wait};

pub(crate) struct Creating;

impl Operation for Creating {
    const KIND: &'static str = "provision";
    type Input = ();
    type Data = Details;
    type Memory = ();
    type Env = ();
}

struct Create;

impl Step<Creating> for Create {
    const NAME: &'static str = "Create";
    const RETRY: Retry = Retry::every(Duration::from_mins(1));

    async fn run(&self, _: &mut Cx<'_, Creating>) -> StepResult {
        wait("it never ends")
    }
}

pub(crate) fn plan() -> (Plan<Creating>, Arc<()>) {
    (Plan::within(Duration::from_hours(24)).stage("create").step(Create), Arc::new(()))
}
