//! The calls of SPC.

use clients::spc::{Event, EventType};

use super::{Call, GONE_IS_FINE, Special, call};

fn event() -> Event {
    let tenant = clients::spc::Tenant::begun("i-1", "2023-04-01T22:00:00Z".parse().unwrap());
    Event { orchestration_id: "o-1".into(), event_type: EventType::Kyma, tenants: vec![tenant] }
}

pub(super) fn all() -> Vec<Call> {
    vec![
        call!(
            "spc create",
            "POST /spc/createMaintenanceEvent",
            Some(
                r#"{"orchestrationId":"o-1","eventType":"1","tenants":[{"instanceId":"i-1",
                "startDateTime":"2023-04-01 22:00:00","eventState":"1"}]}"#
            ),
            (200, ""),
            &[(409, Special::Fine)],
            |place| async { place.spc().create(&event()).await }
        ),
        call!(
            "spc update",
            "PATCH /spc/updateMaintenanceEvent",
            Some(
                r#"{"orchestrationId":"o-1","tenants":[{"instanceId":"i-1",
                "startDateTime":"2023-04-01 22:00:00","eventState":"1"}]}"#
            ),
            (204, ""),
            &[],
            |place| async { place.spc().update(&event()).await }
        ),
        call!(
            "spc cancel",
            "PATCH /spc/cancelMaintenanceEvent",
            Some(r#"{"orchestrationId":"o-1"}"#),
            (200, ""),
            GONE_IS_FINE,
            |place| async { place.spc().cancel("o-1").await }
        ),
    ]
}
