//! Maintenance windows as they are in the garden and in the control plane's cluster, and what becomes of an orchestration when they, or
//! SPC, cannot be reached: a table of every call of the driver.
//!
//! What a reader would get wrong: the runtimes are all being removed, as in `announcing.rs`, so that no upgrade has to end.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use base::Clock;
use broker::{
    operations::{
        Systems,
        orchestration::{self, Data, Input, Orchestrating},
    },
    orchestrations::{
        Followers, OrchestrationEnv, WindowSource,
        policy::Runtime,
        source::{GardenWindows, WindowFacts},
    },
};
use clients::{CallLimits, Component, Gate, gardener::Gardener, kubernetes::Cluster};
use engine::{
    State,
    testing::{Scenario, Setting, TrialResult, try_out},
};
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::{Value, json};
use simulators::{
    testing::{
        Running,
        tables::{ALWAYS, Call, LASTING, calls, lasting, named, passing, rule},
    },
    trouble::{Kind as Trouble, Rule},
};
use store::testing::Sort;

use crate::{
    announcing::{
        AFTER, Announcing, BEFORE, Course, all as everybody, minutes_until_it_begins, told,
        windows_of,
    },
    generated::DRIVER,
    world::World,
};

const NAMESPACE: &str = "kcp-system";
const NAME: &str = "orchestration-config";
/// A day that never ends.
const ALWAYS_OPEN: &str = r#"{"default": {"timeBegin": "000000+0000", "timeEnd": "000000+0000"}}"#;

pub(crate) struct InGarden(Announcing);

/// Keeps a policy where operators do.
fn keep(running: &Running, policy: &str) {
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": NAME, "namespace": NAMESPACE },
        "data": { "maintenancePolicy": policy },
    });
    running.clusters().server().apply("kcp", "tests", &map).unwrap();
}

/// The windows in the garden of one trial. Operators give the policy for others before it is read for the second time.
struct ChangedWindows {
    windows: GardenWindows,
    running: Arc<Running>,
    read: AtomicUsize,
}

impl WindowSource for ChangedWindows {
    fn read(&self) -> BoxFuture<'_, Result<WindowFacts, clients::Error>> {
        if self.read.fetch_add(1, SeqCst) == 1 {
            keep(&self.running, &windows_of(AFTER).to_string());
        }
        self.windows.read()
    }
}

/// The windows in the garden of one trial, where all trouble ends at a time.
struct RecoveringWindows {
    windows: GardenWindows,
    running: Arc<Running>,
    clock: Clock,
    until: Timestamp,
}

impl WindowSource for RecoveringWindows {
    fn read(&self) -> BoxFuture<'_, Result<WindowFacts, clients::Error>> {
        if self.clock.now() >= self.until {
            self.running.landscape.troubles().clear(None).unwrap();
        }
        self.windows.read()
    }
}

impl InGarden {
    pub(crate) async fn start() -> Self {
        Self::on(Course::Now).await
    }

    async fn on(course: Course) -> Self {
        let all = Self(Announcing::on(Sort::Sqlite, course).await);
        all.keep(ALWAYS_OPEN);
        all
    }

    pub(crate) fn keep(&self, policy: &str) {
        keep(&self.0.running, policy);
    }

    pub(crate) async fn windows(&self, clock: &Clock) -> GardenWindows {
        let limits = CallLimits { call: Duration::from_secs(10), ..CallLimits::CLUSTER };
        let gate = |component| Gate::new(component, limits, clock.clone());
        let clusters = self.0.running.clusters();
        let garden = clusters.garden_kubeconfig().into();
        let garden = Cluster::connect(gate(Component::GARDENER), &garden).await.unwrap();
        let control_plane = clusters.control_plane_kubeconfig().into();
        let control_plane = Cluster::connect(gate(Component::CONTROL_PLANE), &control_plane).await;
        GardenWindows {
            gardener: Gardener::new(garden, "kyma", "kcp-test"),
            control_plane: control_plane.unwrap(),
            namespace: NAMESPACE.into(),
            name: NAME.into(),
        }
    }

    async fn once(&self) -> TrialResult {
        Box::pin(try_out(self, &self.0.trials, None)).await
    }

