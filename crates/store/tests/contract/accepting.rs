//! One operation of an instance runs at a time; the others wait in order, and none is forgotten.

mod repetition;

use std::ops::Deref;

use engine::{
    State, Storage,
    storage::{Acceptance, Unfinished, Verdict},
};
use futures::future::join_all;

use crate::bench::{Bench, new};

pub(crate) use repetition::{
    p03_a_repetition_is_answered_and_not_stored,
    p03_an_accept_repeated_after_a_lost_answer_stores_nothing_more,
    p03_what_was_stored_answers_its_repetition_whatever_came_since,
};

pub(crate) async fn p04_one_runs_at_a_time_under_fifty_parallel_accepts<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;

    let answers = join_all((0..50).map(|_| bench.accept_new(new("i", "a")))).await;

    let started = answers.iter().filter(|(_, answer)| *answer == Acceptance::Started).count();
    let queued = answers.iter().filter(|(_, answer)| *answer == Acceptance::Queued).count();
    assert_eq!((started, queued), (1, 49));
    for _ in 0..50 {
        let mut claimed = bench.claim(replica, 50).await;
        assert_eq!(claimed.len(), 1);
        let end = bench.ends(&claimed.remove(0), State::Succeeded);
        bench.commit(replica, end).await;
    }
    assert!(bench.claim(replica, 50).await.is_empty());
}

pub(crate) async fn the_end_admits_the_next_in_order<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let mut waiting = Vec::new();
    let first = bench.held(replica, "i").await;
    for _ in 0..3 {
        bench.wait(1);
        waiting.push(bench.accept("i").await);
    }
    let mut running = first;

    for next in waiting {
        assert_eq!(bench.read(next).await.due_at, None);
        let ended = bench.ends(&running, State::Succeeded);
        bench.commit(replica, ended).await;
        let mut claimed = bench.claim(replica, 10).await;
        assert_eq!(claimed.iter().map(|held| held.id).collect::<Vec<_>>(), [next]);
        running = claimed.remove(0);
    }
}

pub(crate) async fn an_accept_racing_with_an_end_strands_nobody<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    for round in 0..300 {
        let instance = format!("i{round}");
        let running = bench.held(replica, &instance).await;
        let (end, other) = (bench.ends(&running, State::Succeeded), new(&instance, "a"));

        let (_, (second, _), (third, _)) = futures::join!(
            bench.commit(replica, end),
            bench.accept_new(other),
            bench.accept_new(new(&instance, "a")),
        );

        let (second, third) = (bench.read(second).await, bench.read(third).await);
        let running = [&second, &third].iter().filter(|one| one.due_at.is_some()).count();
        assert_eq!(running, 1, "in round {round}: {second:?} {third:?}");
        let claimed = bench.claim(replica, 10).await;
        let ends: Vec<_> = claimed.iter().map(|held| bench.ends(held, State::Succeeded)).collect();
        bench.store.commit(replica, &ends).await.unwrap();
        let claimed = bench.claim(replica, 10).await;
        assert_eq!(claimed.len(), 1, "in round {round}");
        bench.commit(replica, bench.ends(&claimed[0], State::Succeeded)).await;
    }
}

pub(crate) async fn a_request_in_the_way_is_refused<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let running = bench.accept("i").await;
    let other = new("i", "a");
    let id = other.id;

    let refuse = |unfinished: &[Unfinished]| match unfinished {
        [] => Verdict::Queue,
        [one, ..] => Verdict::Refuse(one.id),
    };
    let answer = bench.store.accept(other, &refuse).await.unwrap();

    assert_eq!(answer, Acceptance::Refused(running));
    assert_eq!(bench.store.read(id).await.unwrap(), None);
}

pub(crate) async fn superseding_stops_the_running_one_and_ends_the_waiting_ones<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let running = bench.held(replica, "i").await;
    bench.commit(replica, bench.sleeps(&running, 100, None)).await;
    let waiting = bench.accept("i").await;
    let deletion = new("i", "a");
    let id = deletion.id;

    let supersede = |unfinished: &[Unfinished]| {
        let ids = unfinished.iter().map(|one| one.id).collect::<Vec<_>>();
        if ids.is_empty() { Verdict::Queue } else { Verdict::Supersede(ids, "deleted".into()) }
    };
    let answer = bench.store.accept(deletion, &supersede).await.unwrap();

    assert_eq!(answer, Acceptance::Queued);
    assert_eq!(bench.read(waiting).await.state, State::Failed);
    let stopped = bench.claim(replica, 10).await.remove(0);
    assert_eq!(stopped.id, running.id);
    assert_eq!(stopped.cancel.as_ref().unwrap().reason, "deleted");
    bench.commit(replica, bench.ends(&stopped, State::Failed)).await;
    assert_eq!(bench.claim(replica, 10).await[0].id, id);
}
