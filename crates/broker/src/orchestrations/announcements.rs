//! What customers are notified of by an orchestration as a whole.
//!
//! What a reader would get wrong: a runtime whose operation is stored is not part of it. Its upgrade has an announcement of its own, which
//! `chores/maintenance.rs` takes back, also when it never began.

use std::collections::BTreeSet;

use clients::spc::{Event, EventType, Tenant};
use domain::orchestration::{Kind, Parameters};
use store::{
    BrokerStore,
    broker::{Member, MemberFilter, Orchestration},
};

use super::{is_changed, kind};

/// Whether customers are to be notified, if SPC is configured.
pub(crate) fn is_announced(parameters: &Parameters) -> bool {
    !parameters.dry_run && parameters.notification.unwrap_or(true)
}

/// The event type of notifications for each runtime.
pub(crate) fn event_type(row: &Orchestration) -> EventType {
    match kind(row) {
        Kind::UpgradeKyma => EventType::Kyma,
        Kind::UpgradeCluster => EventType::Cluster,
    }
}

/// The notification that nothing is done to runtimes that were announced and then left out; none when there are none.
pub(crate) async fn left_out(
    store: &BrokerStore,
    row: &Orchestration,
) -> Result<Option<Event>, store::Error> {
    let filter = MemberFilter {
        orchestration: row.id,
        states: vec![],
        current: false,
        skip: 0,
        most: 1_000_000,
    };
    let members = store.members(&filter).await?.members;
    let tenants = cancelled(kind(row), &members);
    let event =
        Event { orchestration_id: row.id.to_string(), event_type: event_type(row), tenants };
    Ok((!event.tenants.is_empty()).then_some(event))
}

/// The runtimes that were announced, and whose operation was never stored.
fn cancelled(kind: Kind, members: &[Member]) -> Vec<Tenant> {
    let stored = members.iter().filter(|member| member.accepted);
    let stored: BTreeSet<&str> = stored.map(|member| member.instance.as_str()).collect();
    let left_out = members.iter().filter(|member| member.state == "canceled");
    let left_out = left_out.filter(|member| !stored.contains(member.instance.as_str()));
    // The others were not announced.
    let left_out = left_out.filter(|member| is_changed(kind, &member.plan_name));
    left_out.map(|member| Tenant::cancelled(&member.instance)).collect()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn member(instance: &str, state: &str, accepted: bool) -> Member {
        Member {
            operation: Uuid::now_v7(),
            orchestration: Uuid::nil(),
            position: 0,
            wave: 1,
            instance: instance.into(),
            runtime_id: Uuid::nil(),
            shoot_name: String::new(),
            global_account: String::new(),
            subaccount: String::new(),
            plan_id: String::new(),
            plan_name: "aws".into(),
            window_rule: None,
            window_begin: None,
            window_end: None,
            state: state.into(),
            description: String::new(),
            accepted,
            superseded: false,
            started_at: None,
            ended_at: None,
            failure: None,
        }
    }

    #[test]
    fn an_orchestration_notifies_of_no_runtime_whose_operation_was_stored() {
        let members = [
            member("removed-before", "canceled", false),
            member("removed-later", "canceled", true),
            // A retry that was left out.
            member("failed", "failed", true),
            member("failed", "canceled", false),
            member("upgraded", "succeeded", true),
        ];

        let told = cancelled(Kind::UpgradeKyma, &members);

        assert_eq!(told, [Tenant::cancelled("removed-before")]);
    }
}
