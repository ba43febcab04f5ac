//! Tells customers whose runtimes were announced and then left out that nothing is done to them.

use std::collections::BTreeSet;

use clients::spc::{Event, Tenant};
use store::broker::MemberFilter;

use super::{Orchestrating, as_transient, event_type, orchestration, stored};
use crate::{
    operations::prelude::*,
    orchestrations::{is_changed, kind, parameters},
};

pub(super) struct NotifyLeftOut;

impl Step<Orchestrating> for NotifyLeftOut {
    const NAME: &'static str = "Notify_Left_Out";
    const RETRY: Retry = Retry::every(secs(5)).failing_for(mins(10));

    async fn run(&self, cx: &mut Cx<'_, Orchestrating>) -> StepResult {
        let row = orchestration(cx).await?;
        let asked = parameters(&row).map_err(|error| stored(&error))?;
        let Some(spc) = cx.env.spc.as_ref().filter(|_| cx.env.notifies(&asked)) else {
            return done();
        };
        let filter = MemberFilter {
            orchestration: row.id,
            states: vec![],
            current: false,
            skip: 0,
            most: 1_000_000,
        };
        let members = cx.env.store().members(&filter).await.map_err(|error| stored(&error))?;
        // What is tried again was begun before, and its customers know that.
        let begun: BTreeSet<&str> = members
            .members
            .iter()
            .filter(|member| member.started_at.is_some())
            .map(|member| member.instance.as_str())
            .collect();
        let left_out = members.members.iter().filter(|member| member.state == "canceled");
        let left_out = left_out.filter(|member| !begun.contains(member.instance.as_str()));
        // The others were not announced.
        let left_out = left_out.filter(|member| is_changed(kind(&row), &member.plan_name));
        let tenants: Vec<Tenant> =
            left_out.map(|member| Tenant::cancelled(&member.instance)).collect();
        if tenants.is_empty() {
            return done();
        }
        let event_type = event_type(&row);
        let event = Event { orchestration_id: row.id.to_string(), event_type, tenants };
        as_transient(spc.update(&event).await)?;
        done()
    }
}