    fn calm(&self) {
        self.0.running.landscape.troubles().clear(None).unwrap();
    }
}

impl Scenario for InGarden {
    type Operation = Orchestrating;

    async fn fresh(&self, clock: &Clock) -> Setting<Orchestrating> {
        let (store, operations) = self.0.trials.fill(clock).await.open().await;
        let world = World::of(store.clone(), operations, clock.clone(), None);
        world.made(3).await;
        for instance in ["i-0", "i-1", "i-2"] {
            world.remove(instance).await;
        }
        let mut asked = self.0.asked(clock);
        asked.strategy.maintenance_window = true;
        let id = self.0.created(&asked, &store, clock).await;
        let windows = self.windows(clock).await;
        let running = self.0.running.clone();
        let windows: Arc<dyn WindowSource> = match self.0.course {
            Course::LaterWithOthers => {
                self.keep(&windows_of(BEFORE).to_string());
                Arc::new(ChangedWindows { windows, running, read: AtomicUsize::default() })
            }
            Course::AfterAnOutage => {
                let until = clock.now() + Duration::from_mins(40);
                Arc::new(RecoveringWindows { windows, running, clock: clock.clone(), until })
            }
            _ => Arc::new(windows),
        };
        let parts = OrchestrationEnv {
            broker: world.broker.clone(),
            windows,
            spc: Some(self.0.spc(clock)),
            kyma_version: "2.10.0".into(),
            versions: None,
            followers: Followers::default(),
        };
        let running = self.0.running.clone();
        Setting {
            plan: orchestration::plan(Systems::ALL),
            env: Arc::new(parts),
            instance: id.to_string(),
            input: Input { orchestration: id, retry: false },
            data: Data::default(),
            world: Box::new(move || {
                let (store, running) = (store.clone(), running.clone());
                Box::pin(async move {
                    let row = store.orchestration(id).await.unwrap().unwrap();
                    json!({ "state": row.state, "told": told(&running, id)["tenants"] })
                })
            }),
        }
    }

    fn comparable(&self, mut data: Value) -> Value {
        data["resolved_at"] = Value::Null;
        data
    }
}

