//! Orchestrations: runtimes are stored together, start within their slots, and are as far as their operations.

use std::sync::Arc;

use engine::{State, storage::AfterCommit};
use serde_json::json;
use store::{
    broker::{
        Counts, Fields, MemberFilter, MemberStart, NewMember, NewOrchestration, Orchestration,
        Resolution, StartResult,
    },
    database::Backend,
};
use uuid::Uuid;

use crate::bench::{Bench, operation, queue};

pub(crate) const RESOLUTION: Resolution<'_> = Resolution {
    orchestration: Uuid::nil(),
    description: "Scheduled operations",
    member_description: "Operation created",
};

impl Bench {
    /// An orchestration over these instances, and the operations that they will get.
    pub(crate) async fn orchestrated(&self, workers: i64, instances: &[&str]) -> (Uuid, Vec<Uuid>) {
        let (id, driver) = self.created(workers).await;
        let members: Vec<NewMember> = instances.iter().map(|instance| member(instance)).collect();
        let operations = members.iter().map(|member| member.operation).collect();
        let resolution = Resolution { orchestration: id, ..RESOLUTION };
        assert!(self.store.resolve_orchestration(driver, &resolution, &members).await.unwrap());
        (id, operations)
    }

    /// A new orchestration and its driver.
    pub(crate) async fn created(&self, workers: i64) -> (Uuid, Uuid) {
        let id = Uuid::now_v7();
        let new = NewOrchestration {
            id,
            kind: "upgradeKyma".into(),
            description: "queued".into(),
            parameters: "{}".into(),
            workers,
        };
        let driver = operation(&id.to_string());
        let driver = engine::storage::NewOperation { kind: "orchestration".into(), ..driver };
        self.store.create_orchestration(&new, driver.clone()).await.unwrap();
        // Once more after a lost answer.
        self.store.create_orchestration(&new, driver.clone()).await.unwrap();
        (id, driver.id)
    }

    pub(crate) async fn start(&self, orchestration: Uuid, instance: &str, id: Uuid) -> StartResult {
        let new = engine::storage::NewOperation { id, ..operation(instance) };
        self.store.start_member(&start(orchestration), new, &queue).await.unwrap()
    }

    /// Starts a runtime's operation, which fails.
    pub(crate) async fn fails(&self, orchestration: Uuid, instance: &str, id: Uuid) {
        assert_eq!(self.start(orchestration, instance, id).await, StartResult::Yes);
        let replica = self.hands.join().await;
        let held = self.hands.claim(replica, instance).await;
        let mut commit = self.hands.ends(&held, json!(null));
        commit.position.state = State::Failed;
        self.hands.commit(replica, commit).await;
    }

    pub(crate) async fn row(&self, id: Uuid) -> Orchestration {
        self.store.orchestration(id).await.unwrap().unwrap()
    }

    pub(crate) async fn counts(&self, id: Uuid) -> Counts {
        self.store.orchestration_counts(id).await.unwrap()
    }
}

/// A start that customers were notified of.
pub(crate) fn start(orchestration: Uuid) -> MemberStart<'static> {
    MemberStart { orchestration, description: "accepted", announced: true }
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

pub(crate) async fn runtimes_are_stored_all_together_and_once(b: Bench) {
    let (id, driver) = b.created(2).await;
    let resolution = Resolution { orchestration: id, ..RESOLUTION };
    let twice = [member("a"), member("a")];

    // One that cannot be stored leaves none.
    assert!(b.store.resolve_orchestration(driver, &resolution, &twice).await.is_err());
    assert_eq!((b.counts(id).await.total(), b.row(id).await.state.as_str()), (0, "pending"));
    let other = b.store.resolve_orchestration(Uuid::now_v7(), &resolution, &[member("a")]).await;
    assert!(!other.unwrap());
    let both = [member("a"), member("b")];
    assert!(b.store.resolve_orchestration(driver, &resolution, &both).await.unwrap());
    let again = b.store.resolve_orchestration(driver, &resolution, &[member("c")]).await.unwrap();

    assert!(!again);
    assert_eq!((b.counts(id).await.total(), b.row(id).await.state.as_str()), (2, "in progress"));
}

