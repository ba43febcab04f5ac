//! C9 and C11: names that are not names arrive as they are, and calls that are called off leave nothing.

use std::sync::Arc;

use clients::{
    Kind,
    edp::{Metadata, Tenant},
    spc::{Event, EventType},
};
use serde_json::json;
use tokio::sync::Notify;

use super::{
    golden::{answer, issuer},
    support::{answering, noon},
    test_systems::TestSystems,
    world::World,
};

fn names() -> [String; 7] {
    ["a/../b?c#d", "back\\slash \"quoted\"", "new\nline\r\n", "%2f%00", "\u{0}", "𝕏 ü", "+&="]
        .map(str::to_owned)
}

#[tokio::test]
async fn hostile_names_arrive_in_paths_queries_forms_and_bodies() {
    let world = World::new().await;
    let (edp, ias, spc) = (world.place().edp(), world.place().ias(), world.place().spc());
    let long = "ü".repeat(2_000);

    for name in names().iter().chain([&long]) {
        let tenant = Tenant::of_subaccount(name);
        let entry = Metadata { key: name.clone(), value: name.clone() };
        edp.register(&tenant, std::slice::from_ref(&entry)).await.unwrap();
        assert_eq!(edp.metadata(&tenant).await.unwrap(), [entry]);
        edp.delete_metadata(&tenant, name).await.unwrap();
        assert_eq!(edp.metadata(&tenant).await.unwrap(), []);

        ias.create_provider(name).await.unwrap();
        let provider = ias.company().await.unwrap().provider(name).cloned().unwrap();
        ias.set_subject(&provider.id, name).await.unwrap();
        ias.delete_provider(name).await.unwrap();
        ias.delete_provider(&provider.id).await.unwrap();
        assert!(ias.company().await.unwrap().provider(name).is_none());

        let id = name.clone();
        let event =
            Event { orchestration_id: id, event_type: EventType::Cluster, tenants: Vec::new() };
        let _created = spc.create(&event).await.unwrap();
        spc.cancel(name).await.unwrap();
    }

    let events = world.objects("spc", "event").await;
    assert_eq!(events.len(), 8);
    assert!(events.iter().all(|event| event["value"]["status"] == "cancelled"));
}

#[tokio::test]
async fn names_that_every_parser_takes_for_something_else_are_not_sent() {
    let (issuer, _) = issuer().await;
    let (systems, heard) = answering(|_, _| answer((200, "{}"))).await;
    let place = TestSystems::new(systems, issuer, &noon());

    for name in ["", ".", ".."] {
        let refused = Kind::Refused { status: 400 };
        let tenant = Tenant::of_subaccount(name);
        assert_eq!(place.edp().delete_tenant(&tenant).await.unwrap_err().kind, refused);
        assert_eq!(place.ias().set_subject(name, "mail").await.unwrap_err().kind, refused);
        assert_eq!(place.lms().readiness(name).await.unwrap_err().kind, refused);
    }
    assert_eq!(heard.len(), 0);
}

#[tokio::test]
async fn a_call_that_is_called_off_is_free_to_be_made_again() {
    let arrived = Arc::new(Notify::new());
    let told = arrived.clone();
    let stuck = axum::Router::new().fallback(move || {
        let told = told.clone();
        async move {
            told.notify_one();
            std::future::pending::<()>().await;
        }
    });
    let systems = super::support::serve(stuck).await;
    let (issuer, _) = issuer().await;
    let limits = clients::CallLimits { at_once: 1, ..clients::CallLimits::DEFAULT };
    let place = TestSystems { limits, ..TestSystems::new(systems, issuer, &noon()) };
    let (avs, lms) = (place.avs(), place.lms());

    // With one turn at a time, a turn that is not given back would end this after the first round.
    for _ in 0..3 {
        tokio::select! {
            _ = avs.delete(7) => panic!("nobody answers"),
            () = arrived.notified() => {}
        }
        tokio::select! {
            _ = lms.create_tenant("ga", "eu") => panic!("nobody answers"),
            () = arrived.notified() => {}
        }
    }
}

#[tokio::test]
async fn metadata_of_others_does_not_disturb() {
    let world = World::new().await;
    let edp = world.place().edp();
    let (one, other) = (Tenant::of_subaccount("one"), Tenant::of_subaccount("other"));

    edp.register(&one, &one.metadata("cf-eu10", "aws")).await.unwrap();
    edp.register(&other, &other.metadata("neo-x", "free")).await.unwrap();
    edp.deregister(&one).await.unwrap();

    let tenants = world.objects("edp", "tenant").await;
    assert_eq!(tenants.len(), 1);
    assert_eq!(tenants[0]["value"]["metadata"]["maasConsumerEnvironment"], json!("NEO"));
}
