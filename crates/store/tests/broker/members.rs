//! Runtimes of an orchestration: told as they were stored, due in their wave and their window, and left alone once they have started.

use std::time::Duration;

use engine::storage::NewOperation;
use store::broker::{Member, MemberFilter, NewMember, NewOrchestration, Resolution, StartResult};
use uuid::Uuid;

use crate::{
    bench::{Bench, operation, queue},
    orchestrations::start,
};

/// A runtime with every field filled, each with a value of its own.
pub(crate) fn member(name: &str, wave: i64) -> NewMember {
    NewMember {
        operation: Uuid::now_v7(),
        wave,
        instance: name.into(),
        runtime_id: Uuid::now_v7(),
        shoot_name: format!("c-{name}"),
        global_account: format!("ga-{name}"),
        subaccount: format!("sa-{name}"),
        plan_id: format!("plan-{name}"),
        plan_name: format!("name-{name}"),
        window_rule: Some("010000+0000 050000+0000".into()),
        window_begin: None,
        window_end: None,
    }
}

/// An orchestration with these runtimes.
async fn orchestrated(b: &Bench, members: &[NewMember]) -> Uuid {
    orchestrated_with(b, members, "{}").await
}

pub(crate) async fn orchestrated_with(b: &Bench, members: &[NewMember], parameters: &str) -> Uuid {
    let id = Uuid::now_v7();
    let new = NewOrchestration {
        id,
        kind: "upgradeKyma".into(),
        description: "queued".into(),
        parameters: parameters.into(),
        workers: 5,
    };
    let driver = NewOperation { kind: "orchestration".into(), ..operation(&id.to_string()) };
    b.store.create_orchestration(&new, driver.clone()).await.unwrap();
    let resolution = Resolution {
        orchestration: id,
        description: "Scheduled operations",
        member_description: "Operation created",
    };
    assert!(b.store.resolve_orchestration(driver.id, &resolution, members).await.unwrap());
    id
}

fn names(members: &[Member]) -> Vec<&str> {
    members.iter().map(|it| it.instance.as_str()).collect()
}

pub(crate) async fn operations_of_dry_runs_are_told_from_others(b: Bench) {
    let (real, dry, plain) = (member("a", 0), member("b", 0), member("c", 0));
    let ids = [real.operation, dry.operation, plain.operation, Uuid::now_v7()];
    let tried = r#"{"dryRun":true,"kyma":{"version":"2.1.0"}}"#;
    let said = r#"{"dryRun":false,"kyma":{"version":"\"dryRun\":true"}}"#;
    orchestrated_with(&b, &[real], said).await;
    orchestrated_with(&b, &[dry], tried).await;
    orchestrated(&b, &[plain]).await;

    let mut found = b.store.dry_runs(&ids).await.unwrap();
    found.sort();
    assert_eq!(found, [(ids[0], false), (ids[1], true), (ids[2], false)]);
    assert!(b.store.dry_runs(&ids[3..]).await.unwrap().is_empty());
    assert!(b.store.dry_runs(&[]).await.unwrap().is_empty());
}

pub(crate) async fn a_runtime_is_told_as_it_was_stored(b: Bench) {
    let (begin, end) = (b.clock.now(), b.clock.now() + Duration::from_hours(4));
    let window =
        |it: NewMember| NewMember { window_begin: Some(begin), window_end: Some(end), ..it };
    let both = [window(member("a", 0)), window(member("b", 1))];
    let id = orchestrated(&b, &both).await;

    let filter =
        MemberFilter { orchestration: id, states: vec![], current: true, skip: 0, most: 9 };
    let told = b.store.members(&filter).await.unwrap();

    let expected: Vec<Member> = both
        .into_iter()
        .zip(0..)
        .map(|(new, position)| Member {
            operation: new.operation,
            orchestration: id,
            position,
            wave: new.wave,
            instance: new.instance,
            runtime_id: new.runtime_id,
            shoot_name: new.shoot_name,
            global_account: new.global_account,
            subaccount: new.subaccount,
            plan_id: new.plan_id,
            plan_name: new.plan_name,
            window_rule: new.window_rule,
            window_begin: new.window_begin,
            window_end: new.window_end,
            state: "pending".into(),
            description: "Operation created".into(),
            accepted: false,
            superseded: false,
            started_at: None,
            ended_at: None,
            failure: None,
        })
        .collect();
    assert_eq!((told.total, told.members.len()), (2, 2));
    assert_eq!(told.members, expected);
    for one in expected {
        assert_eq!(b.store.member(one.operation).await.unwrap(), Some(one));
    }
}

