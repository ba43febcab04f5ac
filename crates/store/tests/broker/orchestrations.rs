//! Orchestrations: runtimes are stored together, start within their slots, and are as far as their operations.

use std::sync::Arc;

use engine::{State, storage::Then};
use serde_json::json;
use store::{
    broker::{
        Counts, Fields, MemberFilter, NewMember, NewOrchestration, Orchestration, Resolution,
        Started,
    },
    database::Backend,
};
use uuid::Uuid;

use crate::bench::{Bench, operation, queue};

const RESOLUTION: Resolution<'_> = Resolution {
    orchestration: Uuid::nil(),
    description: "Scheduled operations",
    member_description: "Operation created",
};

impl Bench {
    /// An orchestration over these instances, and the operations that they will get.
    async fn orchestrated(&self, workers: i64, instances: &[&str]) -> (Uuid, Vec<Uuid>) {
        let (id, driver) = self.created(workers).await;
        let members: Vec<NewMember> = instances.iter().map(|instance| member(instance)).collect();
        let operations = members.iter().map(|member| member.operation).collect();
        let resolution = Resolution { orchestration: id, ..RESOLUTION };
        assert!(self.store.resolve_orchestration(driver, &resolution, &members).await.unwrap());
        (id, operations)
    }

    /// A new orchestration and its driver.
    async fn created(&self, workers: i64) -> (Uuid, Uuid) {
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

    async fn start(&self, orchestration: Uuid, instance: &str, id: Uuid) -> Started {
        let new = engine::storage::NewOperation { id, ..operation(instance) };
        self.store.start_member(orchestration, new, &queue, "accepted").await.unwrap()
    }

    /// Starts a runtime's operation, which fails.
    async fn fails(&self, orchestration: Uuid, instance: &str, id: Uuid) {
        assert_eq!(self.start(orchestration, instance, id).await, Started::Yes);
        let replica = self.hands.join().await;
        let held = self.hands.claim(replica, instance).await;
        let mut commit = self.hands.ends(&held, json!(null));
        commit.position.state = State::Failed;
        self.hands.commit(replica, commit).await;
    }

    /// Tries failed operations of an orchestration again.
    async fn retries(&self, id: Uuid, again: &[(Uuid, NewMember)]) -> bool {
        let driver = operation(&id.to_string());
        let driver = engine::storage::NewOperation { kind: "orchestration".into(), ..driver };
        let resolution = Resolution { orchestration: id, ..RESOLUTION };
        let ids: Vec<String> = again.iter().map(|(failed, _)| failed.to_string()).collect();
        let fields: &Fields<'_> = &[(&["retryoperation", "retryoperations"], json!(ids))];
        self.store.retry_orchestration(driver, &resolution, fields, again).await.unwrap()
    }

    async fn row(&self, id: Uuid) -> Orchestration {
        self.store.orchestration(id).await.unwrap().unwrap()
    }

    async fn counts(&self, id: Uuid) -> Counts {
        self.store.orchestration_counts(id).await.unwrap()
    }
}

fn member(instance: &str) -> NewMember {
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

    assert_eq!(started.iter().filter(|it| **it == Started::Yes).count(), 3);
    assert_eq!(started.iter().filter(|it| **it == Started::NoSlot).count(), 17);
    let counts = b.counts(id).await;
    assert_eq!((counts.running(), counts.waiting()), (3, 17));
}

pub(crate) async fn a_runtime_is_started_once_and_not_while_paused_or_gone(b: Bench) {
    for name in ["a", "b"] {
        b.ready(name).await;
    }
    let (id, operations) = b.orchestrated(5, &["a", "b", "gone"]).await;

    assert!(b.store.pause_orchestration(id, "why").await.unwrap());
    assert_eq!(b.start(id, "a", operations[0]).await, Started::NoSlot);
    assert!(b.store.resume_orchestration(id).await.unwrap());
    assert_eq!(b.start(id, "a", operations[0]).await, Started::Yes);
    assert_eq!(b.start(id, "a", operations[0]).await, Started::Before);
    assert_eq!(b.start(id, "gone", operations[2]).await, Started::Gone);
    assert!(b.store.skip_member(operations[1], "left out").await.unwrap());
    assert_eq!(b.start(id, "b", operations[1]).await, Started::Before);
    assert!(!b.is_stored(operations[1]).await && !b.is_stored(operations[2]).await);
    assert!(b.store.cancel_orchestration(id, "canceled").await.unwrap());
    assert!(!b.store.cancel_orchestration(id, "canceled").await.unwrap());
}

pub(crate) async fn how_far_a_runtime_is_is_told_by_its_operation_at_every_moment(b: Bench) {
    b.ready("a").await;
    let (id, operations) = b.orchestrated(1, &["a"]).await;
    assert_eq!(b.start(id, "a", operations[0]).await, Started::Yes);
    let replica = b.hands.join().await;

    let held = b.hands.claim(replica, "a").await;
    b.hands.commit(replica, b.hands.done(&held, json!(null))).await;
    assert_eq!(b.counts(id).await.in_state("in progress"), 1);
    let held = engine::storage::Held { serial: held.serial + 1, ..held };
    b.hands.commit(replica, b.hands.ends(&held, json!(null))).await;

    let counts = b.counts(id).await;
    assert_eq!((counts.in_state("succeeded"), counts.running()), (1, 0));
    let told = b.store.member(operations[0]).await.unwrap().unwrap();
    assert!(told.started_at.is_some() && told.ended_at.is_some());
    assert_eq!(b.store.orchestration_of(operations[0]).await.unwrap(), Some(id));
}

pub(crate) async fn a_driver_that_fails_ends_its_orchestration(b: Bench) {
    b.ready("a").await;
    let (id, _) = b.orchestrated(1, &["a"]).await;
    let hands = store::testing::Hands { kind: "orchestration", ..b.hands.clone() };
    let replica = hands.join().await;
    let held = hands.claim(replica, id).await;
    let mut commit = hands.ends(&held, json!(null));
    commit.position.state = State::Failed;
    commit.position.failure = Some(base::Failure::new("gardener", "down", "gardener is down"));
    commit.then = Then::End;

    hands.commit(replica, commit).await;

    let row = b.row(id).await;
    assert_eq!((row.state.as_str(), row.description.as_str()), ("failed", "gardener is down"));
    assert_eq!(b.counts(id).await.in_state("canceled"), 1);
}

pub(crate) async fn what_failed_is_tried_again_behind_the_others(b: Bench) {
    for name in ["a", "b"] {
        b.ready(name).await;
    }
    let (id, operations) = b.orchestrated(2, &["a", "b"]).await;
    b.fails(id, "a", operations[0]).await;

    assert!(b.retries(id, &[(operations[0], member("a"))]).await);
    assert!(!b.retries(id, &[(operations[0], member("a"))]).await);

    let counts = b.counts(id).await;
    assert_eq!((counts.total(), counts.in_state("failed"), counts.waiting()), (2, 0, 2));
    let filter =
        MemberFilter { orchestration: id, states: vec![], current: false, skip: 0, most: 10 };
    let page = b.store.members(&filter).await.unwrap();
    let states: Vec<_> =
        page.members.iter().map(|it| (it.instance.as_str(), it.superseded)).collect();
    assert_eq!(states, [("a", true), ("b", false), ("a", false)]);
}

pub(crate) async fn a_retry_of_what_has_ended_accepts_the_failures_that_stay(b: Bench) {
    for name in ["a", "b", "c"] {
        b.ready(name).await;
    }
    let (id, driver) = b.created(3).await;
    let members = ["a", "b", "c"].map(|name| NewMember { wave: 0, ..member(name) });
    let operations = members.each_ref().map(|member| member.operation);
    let resolution = Resolution { orchestration: id, ..RESOLUTION };
    assert!(b.store.resolve_orchestration(driver, &resolution, &members).await.unwrap());
    for (name, operation) in ["a", "b", "c"].into_iter().zip(operations) {
        b.fails(id, name, operation).await;
    }
    assert!(b.store.finish_orchestration(id, driver, "failed").await.unwrap());
    assert_eq!(b.row(id).await.forgiven, 0);

    assert!(b.retries(id, &[(operations[0], member("a"))]).await);

    // Two failures stay, both of canaries: what is tried again is not paused by them.
    let row = b.row(id).await;
    assert_eq!((row.state.as_str(), row.forgiven, row.released), ("retrying", 2, true));
}

pub(crate) async fn a_retry_of_what_runs_accepts_no_further_failure(b: Bench) {
    for name in ["a", "b", "c"] {
        b.ready(name).await;
    }
    let (id, operations) = b.orchestrated(3, &["a", "b", "c", "waiting"]).await;
    b.fails(id, "a", operations[0]).await;
    b.fails(id, "b", operations[1]).await;
    assert!(b.store.pause_orchestration(id, "why").await.unwrap());
    assert!(b.store.resume_orchestration(id).await.unwrap());
    b.fails(id, "c", operations[2]).await;
    assert_eq!(b.row(id).await.forgiven, 2);

    // Two failures stay of three, and as many were accepted.
    assert!(b.retries(id, &[(operations[0], member("a"))]).await);
    assert_eq!(b.row(id).await.forgiven, 2);
    // One stays: the budget is not void for the next ones.
    assert!(b.retries(id, &[(operations[1], member("b"))]).await);
    let row = b.row(id).await;
    assert_eq!((row.state.as_str(), row.forgiven), ("in progress", 1));
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
