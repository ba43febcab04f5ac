//! How instances stand by their operations, and what is read for many of them at once.

use engine::{
    State, Storage as _,
    storage::{CommitResult, NewOperation},
};
use serde_json::{Value, json};
use store::{
    broker::{InstanceFilter, NewRuntimeState, RemovedInstance, Standing, StartResult},
    testing::ManualReplica,
};
use uuid::Uuid;

use crate::{
    bench::{Bench, operation, queue},
    members::{member, orchestrated_with},
    orchestrations::start,
};

impl Bench {
    /// An instance whose second operation is of this kind, and has ended or not.
    async fn second(&self, id: &str, kind: &str, ended: bool) {
        self.made(id, json!({})).await;
        self.wait(1);
        self.store.accept(id, 0, operation(id), &queue, None).await.unwrap();
        let replica = self.hands.join().await;
        if ended {
            self.hands.end(replica, id, json!({})).await;
        } else {
            let held = self.hands.claim(replica, id).await;
            self.hands.commit(replica, self.hands.done(&held, json!({}))).await;
        }
        self.rename(id, kind).await;
    }

    /// Gives the newest operation of an instance another kind.
    async fn rename(&self, id: &str, kind: &str) {
        let newest = self.store.last_operation(id, None).await.unwrap().unwrap();
        self.change("UPDATE operations SET kind = $2 WHERE id = $1", newest, kind).await;
    }

    async fn ended_as(&self, id: &str, state: &str) {
        let newest = self.store.last_operation(id, None).await.unwrap().unwrap();
        self.change("UPDATE operations SET state = $2 WHERE id = $1", newest, state).await;
    }

    async fn change(&self, sql: &'static str, id: Uuid, word: &str) {
        store::on!(self.database.writer(), |pool| {
            sqlx::query(sql).bind(id).bind(word).execute(pool).await.map(drop)
        })
        .unwrap();
    }

    async fn standing(&self, words: &[Standing], or_left_over: bool) -> Vec<String> {
        let filter = InstanceFilter {
            standings: Some(words.to_vec()),
            or_left_over,
            most: 100,
            ..InstanceFilter::default()
        };
        let page = self.store.list(&filter).await.unwrap();
        assert_eq!(self.store.total(&filter).await.unwrap(), page.instances.len() as u64);
        page.instances.into_iter().map(|instance| instance.id).collect()
    }
}

pub(crate) async fn instances_are_chosen_by_their_newest_operation_that_counts(b: Bench) {
    b.order(&crate::bench::instance("new")).await;
    b.second("updating", "update", false).await;
    b.second("upgrading", "upgradeCluster", false).await;
    b.second("removing", "deprovision", false).await;
    b.second("updated", "update", true).await;
    b.second("broken", "update", true).await;
    b.ended_as("broken", "failed").await;
    b.second("unchanged", "update", true).await;
    b.ended_as("unchanged", "canceled").await;
    b.second("unmade", "provision", true).await;
    b.ended_as("unmade", "canceled").await;
    b.second("asleep", "deprovision", true).await;
    b.second("left", "deprovision", true).await;
    b.execute("UPDATE instances SET deleted_at = created_at WHERE id = 'left'").await;

    for (standing, expected) in [
        (Standing::Provisioning, &["new"][..]),
        (Standing::Updating, &["updating"]),
        (Standing::Upgrading, &["upgrading"]),
        (Standing::Deprovisioning, &["removing"]),
        (Standing::Succeeded, &["updated", "unchanged"]),
        (Standing::Error, &["broken"]),
        (Standing::Failed, &["unmade"]),
        (Standing::Suspended, &["asleep"]),
        (Standing::Deprovisioned, &["left"]),
    ] {
        assert_eq!(b.standing(&[standing], false).await, expected, "{standing:?}");
        assert_eq!(standing.as_str().parse(), Ok(standing));
    }
    assert_eq!(b.standing(&[Standing::Error], true).await, ["broken", "left"]);
    assert_eq!(b.standing(&[], false).await, Vec::<String>::new());
    assert_eq!(b.standing(&Standing::ALL, false).await.len(), 10);
}