pub(crate) async fn runtimes_are_due_in_their_wave_once_their_window_has_opened(b: Bench) {
    let now = b.clock.now();
    let at = |name: &str, wave: i64, minutes: Option<i64>| NewMember {
        window_begin: minutes.map(|it| now + jiff::SignedDuration::from_mins(it)),
        ..member(name, wave)
    };
    let all = [
        at("rest", 1, None),
        at("later", 1, Some(20)),
        at("canary", 0, Some(0)),
        at("open", 1, Some(-5)),
        at("soon", 1, Some(10)),
        at("waiting canary", 0, Some(30)),
    ];
    let id = orchestrated(&b, &all).await;
    let due = async |wave, most| b.store.due_members(id, wave, now, most).await.unwrap();
    let next = async |wave, from| b.store.next_window(id, wave, from).await.unwrap();

    assert_eq!(names(&due(0, 9).await), ["canary"]);
    assert_eq!(names(&due(1, 9).await), ["canary", "rest", "open"], "canaries first");
    assert_eq!(names(&due(1, 2).await), ["canary", "rest"]);
    let minutes = |it: i64| Some(now + jiff::SignedDuration::from_mins(it));
    assert_eq!((next(0, now).await, next(1, now).await), (minutes(30), minutes(10)));
    assert_eq!(next(1, minutes(10).unwrap()).await, minutes(20), "the next one");
    assert_eq!(next(1, minutes(30).unwrap()).await, None);

    // Another window, and none for those that have started or were left out.
    let operation_of = |name: &str| all.iter().find(|it| it.instance == name).unwrap().operation;
    let (from, until) = (minutes(-1).unwrap(), minutes(60).unwrap());
    assert!(b.store.move_window(operation_of("later"), from, until).await.unwrap());
    let moved = b.store.member(operation_of("later")).await.unwrap().unwrap();
    assert_eq!((moved.window_begin, moved.window_end), (Some(from), Some(until)));
    assert_eq!(names(&due(1, 9).await), ["canary", "rest", "later", "open"]);
    assert!(b.store.skip_member(operation_of("rest"), "left out").await.unwrap());
    assert!(!b.store.move_window(operation_of("rest"), from, until).await.unwrap());
    assert!(!b.store.skip_member(operation_of("rest"), "again").await.unwrap());
    let left_out = b.store.member(operation_of("rest")).await.unwrap().unwrap();
    assert_eq!((left_out.state.as_str(), left_out.description.as_str()), ("canceled", "left out"));
    assert!(left_out.ended_at.is_some());
    assert_eq!(names(&due(1, 9).await), ["canary", "later", "open"]);
}

pub(crate) async fn what_has_started_is_neither_moved_nor_left_out(b: Bench) {
    b.ready("a").await;
    let both = [member("a", 1), member("b", 1)];
    let id = orchestrated(&b, &both).await;
    let new = NewOperation { id: both[0].operation, ..operation("a") };
    let started = b.store.start_member(&start(id), new, &queue).await.unwrap();
    assert_eq!(started, StartResult::Yes);
    let now = b.clock.now();

    assert!(!b.store.move_window(both[0].operation, now, now).await.unwrap());
    assert!(!b.store.skip_member(both[0].operation, "why").await.unwrap());
    assert_eq!(b.store.call_off_members(id, "canceled").await.unwrap(), 1);

    let started = b.store.member(both[0].operation).await.unwrap().unwrap();
    assert_eq!((started.accepted, started.window_begin), (true, None));
    assert_eq!(started.description, "accepted");
    let other = b.store.member(both[1].operation).await.unwrap().unwrap();
    assert_eq!((other.state.as_str(), other.description.as_str()), ("canceled", "canceled"));
    assert!(b.store.due_members(id, 1, now, 9).await.unwrap().is_empty());
}
