//! Tells the customer that the upgrade of the runtime has begun.
//!
//! What a reader would get wrong: a repeated call says the same. When it began is written down before the first call.

use clients::spc::{Event, Tenant};

use super::{Upgrading, of};
use crate::operations::{
    prelude::*,
    shared::{missing_data, require_client},
};

pub(crate) struct SendNotification;

impl<O: Upgrading> Step<O> for SendNotification {
    const NAME: &'static str = "Send_Notification";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(10));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        if cx.data.announced {
            return done();
        }
        let spc = require_client(cx.env.spc.as_ref(), System::Spc)?;
        let orchestration = O::request(cx.input).orchestration;
        let orchestration =
            orchestration.ok_or_else(|| missing_data("there is no orchestration"))?;
        let began = cx.env.store.announce_maintenance(of(cx), orchestration).await;
        let began = began.map_err(|error| StepError::internal(&error))?;
        let event = Event {
            orchestration_id: orchestration.to_string(),
            event_type: O::EVENT,
            tenants: vec![Tenant::begun(cx.instance, began)],
        };
        // Whatever it says: an upgrade does not fail because customers cannot be notified. At the limit it goes on.
        let sent = spc.update(&event).await;
        sent.map_err(|error| StepError::transient(error.failure()))?;
        cx.data.announced = true;
        done()
    }
}