pub(crate) async fn of_twenty_starts_at_once_only_as_many_land_as_there_are_slots(b: Bench) {
    let names: Vec<String> = (0..20).map(|n| format!("i{n}")).collect();
    for name in &names {
        b.ready(name).await;
    }
    let instances: Vec<&str> = names.iter().map(String::as_str).collect();
    let (id, operations) = b.orchestrated(3, &instances).await;
    let b = Arc::new(b);

    let starts = names.iter().cloned().zip(operations).map(|(name, operation)| {
        let b = b.clone();
        tokio::spawn(async move { b.start(id, &name, operation).await })
    });
    let mut started = Vec::new();
    for start in starts.collect::<Vec<_>>() {
        started.push(start.await.unwrap());
    }

    assert_eq!(started.iter().filter(|it| **it == StartResult::Yes).count(), 3);
    assert_eq!(started.iter().filter(|it| **it == StartResult::NoSlot).count(), 17);
    let counts = b.counts(id).await;
    assert_eq!((counts.running(), counts.waiting()), (3, 17));
}

pub(crate) async fn a_runtime_is_started_once_and_not_while_paused_or_gone(b: Bench) {
    for name in ["a", "b"] {
        b.ready(name).await;
    }
    let (id, operations) = b.orchestrated(5, &["a", "b", "gone"]).await;

    assert!(b.store.pause_orchestration(id, "why").await.unwrap());
    assert_eq!(b.start(id, "a", operations[0]).await, StartResult::NoSlot);
    assert!(b.store.resume_orchestration(id).await.unwrap());
    assert_eq!(b.start(id, "a", operations[0]).await, StartResult::Yes);
    assert_eq!(b.start(id, "a", operations[0]).await, StartResult::Before);
    assert_eq!(b.start(id, "gone", operations[2]).await, StartResult::Gone);
    assert!(b.store.skip_member(operations[1], "left out").await.unwrap());
    assert_eq!(b.start(id, "b", operations[1]).await, StartResult::Before);
    assert!(!b.is_stored(operations[1]).await && !b.is_stored(operations[2]).await);
    assert!(b.store.cancel_orchestration(id, "canceled").await.unwrap());
    assert!(!b.store.cancel_orchestration(id, "canceled").await.unwrap());
}

pub(crate) async fn how_far_a_runtime_is_is_told_by_its_operation_at_every_moment(b: Bench) {
    b.ready("a").await;
    let (id, operations) = b.orchestrated(1, &["a"]).await;
    assert_eq!(b.start(id, "a", operations[0]).await, StartResult::Yes);
    let replica = b.hands.join().await;

    let held = b.hands.claim(replica, "a").await;
    b.hands.commit(replica, b.hands.done(&held, json!(null))).await;
    assert_eq!(b.counts(id).await.in_state("in progress"), 1);
    let held = engine::storage::HeldOperation { serial: held.serial + 1, ..held };
    b.hands.commit(replica, b.hands.ends(&held, json!(null))).await;

    let counts = b.counts(id).await;
    assert_eq!((counts.in_state("succeeded"), counts.running()), (1, 0));
    let told = b.store.member(operations[0]).await.unwrap().unwrap();
    assert!(told.started_at.is_some() && told.ended_at.is_some());
    assert_eq!(b.store.orchestration_of(operations[0]).await.unwrap(), Some(id));
}

