//! What the driver tells customers through SPC: that an orchestration is scheduled, that its runtimes are others or were left
//! out, that it was canceled. Each is told once, whatever happens. That an upgrade has begun and is over is told by the upgrade and a chore:
//! `acceptance/tests/provisioning/upgrading`.
//!
//! What a reader would get wrong: the simulated SPC keeps the events of all trials, so each trial has an orchestration of its own.
//! What counts is what SPC applied: a call whose answer was lost is made again, and changes nothing.

use std::{sync::Arc, time::Duration};

use base::Clock;
use broker::operations::{
    Systems,
    orchestration::{self, Data, Input, Orchestrating},
};
use clients::{
    CallLimits, Gate,
    spc::{self, Event, EventType, Spc, Tenant},
};
use domain::orchestration::{Kind, Parameters};
use engine::{
    Operation as _, State,
    storage::{Entry, NewOperation},
    testing::{Scenario, Setting, try_out},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use simulators::{
    ledger::{Filter, Phase},
    pace::Speed,
    testing::{Options, Running},
    trouble::{Kind as Trouble, Rule},
};
use store::{
    BrokerStore,
    broker::{MaintenancePart, NewMember, NewOrchestration, Resolution},
    testing::{Sort, Trials},
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::{
    generated::DRIVER,
    world::{World, parameters},
};

/// The accounts of the runtimes that an orchestration is for when it is created, and when it begins, where that is not the same.
pub(crate) const BEFORE: &str = "^tn-[01]$";
pub(crate) const AFTER: &str = "^tn-[12]$";

/// An event of the orchestration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Course {
    /// It begins at once.
    Now,
    /// It begins in twelve minutes.
    Later,
    /// It begins in twelve minutes, and its runtimes are others by then.
    LaterWithOthers,
    /// It begins in twelve minutes; its runtimes are others meanwhile, and the first ones again by then.
    LaterAndBack,
    /// It begins in two minutes, and no runtime is found before.
    Soon,
    /// It begins in an hour.
    MuchLater,
    /// It begins in three quarters of an hour.
    AfterAnOutage,
    /// Its runtimes are known, and nothing is done to the last one.
    OneUnchanged,
    /// Its runtimes are known and announced, and it was canceled.
    Canceled,
}

impl Course {
    /// In how many minutes it begins, unless at once.
    fn begins_in(self) -> Option<u64> {
        match self {
            Self::Now | Self::OneUnchanged | Self::Canceled => None,
            Self::Soon => Some(2),
            Self::Later | Self::LaterWithOthers | Self::LaterAndBack => Some(12),
            Self::AfterAnOutage => Some(45),
            Self::MuchLater => Some(60),
        }
    }
}

pub(crate) struct Announcing {
    pub(crate) course: Course,
    pub(crate) trials: Trials<BrokerStore>,
    pub(crate) running: Arc<Running>,
    _folder: TempDir,
}

impl Announcing {
    pub(crate) async fn on(sort: Sort, course: Course) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { speed: Speed::MAX, plays_agent: false, ..Options::default() };
        let running = Running::with(folder.path(), Clock::running(), 1, options).await;
        let trials = Trials::on(sort);
        Self { course, trials, running: Arc::new(running), _folder: folder }
    }

    pub(crate) fn spc(&self, clock: &Clock) -> Spc {
        let url = format!("{}/spc", self.running.url).parse().unwrap();
        let limits = CallLimits { call: Duration::from_secs(10), ..CallLimits::DEFAULT };
        let gate = Gate::new(spc::COMPONENT, limits, clock.clone());
        Spc::new(spc::Settings { url }, gate).unwrap()
    }

    /// The parameters of an orchestration of a trial.
    pub(crate) fn asked(&self, clock: &Clock) -> Parameters {
        let mut asked = parameters(&json!({ "type": "parallel" }));
        if let Some(minutes) = self.course.begins_in() {
            asked.strategy.schedule_time = clock.now() + Duration::from_mins(minutes);
            asked.strategy.maintenance_window =
                ![Course::Later, Course::MuchLater].contains(&self.course);
        }
        asked
    }

    /// An orchestration of its own for one trial, with its driver.
    pub(crate) async fn created(
        &self,
        asked: &Parameters,
        store: &BrokerStore,
        clock: &Clock,
    ) -> Uuid {
        let id = Uuid::now_v7();
        store.create_orchestration(&new(id, asked), driver(id)).await.unwrap();
        if [Course::OneUnchanged, Course::Canceled].contains(&self.course) {
            let resolution = Resolution {
                orchestration: id,
                description: "Scheduled 3 operations",
                member_description: "Operation created",
            };
            let mut members = ["i-0", "i-1", "i-2"].map(member);
            if self.course == Course::OneUnchanged {
                members[2].plan_name = "preview".into();
            }
            let lands = store.resolve_orchestration(DRIVER, &resolution, &members).await;
            assert!(lands.unwrap());
        }
        if self.course == Course::Canceled {
            announce(&self.spc(clock), id, clock.now()).await;
            assert!(store.cancel_orchestration(id, "canceled").await.unwrap());
        }
        id
    }
}

