//! Runtimes that work, and orchestrations that have ended.
//!
//! What a reader would get wrong: nothing works here. Runtimes and the ends of their upgrades are stored by hand, so that every state
//! can be shown to a client.

use std::time::Duration;

use engine::{
    State, Storage as _,
    storage::{AfterCommit, Change, ClaimRequest, Commit, Verdict},
};
use serde_json::{Value, json};
use store::broker::{MemberStart, NewMember, Resolution, StartResult};
use uuid::Uuid;

use crate::{Service, body};

/// The known client asks for so many at a time.
const PAGE: usize = 100;

impl Service {
    /// Runtimes `i-0`, `i-1` and so on that work.
    pub(crate) async fn made(&self, number: usize) {
        for n in 0..number {
            self.order(&format!("i-{n}")).await;
        }
        self.end_all("provision", number, |_| State::Succeeded).await;
    }

    /// Ends the operations of a kind that wait, each in a state that its instance is given.
    async fn end_all(&self, kind: &str, number: usize, state: impl Fn(&str) -> State) {
        let operations = &self.broker.parts().operations;
        let joined = operations.join("hand", Duration::from_secs(60)).await.unwrap();
        let kinds = [(kind.to_owned(), 1)];
        let mut left = number;
        while left > 0 {
            let ask = ClaimRequest {
                replica: joined.replica,
                kinds: &kinds,
                room: 1_000,
                crowded: &[],
                after_lane: "",
            };
            let claimed = operations.claim(&ask).await.unwrap().operations;
            left -= claimed.len();
            let now = self.clock.now();
            let commits = claimed.into_iter().map(|mut held| {
                held.position.state = state(&held.instance);
                held.position.started_at = Some(now);
                held.position.ended_at = Some(now);
                let made = Change {
                    topic: "instance".into(),
                    body: json!({ "runtime_id": Uuid::now_v7() }),
                };
                Commit {
                    id: held.id,
                    epoch: held.epoch,
                    serial: held.serial,
                    position: held.position,
                    then: AfterCommit::End,
                    run: None,
                    data: None,
                    data_version: 1,
                    changes: if kind == "provision" { vec![made] } else { vec![] },
                }
            });
            let commits: Vec<Commit> = commits.collect();
            operations.commit(joined.replica, &commits).await.unwrap();
        }
        operations.leave(joined.replica).await.unwrap();
    }

    /// Begins an upgrade of all runtimes whose operations have all ended: those fail that `failing` names.
    pub(crate) async fn upgraded(&self, number: usize, failing: impl Fn(usize) -> bool) -> String {
        let wish = body("now", 1_000, Some(json!({ "version": "2.11.0" })));
        let (status, created) = self.post("/upgrade/kyma", &wish).await;
        assert_eq!(status, 202, "{created}");
        let id = created["orchestrationID"].as_str().unwrap().to_owned();
        let store = &self.broker.parts().store;
        let row = store.orchestration(id.parse().unwrap()).await.unwrap().unwrap();
        let resolution = Resolution {
            orchestration: row.id,
            description: "Scheduled",
            member_description: "Operation created",
        };
        let members: Vec<NewMember> = (0..number).map(member).collect();
        assert!(store.resolve_orchestration(row.driver, &resolution, &members).await.unwrap());
        for member in &members {
            let operation = engine::storage::NewOperation {
                id: member.operation,
                instance: member.instance.clone(),
                kind: "upgradeKyma".into(),
                data_version: 1,
                lane: "account".into(),
                input: b"{}".to_vec(),
                data: b"{}".to_vec(),
                digest: None,
            };
            let queue = |_: &[_]| Verdict::Queue;
            let start = MemberStart {
                orchestration: row.id,
                description: "Operation accepted",
                announced: false,
            };
            let started = store.start_member(&start, operation, &queue).await;
            assert_eq!(started.unwrap(), StartResult::Yes);
        }
        let fails = |instance: &str| failing(instance.trim_start_matches("i-").parse().unwrap());
        let state = |it: &str| if fails(it) { State::Failed } else { State::Succeeded };
        self.end_all("upgradeKyma", number, state).await;
        let ended = if (0..number).any(&failing) { "failed" } else { "succeeded" };
        assert!(store.finish_orchestration(row.id, row.driver, ended).await.unwrap());
        id
    }

    /// Reads a list as the client does: page by page, until as many have come as there are.
    pub(crate) async fn read_list(&self, path: &str, first: &str, others: &str) -> Vec<Value> {
        let mut all = Vec::new();
        for page in 1..20 {
            let states = if page == 1 { first } else { others };
            let query = format!("page={page}&page_size={PAGE}{states}");
            let (status, answer) = self.get(&format!("{path}?{query}")).await;
            assert_eq!(status, 200, "{answer}");
            let data = answer["data"].as_array().unwrap();
            assert_eq!(answer["count"], data.len());
            all.extend(data.iter().cloned());
            // The total is that of the newest answer, which was asked for other states than the first.
            if answer["totalCount"].as_u64().unwrap() <= all.len() as u64 {
                return all;
            }
        }
        panic!("the client asks for ever: {} of {path} have come", all.len());
    }
}

fn member(n: usize) -> NewMember {
    NewMember {
        operation: Uuid::now_v7(),
        wave: 1,
        instance: format!("i-{n}"),
        runtime_id: Uuid::now_v7(),
        shoot_name: format!("c-{n:07}"),
        global_account: "ga-1".into(),
        subaccount: "sa-1".into(),
        plan_id: "361c511f-f939-4621-b228-d0fb79a1fe15".into(),
        plan_name: "aws".into(),
        window_rule: None,
        window_begin: None,
        window_end: None,
    }
}
