//! Requests against running operations: queueing, superseding, cancelling.

mod continuing;

use engine::{
    State, Storage as _,
    storage::{Acceptance, EntryEvent, Unfinished, Verdict},
};

use crate::script::{Act, Bench, MINUTE, settings};

#[tokio::test(start_paused = true)]
async fn p04_operations_of_one_instance_run_one_after_the_other_in_order() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let ids = [bench.id(), bench.id(), bench.id()];
    for id in ids {
        bench.env.script(id, "Use", &[Act::WaitFor(MINUTE)]);
        bench.order_for(id, "one instance", "tenant").await;
    }

    assert_eq!(bench.read(ids[2]).await.state, State::Pending);
    for id in ids {
        bench.succeeds(id).await;
    }

    let mut last = None;
    for id in ids {
        let row = bench.read(id).await;
        assert!(last.is_none_or(|ended| row.started_at.unwrap() >= ended), "they overlap");
        last = row.ended_at;
    }
    let admitted = bench.store.history(ids[1]);
    assert!(admitted.iter().any(|entry| entry.event == EntryEvent::Admitted));
}

#[tokio::test(start_paused = true)]
async fn the_limit_counts_from_leaving_pending() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let (first, second) = (bench.id(), bench.id());
    bench.env.script(first, "Use", &[Act::WaitFor(20 * 60 * MINUTE)]);
    bench.env.script(second, "Use", &[Act::WaitFor(20 * 60 * MINUTE)]);
    bench.order_for(first, "one instance", "tenant").await;
    bench.order_for(second, "one instance", "tenant").await;

    bench.succeeds(first).await;
    bench.succeeds(second).await;

    let row = bench.read(second).await;
    assert!(row.ended_at.unwrap().duration_since(row.created_at).as_hours() > 24);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_operation_ends_at_its_next_step_boundary() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let sleeping = bench.order("Use", &[Act::WaitFor(60 * MINUTE)]).await;
    let running = bench.order("Use", &[Act::Work(20 * crate::script::SECOND)]).await;
    bench.until(sleeping, |row| row.waiting_since.is_some() && !row.held).await;
    bench.until(running, |row| row.step.as_deref() == Some("Use")).await;

    assert!(engine.cancel(sleeping, "called off").await.unwrap());
    assert!(engine.cancel(running, "called off").await.unwrap());
    let before = bench.clock.now();
    let ended = bench.end(sleeping).await;

    assert_eq!(ended.state, State::Canceled);
    assert_eq!(ended.note.as_deref(), Some("called off"));
    assert!(bench.clock.now().duration_since(before).as_secs() < 2);
    assert_eq!(bench.end(running).await.state, State::Canceled);
    assert_eq!(
        bench.env.ran(running),
        ["Start", "Warm", "Use"],
        "the step ended, nothing followed"
    );
    assert!(!engine.cancel(running, "again").await.unwrap(), "final is final");
}

#[tokio::test(start_paused = true)]
async fn a_superseding_request_stops_the_running_operation_and_follows_it() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let (create, delete) = (bench.id(), bench.id());
    bench.env.script(create, "Use", &[Act::WaitFor(60 * MINUTE)]);
    bench.order_for(create, "one instance", "tenant").await;
    bench.until(create, |row| row.waiting_since.is_some() && !row.held).await;

    let order = engine::Order::<crate::script::ScriptedOperation> {
        id: delete,
        instance: "one instance".into(),
        lane: "tenant".into(),
        input: (),
        data: crate::script::Data::default(),
        digest: None,
    };
    let supersede = |unfinished: &[Unfinished]| {
        let ids = unfinished.iter().map(|other| other.id).collect();
        Verdict::Supersede(ids, "a delete came".into())
    };
    let accepted = bench.store.accept(order.encoded().unwrap(), &supersede).await.unwrap();

    assert_eq!(accepted, Acceptance::Queued);
    bench.succeeds(delete).await;
    let create = bench.read(create).await;
    assert_eq!(create.state, State::Failed);
    assert_eq!(create.failure.unwrap().reason, "superseded");
}