/// Only the runtimes of these accounts have maintenance windows; the others cannot be upgraded in one.
pub(crate) fn windows_of(accounts: &str) -> Value {
    json!({ "rules": [
        { "match": { "globalAccountID": accounts }, "timeBegin": "000000+0000", "timeEnd": "000000+0000" },
    ] })
}

/// Tells customers of three runtimes, as the driver does.
pub(crate) async fn announce(spc: &Spc, id: Uuid, now: Timestamp) {
    let tenants = ["i-0", "i-1", "i-2"].map(|it| Tenant::planned(it, now, None));
    let event = Event {
        orchestration_id: id.to_string(),
        event_type: EventType::Kyma,
        tenants: tenants.into(),
    };
    let _exists = spc.create(&event).await.unwrap();
}

pub(crate) fn new(id: Uuid, asked: &Parameters) -> NewOrchestration {
    NewOrchestration {
        id,
        kind: Kind::UpgradeKyma.as_str().into(),
        description: "queued for processing".into(),
        parameters: serde_json::to_string(asked).unwrap(),
        workers: 2,
    }
}

pub(crate) fn driver(id: Uuid) -> NewOperation {
    NewOperation {
        id: DRIVER,
        instance: id.to_string(),
        kind: Orchestrating::KIND.into(),
        data_version: Orchestrating::VERSION,
        lane: "tenant".into(),
        input: serde_json::to_vec(&Input { orchestration: id, retry: false }).unwrap(),
        data: b"{}".to_vec(),
        digest: None,
    }
}

pub(crate) fn member(instance: &str) -> NewMember {
    NewMember {
        operation: Uuid::now_v7(),
        wave: 1,
        instance: instance.into(),
        runtime_id: Uuid::now_v7(),
        shoot_name: format!("c-{instance}"),
        global_account: "account".into(),
        subaccount: "subaccount".into(),
        plan_id: "plan-id".into(),
        plan_name: "aws".into(),
        window_rule: None,
        window_begin: None,
        window_end: None,
    }
}

/// The instances of which it is announced later that their upgrades are over.
pub(crate) async fn announcements(store: &BrokerStore) -> Vec<String> {
    let part = MaintenancePart::Announcement;
    let due = store.due_maintenances(part, Duration::ZERO, 10).await.unwrap();
    let mut instances: Vec<String> = due.into_iter().map(|due| due.instance).collect();
    instances.sort();
    instances
}

/// What SPC has applied for an orchestration, and what it tells customers.
pub(crate) fn told(running: &Running, id: Uuid) -> Value {
    let filter = Filter { phase: Some(Phase::Applied), ..Filter::default() };
    let applied = running.landscape.ledger().all(&filter).unwrap();
    let applied = applied.into_iter().filter(|entry| entry.about.system == "spc");
    let applied = applied.filter_map(|entry| entry.object);
    let applied: Vec<String> = applied
        .filter_map(|object| Some(object.strip_suffix(&format!(" event/{id}"))?.to_owned()))
        .collect();
    let all = running.landscape.objects("spc");
    let event = all.into_iter().find(|object| object.id == id.to_string());
    let event = event.map_or(Value::Null, |event| event.value);
    let tenants = event["tenants"].as_object().cloned().unwrap_or_default();
    let tenants: Value =
        tenants.into_iter().map(|(name, told)| (name, told["progress"].clone())).collect();
    json!({ "applied": applied, "status": event["status"], "tenants": tenants })
}

impl Scenario for Announcing {
    type Operation = Orchestrating;

    async fn fresh(&self, clock: &Clock) -> Setting<Orchestrating> {
        let (store, operations) = self.trials.fill(clock).await.open().await;
        let world = World::of(store.clone(), operations, clock.clone(), Some(self.spc(clock)));
        // All of them are being removed: the driver has to find that out, and no upgrade has to end.
        world.made(3).await;
        for instance in ["i-0", "i-1", "i-2"] {
            world.remove(instance).await;
        }
        match self.course {
            Course::LaterWithOthers => {
                world.windows(&windows_of(BEFORE));
                world.later_windows(&[windows_of(AFTER)]);
            }
            Course::LaterAndBack => {
                world.windows(&windows_of(BEFORE));
                world.later_windows(&[windows_of(AFTER), windows_of(BEFORE)]);
            }
            Course::Soon => {
                world.windows(&windows_of("^nobody$"));
                world.later_windows(&[windows_of(BEFORE)]);
            }
            _ => {}
        }
        let id = self.created(&self.asked(clock), &store, clock).await;
        let (env, running) = (world.orchestrations.parts().clone(), self.running.clone());
        Setting {
            plan: orchestration::plan(Systems::ALL),
            env,
            instance: id.to_string(),
            input: Input { orchestration: id, retry: false },
            data: Data::default(),
            world: Box::new(move || {
                let (store, running) = (store.clone(), running.clone());
                Box::pin(async move {
                    let state = store.orchestration(id).await.unwrap().unwrap().state;
                    let mut world = json!({ "state": state, "told": told(&running, id) });
                    if !announcements(&store).await.is_empty() {
                        world["handed_over"] = json!(true);
                    }
                    world
                })
            }),
        }
    }