pub(crate) async fn a_driver_that_fails_ends_its_orchestration(b: Bench) {
    b.ready("a").await;
    let (id, operations) = b.orchestrated(1, &["a"]).await;
    let hands = store::testing::ManualReplica { kind: "orchestration", ..b.hands.clone() };
    let replica = hands.join().await;
    let held = hands.claim(replica, id).await;
    let mut commit = hands.ends(&held, json!(null));
    commit.position.state = State::Failed;
    commit.position.failure = Some(base::Failure::new("gardener", "down", "gardener is down"));
    commit.then = AfterCommit::End;

    hands.commit(replica, commit).await;

    let row = b.row(id).await;
    assert_eq!((row.state.as_str(), row.description.as_str()), ("failed", "gardener is down"));
    assert_eq!(b.counts(id).await.in_state("canceled"), 1);
    let member = b.store.member(operations[0]).await.unwrap().unwrap();
    assert_eq!(member.ended_at, Some(b.clock.now()));
}

pub(crate) async fn what_was_changed_since_the_targets_were_read_stays(b: Bench) {
    let (id, driver) = b.created(2).await;
    let changed = r#"{"workers":9}"#;
    assert!(b.store.change_workers(id, 9, &[(&["workers"], json!(9))]).await.unwrap());

    let resolution = Resolution { orchestration: id, ..RESOLUTION };
    assert!(b.store.resolve_orchestration(driver, &resolution, &[member("a")]).await.unwrap());

    let row = b.row(id).await;
    assert_eq!((row.workers, row.parameters.as_str()), (9, changed));
}

pub(crate) async fn a_retry_and_other_workers_change_their_own_fields_only(b: Bench) {
    for name in ["a", "b"] {
        b.ready(name).await;
    }
    let (id, operations) = b.orchestrated(2, &["a", "b"]).await;
    b.fails(id, "a", operations[0]).await;
    let workers: &Fields<'_> = &[(&["strategy", "parallel", "workers"], json!(9))];

    assert!(b.store.change_workers(id, 9, workers).await.unwrap());
    assert!(b.retries(id, &[(operations[0], member("a"))]).await);
    assert!(
        b.store
            .change_workers(id, 7, &[(&["strategy", "parallel", "workers"], json!(7))])
            .await
            .unwrap()
    );

    let row = b.row(id).await;
    let told: serde_json::Value = serde_json::from_str(&row.parameters).unwrap();
    assert_eq!(row.workers, 7);
    assert_eq!(
        told,
        json!({
            "strategy": { "parallel": { "workers": 7 } },
            "retryoperation": { "retryoperations": [operations[0].to_string()] },
        })
    );
    assert!(!b.store.change_workers(Uuid::now_v7(), 1, workers).await.unwrap());
}

pub(crate) async fn a_runtime_that_starts_while_others_are_chosen_is_not_replaced(b: Bench) {
    const HOLD: &str = "UPDATE orchestrations SET workers = workers WHERE id = $1";
    const START: &str =
        "UPDATE orchestration_operations SET accepted = true WHERE orchestration = $1";
    const WAITING: &str = "
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let (id, driver) = b.created(1).await;
    let resolution = Resolution { orchestration: id, ..RESOLUTION };
    assert!(b.store.resolve_orchestration(driver, &resolution, &[member("a")]).await.unwrap());
    let mut starting = b.database.begin().await.unwrap();
    for text in [HOLD, START] {
        store::on!(starting.connection(), |connection| {
            sqlx::query(text).bind(id).execute(connection).await.map(drop)
        })
        .unwrap();
    }

    let store = b.store.clone();
    let replaced = tokio::spawn(async move {
        let resolution = Resolution { orchestration: id, ..RESOLUTION };
        store.replace_members(driver, &resolution, &[member("b")]).await.unwrap()
    });
    if let Backend::Postgres(pool) = b.database.reader() {
        let waits = async || sqlx::query_scalar::<_, i64>(WAITING).fetch_one(pool).await.unwrap();
        while waits().await == 0 {
            tokio::task::yield_now().await;
        }
    }
    starting.commit().await.unwrap();

    assert!(!replaced.await.unwrap(), "what has started stays");
    let filter =
        MemberFilter { orchestration: id, states: vec![], current: true, skip: 0, most: 9 };
    let members = b.store.members(&filter).await.unwrap().members;
    assert_eq!(members.iter().map(|it| it.instance.as_str()).collect::<Vec<_>>(), ["a"]);
}