/// Calls of a step, and the component in whose name the orchestration fails, for each of [`LASTING`]; empty where it goes on without.
type Line = (Call, [&'static str; 5]);

/// The calls of an orchestration by its course. What each course has in common with the first one is in the first one only.
const LINES: [(Course, &[Line]); 3] = [
    (
        Course::Now,
        &[
            // Without a policy the Shoots' own windows count.
            (
                ("Resolve_Targets", "control-plane", "GET"),
                ["control plane", "control plane", "", "control plane", "control plane"],
            ),
            (("Resolve_Targets", "gardener", "GET"), ["gardener"; 5]),
            // Customers who cannot be told stop nothing.
            (("Send_Notification", "spc", "POST"), [""; 5]),
            (("Notify_Left_Out", "spc", "PATCH"), [""; 5]),
        ],
    ),
    (
        Course::LaterWithOthers,
        &[
            // It begins with the runtimes that were found before.
            (("Refresh_Targets", "control-plane", "GET"), [""; 5]),
            (("Refresh_Targets", "gardener", "GET"), [""; 5]),
            (("Refresh_Targets", "spc", "PATCH"), [""; 5]),
        ],
    ),
    (
        Course::Canceled,
        // It ends: no answer of SPC leaves it in the state `canceling`.
        &[(("Cancel_Notification", "spc", "PATCH"), [""; 5])],
    ),
];

/// The end of an orchestration that does not fail.
fn good_end(course: Course) -> &'static str {
    if course == Course::Canceled { "canceled" } else { "succeeded" }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_an_orchestration_that_always_fails_ends_as_the_table_says() {
    let mut differences = Vec::new();

    for (course, lines) in LINES {
        let all = InGarden::on(course).await;
        for (at, name) in LASTING.iter().enumerate() {
            for (call, ends) in lines {
                let trouble = rule(*call, ALWAYS, &lasting(name, *call));
                all.0.running.landscape.troubles().add(trouble).unwrap();
                let tried = all.once().await;
                all.calm();
                let end = tried.snapshot.failure.map(|failure| failure.component);
                let (state, word, component) = match ends[at] {
                    "" => (State::Succeeded, good_end(course), None),
                    component => (State::Failed, "failed", Some(component)),
                };
                let told = tried.end.world["state"].clone();
                if (tried.end.state, told.as_str(), end.as_deref())
                    != (state, Some(word), component)
                {
                    let found = tried.end.state;
                    differences
                        .push(format!("{course:?} {name} {call:?}: {found:?} {told} {end:?}"));
                }
            }
        }
    }

    assert!(differences.is_empty(), "{differences:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_of_an_orchestration_may_fail_once_in_any_way() {
    for (course, lines) in LINES {
        let all = InGarden::on(course).await;
        let undisturbed = all.once().await;
        // The announcement of one that is canceled is taken back as a whole.
        let progress = if course == Course::Canceled { "planned" } else { "cancelled" };
        assert_eq!(
            undisturbed.end.world,
            json!({ "state": good_end(course), "told": everybody(progress) })
        );

        for kind in passing() {
            for (call, _) in lines {
                all.0.running.landscape.troubles().add(rule(*call, 1, &kind)).unwrap();
            }
            let tried = all.once().await;
            all.calm();

            let journal = tried.journal;
            assert_eq!(tried.end.world, undisturbed.end.world, "{course:?} {kind:?}: {journal:#?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_orchestration_begins_ten_minutes_late_at_most_when_nothing_answers() {
    for systems in [&["gardener"][..], &["control-plane"], &["gardener", "spc"]] {
        let all = InGarden::on(Course::LaterWithOthers).await;
        for system in systems {
            let down = Rule::next(ALWAYS, Trouble::Down { refuse: false });
            let down = down.of(system).from_step("Refresh_Targets");
            all.0.running.landscape.troubles().add(down).unwrap();
        }

        let tried = all.once().await;

        assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
        let waited = minutes_until_it_begins(&tried.journal);
        // It is to begin after twelve.
        assert!((17..=22).contains(&waited), "{systems:?}: {waited}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_orchestration_outlasts_an_outage_that_ends_before_it_begins() {
    let refused = |status| Trouble::Status { status, body: None };
    for trouble in [Trouble::Down { refuse: false }, refused(403), refused(404)] {
        let all = InGarden::on(Course::AfterAnOutage).await;
        let call = ("Resolve_Targets", "gardener", "GET");
        all.0.running.landscape.troubles().add(rule(call, ALWAYS, &trouble)).unwrap();

        let tried = all.once().await;

        assert_eq!(tried.end.state, State::Succeeded, "{trouble:?}: {:#?}", tried.journal);
        assert_eq!(minutes_until_it_begins(&tried.journal), 45, "{trouble:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_has_every_call_of_an_orchestration() {
    let mut made = BTreeSet::new();

    for (course, _) in LINES {
        let all = InGarden::on(course).await;
        all.once().await;
        made.extend(calls(&all.0.running.landscape, &DRIVER.to_string()));
    }

    let lines = LINES.iter().flat_map(|(_, lines)| lines.iter());
    assert_eq!(made, named(lines.map(|line| line.0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_policy_is_that_of_its_config_map_and_one_that_cannot_be_read_is_none() {
    let all = InGarden::start().await;
    let windows = all.windows(&Clock::running()).await;
    let shoot = ("220000+0100".to_owned(), "020000+0100".to_owned());
    let of = async |plan: &str| {
        let facts = windows.read().await.unwrap();
        let runtime = Runtime { plan, global_account: "ga", region: "eu-central-1" };
        facts.policy.window(&runtime, Some(&shoot)).unwrap().to_string()
    };

    all.keep(r#"{"rules": [{"match": {"plan": "trial"}, "days": ["Sat", "Sun"]}]}"#);
    assert_eq!(of("trial").await, "220000+0100 020000+0100 Sat Sun");
    assert_eq!(of("aws").await, "220000+0100 020000+0100");
    all.keep(r#"{"rules": [{"match": {"plan": "("}, "days": ["Sat"]}]}"#);
    assert_eq!(of("trial").await, "220000+0100 020000+0100");
}
