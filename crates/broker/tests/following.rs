//! Steps that wait for the provisioner are woken when it has gone on, and look by themselves when following does not work.
//!
//! The provisioner is a small server on a socket: a new one that waits, an old one that does not know how, and several that break
//! the wait and nothing else.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::State as Shared,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
};
use base::Clock;
use broker::following::{Follower, for_operation};
use clients::{
    CallLimits, Gate,
    provisioner::{self, OperationState, Provisioner, Settings, Tenant},
};
use engine::{
    Cx, Engine, Operation, OperationId, Order, Plan, Retry, State, Step, StepResult, Storage, done,
    storage::Verdict,
};
use serde_json::{Value, json};
use store::{
    EngineStore,
    testing::{PreparedDatabase, Sort},
};
use tokio::{net::TcpListener, sync::watch, time::timeout};
use uuid::Uuid;

/// Ends a test that hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// How the provisioner treats a call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    Answered,
    /// By an argument that it does not know.
    Refused,
    /// As if no place were free.
    AnsweredAtOnce,
    Frozen,
    Cut,
    Failed,
}

struct Inside {
    waits: Waits,
    /// How far its operation is.
    message: watch::Sender<&'static str>,
    followed: AtomicUsize,
    polled: AtomicUsize,
}

const DONE: &str = "done";

impl Inside {
    fn status(&self) -> Response {
        let message = *self.message.borrow();
        let state = if message == DONE { "Succeeded" } else { "InProgress" };
        Json(json!({"data": {"result": {
            "id": "o-1", "operation": "ProvisionNoInstall", "state": state, "message": message,
            "runtimeID": "r-1", "lastError": null,
        }}}))
        .into_response()
    }
}

async fn answer(Shared(inside): Shared<Arc<Inside>>, Json(asked): Json<Value>) -> Response {
    if !asked["query"].as_str().unwrap().contains("waitSeconds") {
        inside.polled.fetch_add(1, Ordering::SeqCst);
        return inside.status();
    }
    inside.followed.fetch_add(1, Ordering::SeqCst);
    match inside.waits {
        Waits::Answered => {
            let seen = asked["variables"]["message"].as_str().unwrap().to_owned();
            let mut message = inside.message.subscribe();
            message.wait_for(|message| **message != *seen).await.unwrap();
            inside.status()
        }
        Waits::AnsweredAtOnce => inside.status(),
        Waits::Refused => {
            let text = "Unknown argument \"waitSeconds\" on field \"runtimeOperationStatus\" of type \"Query\".";
            let body = Json(json!({"errors": [{"message": text}], "data": null}));
            (StatusCode::UNPROCESSABLE_ENTITY, body).into_response()
        }
        Waits::Frozen => std::future::pending().await,
        Waits::Cut => {
            let cut = futures::stream::iter([Ok("{\"da"), Err(std::io::Error::other("cut"))]);
            Body::from_stream(cut).into_response()
        }
        Waits::Failed => StatusCode::BAD_GATEWAY.into_response(),
    }
}

struct Env {
    provisioner: Provisioner,
    follower: Follower,
}

/// Asks the provisioner, and waits while it is not done.
async fn look<O: Operation<Env = Env>>(cx: &mut Cx<'_, O>) -> StepResult {
    let tenant = Tenant::new("ga");
    let status = cx.env.provisioner.operation_status(tenant, "o-1").await?;
    if status.state == OperationState::Succeeded {
        return done();
    }
    for_operation(Some(&cx.env.follower), tenant, &status, "the cluster is being made").into()
}

/// Looks by itself so rarely that only a signal can wake it in time.
struct Patient;

impl Step<Following> for Patient {
    const NAME: &'static str = "Patient";
    const RETRY: Retry = Retry::every(Duration::from_secs(3_600));

    async fn run(&self, cx: &mut Cx<'_, Following>) -> StepResult {
        look(cx).await
    }
}

/// Looks by itself as well.
struct Polling;

impl Step<Following> for Polling {
    const NAME: &'static str = "Polling";
    const RETRY: Retry =
        Retry::DEFAULT.polling(Duration::from_millis(20), Duration::from_millis(50));

    async fn run(&self, cx: &mut Cx<'_, Following>) -> StepResult {
        look(cx).await
    }
}

struct Following;

impl Operation for Following {
    const KIND: &'static str = "following";
    type Input = ();
    type Data = ();
    type Memory = ();
    type Env = Env;
}

struct World {
    inside: Arc<Inside>,
    follower: Follower,
    engine: Engine<EngineStore>,
    _database: PreparedDatabase<()>,
}

