//! Tells customers which runtimes will be under maintenance, and when.
//!
//! What a reader would get wrong: an announcement that is given up here is still sent while there is time: `Refresh_Targets` does so until it begins.

use clients::spc::{Event, Tenant};
use store::broker::MemberFilter;

use super::{Orchestrating, as_transient, event_type, orchestration, stored};
use crate::{
    operations::prelude::*,
    orchestrations::{is_changed, kind, parameters},
};

pub(super) struct SendNotification;

impl Step<Orchestrating> for SendNotification {
    const NAME: &'static str = "Send_Notification";
    const RETRY: Retry = Retry::every(secs(5)).failing_for(mins(30));

    async fn run(&self, cx: &mut Cx<'_, Orchestrating>) -> StepResult {
        let row = orchestration(cx).await?;
        // What was canceled before it began needs no notification.
        if row.state == "canceling" {
            return done();
        }
        let asked = parameters(&row).map_err(|error| stored(&error))?;
        let Some(spc) = cx.env.spc.as_ref().filter(|_| cx.env.notifies(&asked)) else {
            return done();
        };
        let filter = MemberFilter {
            orchestration: row.id,
            states: vec!["pending".into()],
            current: true,
            skip: 0,
            most: 1_000_000,
        };
        let members = cx.env.store().members(&filter).await.map_err(|error| stored(&error))?;
        let tenants: Vec<Tenant> = members
            .members
            .iter()
            .filter(|member| is_changed(kind(&row), &member.plan_name))
            .map(|member| {
                let from = member.window_begin.unwrap_or(cx.now);
                Tenant::planned(&member.instance, from, member.window_end)
            })
            .collect();
        if tenants.is_empty() {
            return done();
        }
        let event_type = event_type(&row);
        let event = Event { orchestration_id: row.id.to_string(), event_type, tenants };
        if asked.strategy.schedule_time > cx.now {
            let untold = event.tenants.iter().map(|tenant| tenant.instance_id.clone());
            cx.data.untold.extend(untold);
        }
        // One that is there already was made by an earlier run whose result was lost.
        let _exists = as_transient(spc.create(&event).await)?;
        cx.data.untold.clear();
        done()
    }
}
