//! Leases: takeover after death, after a stop, under the same name; and what a lost lease means.

use engine::{Settings, storage::EntryEvent};

use crate::script::{Act, Bench, MINUTE, SECOND, settings};

fn named(name: &str) -> Settings {
    Settings { replica: Some(name.into()), ..settings() }
}

#[tokio::test(start_paused = true)]
async fn p10_what_a_killed_replica_held_goes_on_elsewhere_within_the_lease_and_two_seconds() {
    let bench = Bench::new();
    let first = bench.start(named("first"));
    let id = bench.order("Use", &[Act::Hang]).await;
    bench.until(id, |row| row.step.as_deref() == Some("Use") && row.held).await;
    let _second = bench.start(named("second"));

    let killed_at = bench.clock.now();
    first.kill();
    bench.succeeds(id).await;

    let again = bench.env.times(id, "Warm")[1];
    assert!(again.duration_since(killed_at).as_secs() <= 12, "{again}");
    assert_eq!(bench.env.ran(id), ["Start", "Warm", "Use", "Warm", "Use", "End"]);
}

#[tokio::test(start_paused = true)]
async fn p10_a_restart_under_the_same_name_takes_over_at_once() {
    let bench = Bench::new();
    let first = bench.start(named("one"));
    let id = bench.order("Use", &[Act::Hang]).await;
    bench.until(id, |row| row.step.as_deref() == Some("Use") && row.held).await;

    first.kill();
    let restarted_at = bench.clock.now();
    let _again = bench.start(named("one"));
    bench.succeeds(id).await;

    assert!(bench.env.times(id, "Warm")[1].duration_since(restarted_at).as_secs() < 1);
}

#[tokio::test(start_paused = true)]
async fn takeover_is_lazy_sleepers_keep_their_owner_until_they_are_due() {
    let bench = Bench::new();
    let first = bench.start(named("first"));
    let id = bench.order("Use", &[Act::WaitFor(5 * MINUTE)]).await;
    let asleep = bench.until(id, |row| row.waiting_since.is_some() && !row.held).await;
    let _second = bench.start(named("second"));

    first.kill();
    bench.clock.sleep(2 * MINUTE).await;
    assert_eq!(bench.read(id).await.epoch, asleep.epoch, "nobody needed it yet");
    bench.succeeds(id).await;

    assert_eq!(bench.read(id).await.epoch, asleep.epoch + 1);
    let journal = bench.store.history(id);
    assert_eq!(journal.iter().filter(|entry| entry.event == EntryEvent::Taken).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_sleeper_that_wakes_at_its_living_owner_keeps_epoch_and_memory() {
    let bench = Bench::new();
    let _first = bench.start(named("first"));
    let _second = bench.start(named("second"));
    let id = bench.order("Use", &[Act::WaitFor(MINUTE), Act::WaitFor(MINUTE)]).await;

    bench.succeeds(id).await;

    assert_eq!(bench.read(id).await.epoch, 1);
    assert_eq!(bench.env.times(id, "Warm").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn p06_a_replica_that_cannot_renew_stops_by_itself_and_joins_again_as_another() {
    let bench = Bench::new();
    let engine = bench.start(settings());
    let id = bench.order("Use", &[Act::Hang]).await;
    bench.until(id, |row| row.step.as_deref() == Some("Use") && row.held).await;
    let mut alive = engine.alive();
    let before = *alive.borrow_and_update();

    let paused_at = bench.clock.now();
    engine.storage().pause(true);
    alive.wait_for(Option::is_none).await.unwrap();
    let noticed = bench.clock.now().duration_since(paused_at);
    engine.storage().pause(false);
    bench.succeeds(id).await;

    assert!(noticed.as_secs() <= 10, "it stopped before its lease could have expired: {noticed}");
    assert_ne!(*alive.borrow(), before, "a new incarnation");
    assert_eq!(bench.read(id).await.epoch, 2);
}

#[tokio::test(start_paused = true)]
async fn heartbeats_do_not_grow_with_the_number_of_operations() {
    let bench = Bench::new();
    let _engine = bench.start(settings());
    let mut ids = Vec::new();
    for _ in 0..200 {
        ids.push(bench.order("Use", &[Act::WaitFor(30 * MINUTE)]).await);
    }
    for id in &ids {
        bench.until(*id, |row| row.waiting_since.is_some() && !row.held).await;
    }

    let before = bench.store.calls();
    bench.clock.sleep(100 * SECOND).await;
    let calls = bench.store.calls() - before;

    // Four beats per lease of ten seconds; a claim and a reap twice a second.
    assert!(calls <= 40 + 2 * 200 + 20, "{calls} calls in 100 s of waiting");
}