impl World {
    async fn start(sort: Sort, waits: Waits, step: impl Step<Following>) -> Self {
        let clock = Clock::running();
        let database = PreparedDatabase::<()>::running(sort, &clock).await;
        let ((), store) = database.open().await;
        let message = watch::Sender::new("Provisioning started");
        let (followed, polled) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let inside = Arc::new(Inside { waits, message, followed, polled });
        let routes = Router::new().route("/", post(answer)).with_state(inside.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        let gate = || Gate::new(provisioner::COMPONENT, CallLimits::DEFAULT, clock.clone());
        let settings = Settings { url, access: None };
        let provisioner = Provisioner::through(gate(), gate(), &settings).unwrap();
        let follower = Follower::new(provisioner.clone(), store.clone(), clock.clone());
        let env = Arc::new(Env { provisioner, follower: follower.clone() });
        let plan = Plan::within(Duration::from_secs(86_400)).stage("wait").step(step);
        let engine = Engine::builder(Arc::new(store), clock, engine::Settings::default())
            .serve(plan, env)
            .unwrap()
            .start();
        Self { inside, follower, engine, _database: database }
    }

    async fn order(&self) -> OperationId {
        let id = Uuid::now_v7();
        let (instance, lane) = (id.to_string(), "ga".to_owned());
        let order = Order::<Following> { id, instance, lane, input: (), data: (), digest: None };
        self.engine.accept(order, &|_| Verdict::Queue).await.unwrap();
        id
    }

    /// Waits until something is so.
    async fn until(&self, what: &str, so: impl AsyncFn() -> bool) {
        let looking = async {
            while !so().await {
                Clock::running().sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, looking)
            .await
            .unwrap_or_else(|_| panic!("it does not come about: {what}"));
    }

    async fn waits(&self, id: OperationId, reason: &str) {
        let storage = self.engine.storage();
        self.until(reason, async || {
            storage.read(id).await.unwrap().unwrap().note.as_deref() == Some(reason)
        })
        .await;
    }

    async fn succeeds(&self, id: OperationId) {
        let storage = self.engine.storage();
        self.until("it succeeds", async || {
            let state = storage.read(id).await.unwrap().unwrap().state;
            assert!(!state.is_final() || state == State::Succeeded, "{state}");
            state == State::Succeeded
        })
        .await;
    }

    fn followed(&self) -> usize {
        self.inside.followed.load(Ordering::SeqCst)
    }

    fn polled(&self) -> usize {
        self.inside.polled.load(Ordering::SeqCst)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.follower.stop();
        self.engine.kill();
    }
}

async fn woken(sort: Sort) {
    let world = World::start(sort, Waits::Answered, Patient).await;
    let id = world.order().await;
    world.waits(id, "the cluster is being made: Provisioning started").await;

    let message = "Operation in progress. Stage WaitingForClusterCreation. 62 %: waiting";
    world.inside.message.send_replace(message);
    world.waits(id, "the cluster is being made: 62 %: waiting").await;
    world.inside.message.send_replace(DONE);
    world.succeeds(id).await;

    let journal = world.engine.storage().journal(id).await.unwrap();
    let waits: Vec<_> = journal
        .iter()
        .filter(|entry| entry.step.as_deref() == Some("Patient"))
        .map(|entry| (entry.times, entry.reason.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(waits, [(2, "the cluster is being made: 62 %: waiting"), (1, "")]);
    assert_eq!(world.polled(), 3, "one look for each change");
    world.until("nothing is followed", async || world.follower.following() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sleeping_step_is_woken_by_each_change_of_the_operation_that_it_waits_for_on_sqlite() {
    woken(Sort::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sleeping_step_is_woken_by_each_change_of_the_operation_that_it_waits_for_on_postgres() {
    woken(Sort::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provisioner_that_does_not_know_how_to_wait_is_asked_once_and_then_polled() {
    let world = World::start(Sort::Sqlite, Waits::Refused, Polling).await;
    let id = world.order().await;
    world.until("it is polled", async || world.polled() >= 10).await;

    world.inside.message.send_replace(DONE);
    world.succeeds(id).await;

    assert_eq!(world.followed(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fault_of_a_wait_stops_or_fails_an_operation_and_none_is_repeated_without_pause() {
    for waits in [Waits::Frozen, Waits::Cut, Waits::Failed, Waits::AnsweredAtOnce] {
        let world = World::start(Sort::Sqlite, waits, Polling).await;
        let id = world.order().await;
        world.until("it is polled", async || world.polled() >= 20).await;

        world.inside.message.send_replace(DONE);
        world.succeeds(id).await;

        // Twenty polls take a second or two: the first call, and one or two after their pauses.
        assert!((1..=4).contains(&world.followed()), "{waits:?}: {}", world.followed());
        let journal = world.engine.storage().journal(id).await.unwrap();
        assert!(journal.iter().all(|entry| entry.failure.is_none()), "{waits:?}: {journal:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_that_stops_ends_all_its_calls() {
    let world = World::start(Sort::Sqlite, Waits::Frozen, Patient).await;
    let id = world.order().await;
    world.waits(id, "the cluster is being made: Provisioning started").await;
    world.until("it is followed", async || world.followed() == 1).await;

    world.follower.stop();

    world.until("nothing is followed", async || world.follower.following() == 0).await;
}