    /// A run that found the runtimes stored did not look for them.
    fn comparable(&self, mut data: Value) -> Value {
        data["resolved_at"] = Value::Null;
        data
    }
}

/// The minutes from the first run of an orchestration until it starts runtimes.
pub(crate) fn minutes_until_it_begins(journal: &[Entry]) -> i64 {
    let began = journal.iter().find(|it| it.step.as_deref() == Some("Start_Operations"));
    began.unwrap().began_at.duration_since(journal[0].began_at).as_secs() / 60
}

async fn once(course: Course) -> Value {
    let announcing = Announcing::on(Sort::Sqlite, course).await;
    let tried = Box::pin(try_out(&announcing, &announcing.trials, None)).await;
    assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
    tried.end.world
}

pub(crate) fn all(progress: &str) -> Value {
    json!({ "i-0": progress, "i-1": progress, "i-2": progress })
}

#[tokio::test(flavor = "multi_thread")]
async fn customers_are_told_once_that_an_orchestration_is_scheduled_and_that_runtimes_were_left_out()
 {
    let told = json!({ "applied": ["create", "update"], "status": "planned", "tenants": all("cancelled") });

    for course in [Course::Now, Course::Later] {
        assert_eq!(once(course).await, json!({ "state": "succeeded", "told": told }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn customers_are_told_nothing_of_a_runtime_to_which_nothing_is_done() {
    let told = once(Course::OneUnchanged).await["told"].take();

    let tenants = json!({ "i-0": "cancelled", "i-1": "cancelled" });
    assert_eq!((&told["applied"], &told["tenants"]), (&json!(["create", "update"]), &tenants));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orchestration_that_finds_its_runtimes_late_begins_in_time() {
    let announcing = Announcing::on(Sort::Sqlite, Course::Soon).await;

    let tried = Box::pin(try_out(&announcing, &announcing.trials, None)).await;

    assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
    assert_eq!(tried.end.world["told"]["applied"], json!(["create", "update"]));
    assert_eq!(minutes_until_it_begins(&tried.journal), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn customers_are_told_once_that_an_orchestration_was_canceled() {
    let told = json!({
        "applied": ["create", "cancel"], "status": "cancelled", "tenants": all("planned"),
    });

    assert_eq!(once(Course::Canceled).await, json!({ "state": "canceled", "told": told }));
}

#[tokio::test(flavor = "multi_thread")]
async fn runtimes_that_come_or_go_before_an_orchestration_begins_are_told_once() {
    // Those that are left out in the end are told by an update of their own.
    let tenants = all("cancelled");
    let told = json!({ "applied": ["create", "update", "update"], "status": "planned", "tenants": tenants });

    let world = once(Course::LaterWithOthers).await;

    assert_eq!(world, json!({ "state": "succeeded", "told": told }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_that_comes_back_before_an_orchestration_begins_is_announced_anew() {
    let told = once(Course::LaterAndBack).await["told"].take();

    // Others, the first ones again, and that they are left out in the end.
    let applied = json!(["create", "update", "create", "update", "update"]);
    assert_eq!((&told["applied"], &told["tenants"]), (&applied, &all("cancelled")));
}

#[tokio::test(flavor = "multi_thread")]
async fn runtimes_that_come_or_go_are_told_before_it_begins_when_spc_fails_until_then() {
    let announcing = Announcing::on(Sort::Sqlite, Course::LaterWithOthers).await;
    // After five minutes, after ten, and when it is time to begin.
    let fails = Rule::next(3, Trouble::Status { status: 500, body: None });
    let fails = fails.of("spc").from_step("Refresh_Targets");
    announcing.running.landscape.troubles().add(fails).unwrap();

    let tried = Box::pin(try_out(&announcing, &announcing.trials, None)).await;

    assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
    assert_eq!(tried.end.world["told"]["applied"], json!(["create", "update", "update"]));
    assert_eq!(tried.end.world["told"]["tenants"]["i-0"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orchestration_begins_when_customers_cannot_be_told_for_five_minutes() {
    let announcing = Announcing::on(Sort::Sqlite, Course::LaterWithOthers).await;
    let fails = Rule::next(1_000_000, Trouble::Down { refuse: false });
    announcing
        .running
        .landscape
        .troubles()
        .add(fails.of("spc").from_step("Refresh_Targets"))
        .unwrap();

    let tried = Box::pin(try_out(&announcing, &announcing.trials, None)).await;

    assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
    assert!(tried.end.incomplete.is_empty());
    assert_eq!(tried.end.world["told"]["applied"], json!(["create", "update"]));
    let waited = minutes_until_it_begins(&tried.journal);
    assert!((17..=22).contains(&waited), "{waited}");
}
