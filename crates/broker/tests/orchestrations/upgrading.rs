//! The generated tests of the driver's plan with runtimes that are upgraded: for the first time, again after a failure, while the
//! orchestration is canceled. No upgrade may be started twice.
//!
//! What a reader would get wrong: the trial carries out the upgrades too, so that a crash may also hit one of them. It claims one
//! operation at a time, lane by lane: the lane of the driver sorts behind those of runtimes that are upgraded, and before that of one
//! that is removed, which is not carried out.

mod fleet;
mod operation;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use base::Clock;
use broker::operations::{
    Systems,
    orchestration::{self, Data, Input, Orchestrating},
};
use engine::{
    Builder, State, Storage,
    testing::{Part, Scenario, Setting, TrialResult, prove_part, prove_some, try_out},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use store::{
    BrokerStore,
    broker::{Member, MemberFilter},
    testing::Sort,
};
use uuid::Uuid;

use crate::{
    announcing::{self, Announcing, announcements, told},
    world::World,
};
use fleet::{Course, Fleet, INSTANCES};
use operation::Upgrades;

/// The end of the window of [`Course::InWindow`], and its next beginning.
const CLOSES: &str = "2026-01-01T12:10:00Z";
const OPENS: &str = "2026-01-01T12:20:00Z";

struct Upgrading {
    course: Course,
    outside: Announcing,
    /// The upgrades of the trial that has begun last.
    upgrades: Mutex<Arc<Upgrades>>,
}

impl Upgrading {
    async fn on(sort: Sort, course: Course) -> Self {
        let outside = Announcing::on(sort, announcing::Course::Now).await;
        Self { course, outside, upgrades: Mutex::default() }
    }

    async fn once(&self) -> TrialResult {
        Box::pin(try_out(self, &self.outside.trials, None)).await
    }
}

/// How an orchestration and its runtimes look.
async fn look(store: &BrokerStore, id: Uuid) -> Value {
    let row = store.orchestration(id).await.unwrap().unwrap();
    let members = members(store, id).await;
    let members = members.iter().map(|it| json!([it.instance, it.state, it.wave, it.superseded]));
    let members: Vec<Value> = members.collect();
    json!({ "state": row.state, "description": row.description, "members": members })
}

async fn members(store: &BrokerStore, id: Uuid) -> Vec<Member> {
    let filter =
        MemberFilter { orchestration: id, states: vec![], current: false, skip: 0, most: 100 };
    store.members(&filter).await.unwrap().members
}

/// Whether a time is between the end of the window of [`Course::InWindow`] and its next beginning.
fn is_outside(time: &Timestamp) -> bool {
    CLOSES.parse::<Timestamp>().unwrap() <= *time && *time < OPENS.parse::<Timestamp>().unwrap()
}

/// When the upgrades were started.
async fn starts(store: &BrokerStore, id: Uuid) -> Vec<Timestamp> {
    let mut starts = Vec::new();
    for member in members(store, id).await {
        let operation = store.engine().read(member.operation).await.unwrap();
        starts.extend(operation.map(|operation| operation.created_at));
    }
    starts
}

impl Scenario for Upgrading {
    type Operation = Orchestrating;

    async fn fresh(&self, clock: &Clock) -> Setting<Orchestrating> {
        let (store, operations) = self.outside.trials.fill(clock).await.open().await;
        let spc = Some(self.outside.spc(clock));
        let (takes, failing): (_, &[&str]) = match self.course {
            Course::First => (Duration::ZERO, &["i-1"]),
            Course::Retried | Course::Canceled => (Duration::ZERO, &[]),
            Course::InWindow => (Duration::from_mins(6), &[]),
        };
        let upgrades = Arc::new(Upgrades { takes, failing, ..Upgrades::default() });
        *self.upgrades.lock().unwrap() = upgrades.clone();
        let world = World::of(store.clone(), operations, clock.clone(), spc);
        world.made(INSTANCES.len()).await;
        let (id, has_window) = (Uuid::now_v7(), self.course == Course::InWindow);
        let fleet = Fleet {
            id,
            world,
            store: store.clone(),
            upgrades: upgrades.clone(),
            lane: if has_window { "tn-3" } else { "tn-1-driver" },
            clock: clock.clone(),
        };
        fleet.prepare(self.course).await;
        let (env, running) =
            (fleet.world.orchestrations.parts().clone(), self.outside.running.clone());
        Setting {
            plan: orchestration::plan(Systems::ALL),
            env,
            instance: id.to_string(),
            input: Input { orchestration: id, retry: self.course == Course::Retried },
            data: Data::default(),
            world: Box::new(move || {
                let (store, upgrades) = (store.clone(), upgrades.clone());
                let running = running.clone();
                Box::pin(async move {
                    let mut world = look(&store, id).await;
                    world["upgrades"] = json!(upgrades.counts());
                    world["told"] = told(&running, id);
                    world["announced"] = json!(announcements(&store).await);
                    if has_window {
                        let starts = starts(&store, id).await.into_iter();
                        world["outside"] = json!(starts.filter(is_outside).collect::<Vec<_>>());
                    }
                    world
                })
            }),
        }
    }

    fn serve_others<S: Storage>(&self, builder: Builder<S>) -> Builder<S> {
        builder.serve(operation::plan(), self.upgrades.lock().unwrap().clone()).unwrap()
    }

    /// A run that found the runtimes stored did not look for them.
    fn comparable(&self, mut data: Value) -> Value {
        data["resolved_at"] = Value::Null;
        data
    }
}

async fn ends(sort: Sort, course: Course, state: State) -> Value {
    let tried = Upgrading::on(sort, course).await.once().await;
    assert_eq!(tried.end.state, state, "{:#?}", tried.journal);
    tried.end.world
}

#[tokio::test(flavor = "multi_thread")]
async fn each_runtime_is_upgraded_once_and_one_that_fails_fails_the_orchestration() {
    for sort in [Sort::Sqlite, Sort::Postgres] {
        assert_eq!(
            ends(sort, Course::First, State::Succeeded).await,
            json!({
                "state": "failed",
                "description": "Scheduled 3 operations",
                "members": [
                    ["i-0", "succeeded", 0, false], ["i-1", "failed", 1, false], ["i-2", "canceled", 1, false],
                ],
                "upgrades": { "i-0": 1, "i-1": 1 },
                // What was left out is told by the driver.
                "announced": ["i-0", "i-1"],
                "told": {
                    "applied": ["create", "update"], "status": "planned",
                    "tenants": { "i-0": "planned", "i-1": "planned", "i-2": "cancelled" },
                },
            })
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_tried_again_is_upgraded_once_more_and_the_orchestration_succeeds() {
    for sort in [Sort::Sqlite, Sort::Postgres] {
        assert_eq!(
            ends(sort, Course::Retried, State::Succeeded).await,
            json!({
                "state": "succeeded",
                "description": "Scheduled 3 operations, retried 2 operations",
                "members": [
                    ["i-0", "succeeded", 1, false], ["i-1", "failed", 1, true], ["i-2", "failed", 1, true],
                    ["i-1", "succeeded", 1, false], ["i-2", "canceled", 1, false],
                ],
                "upgrades": { "i-0": 1, "i-1": 2, "i-2": 1 },
                // The end of the first try was told.
                "announced": [],
                "told": { "applied": [], "status": null, "tenants": {} },
            })
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_when_an_orchestration_is_canceled_ends_before_it() {
    for sort in [Sort::Sqlite, Sort::Postgres] {
        assert_eq!(
            ends(sort, Course::Canceled, State::Succeeded).await,
            json!({
                "state": "canceled",
                "description": "canceled",
                "members": [
                    ["i-0", "succeeded", 1, false], ["i-1", "canceled", 1, false], ["i-2", "canceled", 1, false],
                ],
                "upgrades": { "i-0": 1 },
                "announced": [],
                "told": {
                    "applied": ["create", "cancel"], "status": "cancelled",
                    "tenants": { "i-0": "planned", "i-1": "planned", "i-2": "planned" },
                },
            })
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_closes_stops_new_starts_until_the_next_one_opens() {
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let (closes, opens) = (at(CLOSES), at(OPENS));
    for sort in [Sort::Sqlite, Sort::Postgres] {
        let upgrading = Upgrading::on(sort, Course::InWindow).await;

        let world = upgrading.once().await.end.world;

        assert_eq!((&world["state"], &world["outside"]), (&json!("succeeded"), &json!([])));
        let upgrades = upgrading.upgrades.lock().unwrap().clone();
        let began: BTreeSet<Timestamp> = upgrades.began.lock().unwrap().values().copied().collect();
        // The third one cannot begin before two of six minutes each are over.
        assert!(began.len() == 3, "{began:?}");
        assert!(began.first() < Some(&closes) && began.last() >= Some(&opens), "{began:?}");
    }
}

/// One part of the proof that a course ends the same way whatever happens.
async fn ends_the_same_way(course: Course, part: usize, of: usize) -> Part {
    let upgrading = Upgrading::on(Sort::Sqlite, course).await;
    let part = Box::pin(prove_part(&upgrading, &upgrading.outside.trials, part, of)).await;
    assert!(part.whole.crashes > 5, "{part:?}");
    part
}

async fn first_ends_the_same_way(part: usize, of: usize) {
    let part = ends_the_same_way(Course::First, part, of).await;
    assert!(part.whole.lost_answers > 1, "{part:?}");
}

async fn retry_ends_the_same_way(part: usize, of: usize) {
    ends_the_same_way(Course::Retried, part, of).await;
}

async fn cancel_ends_the_same_way(part: usize, of: usize) {
    let part = ends_the_same_way(Course::Canceled, part, of).await;
    assert!(part.whole.lost_answers > 0, "{part:?}");
}

async fn window_ends_the_same_way(part: usize, of: usize) {
    ends_the_same_way(Course::InWindow, part, of).await;
}

engine::proven_in_parts! { first_ends_the_same_way:
    runtimes_are_upgraded_once_whatever_happens_part_one
    runtimes_are_upgraded_once_whatever_happens_part_two
}

engine::proven_in_parts! { retry_ends_the_same_way:
    what_is_tried_again_is_upgraded_once_whatever_happens
}

engine::proven_in_parts! { cancel_ends_the_same_way:
    a_canceled_orchestration_ends_the_same_way_whatever_happens
}

engine::proven_in_parts! { window_ends_the_same_way:
    nothing_starts_in_a_closed_window_whatever_happens_part_one
    nothing_starts_in_a_closed_window_whatever_happens_part_two
}

#[tokio::test(flavor = "multi_thread")]
async fn runtimes_are_upgraded_once_whatever_happens_on_postgres() {
    for course in [Course::First, Course::Retried, Course::Canceled] {
        let upgrading = Upgrading::on(Sort::Postgres, course).await;
        let proof = Box::pin(prove_some(&upgrading, &upgrading.outside.trials, 15)).await;

        assert!(proof.trials > 2 && proof.crashes > 0, "{proof:?}");
    }
}