/// How an instance stands before an upgrade by an orchestration, while it waits, while it runs and after it has ended.
async fn upgraded(b: &Bench, id: &str, upgrade: (&'static str, &str, State)) -> [Standing; 4] {
    let (kind, parameters, end) = upgrade;
    let before = b.find(id).await.standing;
    let new = member(id, 1);
    let operation = NewOperation { id: new.operation, kind: kind.into(), ..operation(id) };
    let orchestration = orchestrated_with(b, &[new], parameters).await;
    b.wait(1);
    let started = b.store.start_member(&start(orchestration), operation, &queue).await;
    assert_eq!(started.unwrap(), StartResult::Yes);
    let waiting = b.find(id).await.standing;
    let hands = ManualReplica { kind, ..b.hands.clone() };
    let replica = hands.join().await;
    let mut held = hands.claim(replica, id).await;
    hands.commit(replica, hands.done(&held, Value::Null)).await;
    let running = b.find(id).await.standing;
    (held.serial, held.runs) = (held.serial + 1, held.runs + 1);
    let mut commit = hands.ends(&held, Value::Null);
    commit.position.state = end;
    let landed = hands.commit(replica, commit).await;
    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    [before, waiting, running, b.find(id).await.standing]
}

pub(crate) async fn a_dry_run_of_an_upgrade_does_not_change_how_an_instance_stands(b: Bench) {
    const DRY: &str = r#"{"dryRun":true}"#;
    const REAL: &str = r#"{"dryRun":false}"#;
    b.made("made", json!({})).await;
    b.second("broken", "update", true).await;
    b.ended_as("broken", "failed").await;

    for kind in ["upgradeKyma", "upgradeCluster"] {
        for (id, standing) in [("made", Standing::Succeeded), ("broken", Standing::Error)] {
            for end in [State::Failed, State::Succeeded, State::Canceled] {
                let stood = upgraded(&b, id, (kind, DRY, end)).await;
                assert_eq!(stood, [standing; 4], "{id} {kind} {end:?}");
            }
        }
    }
    assert_eq!(b.standing(&[Standing::Succeeded], false).await, ["made"]);
    for (kind, end, standing) in [
        ("upgradeKyma", State::Failed, Standing::Error),
        ("upgradeCluster", State::Succeeded, Standing::Succeeded),
    ] {
        let [_, waiting, running, after] = upgraded(&b, "broken", (kind, REAL, end)).await;
        assert_eq!(waiting, Standing::Error, "{kind}");
        assert_eq!((running, after), (Standing::Upgrading, standing), "{kind}");
        // The end of an instance is written by a trigger of its own.
        let dry = upgraded(&b, "broken", (kind, DRY, State::Failed)).await;
        assert_eq!(dry, [standing; 4], "{kind}");
        b.execute("UPDATE instances SET deleted_at = created_at WHERE id = 'broken'").await;
        assert_eq!(b.find("broken").await.standing, standing, "{kind}");
        b.execute("UPDATE instances SET deleted_at = NULL WHERE id = 'broken'").await;
    }
}

pub(crate) async fn lists_of_several_states_are_put_together_by_age(b: Bench) {
    for id in ["failed-1", "asleep-1", "made", "failed-2", "asleep-2", "left"] {
        let kind = if id.starts_with("failed") { "provision" } else { "deprovision" };
        b.second(id, if id == "made" { "update" } else { kind }, true).await;
        if id.starts_with("failed") {
            b.ended_as(id, "failed").await;
        }
    }
    b.execute("UPDATE instances SET deleted_at = created_at WHERE id = 'left'").await;
    let standings = Some(vec![Standing::Failed, Standing::Suspended, Standing::Failed]);
    let all = InstanceFilter { standings, or_left_over: true, ..InstanceFilter::default() };
    let expected = ["failed-1", "asleep-1", "failed-2", "asleep-2", "left"];

    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let filter = InstanceFilter { after, most: 2, ..all.clone() };
        let page = b.store.list(&filter).await.unwrap();
        found.extend(page.instances.into_iter().map(|instance| instance.id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }

    assert_eq!(found, expected);
    assert_eq!(b.store.total(&all).await.unwrap(), 5);
    let third = InstanceFilter { skip: 2, most: 1, ..all.clone() };
    assert_eq!(b.store.list(&third).await.unwrap().instances[0].id, "failed-2");
    let behind = InstanceFilter { skip: 5, most: 1, ..all.clone() };
    assert!(b.store.list(&behind).await.unwrap().instances.is_empty());
    let marks = b.store.marks(&all, 2).await.unwrap();
    assert_eq!(
        marks.iter().map(|mark| mark.id.as_str()).collect::<Vec<_>>(),
        ["asleep-1", "asleep-2"]
    );
}

pub(crate) async fn what_has_no_row_is_found_by_the_operation_that_removed_it(b: Bench) {
    for id in ["one", "two", "three", "there"] {
        b.second(id, "deprovision", true).await;
    }
    b.second("failed", "deprovision", true).await;
    b.ended_as("failed", "failed").await;
    b.execute("DELETE FROM instances WHERE id <> 'there'").await;
    let texts = |values: &[&str]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
    let names =
        |found: Vec<RemovedInstance>| found.into_iter().map(|it| it.instance).collect::<Vec<_>>();
    let page = async |accounts: &[&str], skip: u32, most: u32| {
        names(b.store.removed_page(&texts(accounts), None, skip, most).await.unwrap())
    };
    let among = async |accounts: &[&str], ids: &[&str]| {
        names(b.store.removed_among(&texts(accounts), &texts(ids)).await.unwrap())
    };
    let total = async |accounts: &[&str], after, most: u32| {
        b.store.removed_total(&texts(accounts), after, most).await.unwrap()
    };

    assert_eq!(page(&[], 0, 10).await, ["one", "two", "three"]);
    assert_eq!(page(&["account"], 1, 1).await, ["two"]);
    assert!(page(&["other"], 0, 10).await.is_empty());
    assert_eq!(among(&[], &["three", "one", "there"]).await, ["one", "three"]);
    assert!(among(&["other"], &["one"]).await.is_empty());
    let newest = async |accounts: &[&str], skip: u32, most: u32| {
        names(b.store.removed_newest(&texts(accounts), skip, most).await.unwrap())
    };
    assert_eq!(newest(&[], 0, 10).await, ["three", "two", "one"]);
    assert_eq!(newest(&["account"], 1, 1).await, ["two"]);
    assert!(newest(&["other"], 0, 10).await.is_empty());
    let marks = b.store.removed_marks(&[], 2).await.unwrap();
    let behind = b.store.removed_page(&[], marks.last().copied(), 0, 10).await.unwrap();
    assert_eq!((marks.len(), names(behind)), (1, texts(&["three"])));
    assert_eq!([total(&[], None, 9).await, total(&["account"], None, 2).await], [3, 2]);
    assert_eq!([total(&[], Some(marks[0]), 9).await, total(&["other"], None, 9).await], [1, 0]);
}

pub(crate) async fn an_operation_stopped_before_it_began_does_not_count_and_one_abandoned_in_its_first_step_does(
    b: Bench,
) {
    let made = b.made("one", json!({})).await;
    let failure = base::Failure::new("engine", "abandoned", "it hangs");
    let accepted = async || {
        b.wait(1);
        let new = operation("one");
        let id = new.id;
        b.store.accept("one", 0, new, &queue, None).await.unwrap();
        id
    };
    let counts = async || {
        let newest = b.store.last_effective_operation("one", &["provision"]).await.unwrap();
        newest.unwrap()
    };

    let unbegun = accepted().await;
    assert_eq!(counts().await, unbegun, "it will begin");
    assert!(b.engine.abandon(unbegun, &failure).await.unwrap());
    assert_eq!(counts().await, made);

    let begun = accepted().await;
    b.hands.claim(b.hands.join().await, "one").await;
    assert!(b.engine.abandon(begun, &failure).await.unwrap());
    assert_eq!(counts().await, begun);
}

pub(crate) async fn operations_of_many_instances_are_read_together(b: Bench) {
    let first = b.made("one", json!({})).await;
    b.wait(1);
    let update = NewOperation { input: b"again".to_vec(), ..operation("one") };
    let second = update.id;
    b.store.accept("one", 0, update, &queue, None).await.unwrap();
    let other = b.made("other", json!({})).await;
    b.made("unasked", json!({})).await;

    let found = b.engine.of_instances(&["other", "one", "unknown"]).await.unwrap();
    let contents = b.engine.contents(&[second, other, Uuid::new_v4()]).await.unwrap();

    let ids: Vec<Uuid> = found.iter().map(|operation| operation.id).collect();
    assert_eq!(ids, [first, second, other]);
    assert!(found.iter().all(|it| it.input.is_empty() && it.data.is_empty()));
    let mut contents: Vec<_> =
        contents.into_iter().map(|it| (it.operation, it.input, it.data)).collect();
    contents.sort();
    let data = b"data".to_vec();
    let mut expected =
        [(second, b"again".to_vec(), data.clone()), (other, b"input".to_vec(), data)];
    expected.sort();
    assert_eq!(contents, expected);
    assert!(b.engine.of_instances(&[]).await.unwrap().is_empty());
}

pub(crate) async fn the_latest_state_of_each_runtime_is_found(b: Bench) {
    let runtimes = [Uuid::from_u128(1), Uuid::from_u128(2), Uuid::from_u128(3)];
    for id in ["one", "two"] {
        b.made(id, json!({})).await;
    }
    for (n, instance, word) in [
        (0, "one", "cluster"),
        (0, "one", "cluster"),
        (0, "one", "kyma"),
        (1, "two", "cluster"),
        (2, "two", "cluster"),
    ] {
        let state = NewRuntimeState {
            instance: instance.into(),
            runtime: runtimes[n],
            operation: Uuid::nil(),
            holds: vec![word.into(), "both".into()],
            payload: b.clock.now().to_string().into_bytes(),
        };
        assert!(b.store.add_runtime_state(&state).await.unwrap());
        b.wait(1);
    }

    let found = b.store.latest_runtime_states(&runtimes[..2], "cluster").await.unwrap();

    let mut found: Vec<_> =
        found.into_iter().map(|it| (it.runtime, String::from_utf8(it.payload).unwrap())).collect();
    found.sort();
    let at = |second: u32| format!("2026-01-01T12:00:0{second}Z");
    assert_eq!(found, [(runtimes[0], at(1)), (runtimes[1], at(3))]);
    assert!(b.store.latest_runtime_states(&[], "cluster").await.unwrap().is_empty());
    assert!(b.store.latest_runtime_states(&runtimes, "%").await.unwrap().is_empty());
}
