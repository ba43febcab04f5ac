//! An orchestration over three runtimes, brought to where the driver of a trial begins.

use std::sync::Arc;

use base::Clock;
use broker::{
    instances::{Upgrade, UpgradeTarget},
    operations::orchestration::{Input, Orchestrating},
};
use domain::OperationId;
use engine::{
    Operation as _, State,
    storage::{NewOperation, Verdict},
};
use serde_json::{Value, json};
use store::{
    BrokerStore,
    broker::{MemberStart, NewMember, NewOrchestration, Resolution, StartResult},
    testing::ManualReplica,
};
use uuid::Uuid;

use super::operation::{UpgradeOperation, Upgrades};
use crate::{
    announcing::{announce, driver, member, new},
    generated::DRIVER,
    world::{World, parameters},
};

pub(super) const INSTANCES: [&str; 3] = ["i-0", "i-1", "i-2"];
const RESOLUTION: Resolution<'_> = Resolution {
    orchestration: Uuid::nil(),
    description: "Scheduled 3 operations",
    member_description: "Operation created",
};

/// The history of an orchestration over three runtimes before its driver begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    /// None. The first runtime is a canary, the second one fails, the third one is being removed.
    First,
    /// The second and the third one have failed and are tried again; the third one is being removed.
    Retried,
    /// The first one is being upgraded, and the orchestration was canceled.
    Canceled,
    /// None. One upgrade at a time takes six minutes, and the window of all of them closes after ten.
    InWindow,
}

/// One trial's orchestration.
pub(super) struct Fleet {
    pub(super) id: Uuid,
    pub(super) world: World,
    pub(super) store: BrokerStore,
    pub(super) upgrades: Arc<Upgrades>,
    /// The lane of its drivers.
    pub(super) lane: &'static str,
    pub(super) clock: Clock,
}

impl Fleet {
    /// Stores an orchestration with its first driver.
    async fn create(&self, strategy: &Value, driver: NewOperation, workers: i64) {
        let new = NewOrchestration { workers, ..new(self.id, &parameters(strategy)) };
        self.store.create_orchestration(&new, driver).await.unwrap();
    }

    fn driver(&self) -> NewOperation {
        NewOperation { lane: self.lane.into(), ..driver(self.id) }
    }

    /// Chooses all three runtimes.
    async fn choose(&self, driver: Uuid) -> Vec<NewMember> {
        let members = INSTANCES.map(member);
        let resolution = Resolution { orchestration: self.id, ..RESOLUTION };
        let chosen = self.store.resolve_orchestration(driver, &resolution, &members).await;
        assert!(chosen.unwrap());
        members.into()
    }

    async fn start(&self, member: &NewMember) {
        let change = Upgrade {
            orchestration: Some(self.id),
            dry_run: false,
            notify: false,
            target: UpgradeTarget::Kyma { version: None },
        };
        let id = OperationId::from(member.operation);
        let operation = self.world.broker.prepare_upgrade(&member.instance, id, change).await;
        let start = MemberStart {
            orchestration: self.id,
            description: "Operation accepted",
            announced: false,
        };
        let started = self.store.start_member(&start, operation.unwrap(), &|_| Verdict::Queue);
        assert_eq!(started.await.unwrap(), StartResult::Yes);
    }

    /// A replica that works by hand.
    fn hands(&self, kind: &'static str) -> ManualReplica {
        let (engine, clock) = (self.store.engine().clone(), self.clock.clone());
        ManualReplica { engine, clock, kind, topic: "instance" }
    }

    /// Two of three have failed, and the orchestration has ended with its first driver.
    async fn fail(&self) -> Vec<NewMember> {
        let first = NewOperation { id: Uuid::now_v7(), ..self.driver() };
        let first_id = first.id;
        self.create(&json!({ "type": "parallel" }), first, 3).await;
        let members = self.choose(first_id).await;
        let upgrades = self.hands(UpgradeOperation::KIND);
        let replica = upgrades.join().await;
        for member in &members {
            self.start(member).await;
            let held = upgrades.claim(replica, &member.instance).await;
            let mut commit = upgrades.ends(&held, Value::Null);
            if member.instance != "i-0" {
                commit.position.state = State::Failed;
            }
            upgrades.commit(replica, commit).await;
            let mut ended = self.upgrades.ended.lock().unwrap();
            ended.entry(member.instance.clone()).or_default().insert(held.id);
        }
        assert!(self.store.finish_orchestration(self.id, first_id, "failed").await.unwrap());
        let drivers = self.hands(Orchestrating::KIND);
        drivers.end(drivers.join().await, self.id, Value::Null).await;
        members
    }

    async fn retry(&self, failed: &[NewMember]) {
        let again = failed.iter().map(|it| (it.operation, member(&it.instance)));
        let resolution = Resolution {
            orchestration: self.id,
            description: ", retried 2 operations",
            member_description: "Operation retry triggered",
        };
        let retry = Input { orchestration: self.id, retry: true };
        let driver = NewOperation { input: serde_json::to_vec(&retry).unwrap(), ..self.driver() };
        let again: Vec<_> = again.collect();
        let retried = self.store.retry_orchestration(driver, &resolution, &[], &again).await;
        assert!(retried.unwrap());
    }

    /// Brings the orchestration to where the driver of the trial begins.
    pub(super) async fn prepare(&self, course: Course) {
        match course {
            Course::First => {
                self.world.remove("i-2").await;
                self.create(&json!({ "type": "parallel", "canary": 1 }), self.driver(), 2).await;
            }
            Course::Retried => {
                let members = self.fail().await;
                self.world.remove("i-2").await;
                self.retry(&members[1..]).await;
            }
            Course::Canceled => {
                self.create(&json!({ "type": "parallel" }), self.driver(), 2).await;
                let members = self.choose(DRIVER).await;
                let spc = self.world.orchestrations.parts().spc.as_ref().unwrap();
                announce(spc, self.id, self.clock.now()).await;
                self.start(&members[0]).await;
                assert!(self.store.cancel_orchestration(self.id, "canceled").await.unwrap());
            }
            Course::InWindow => {
                // Closed for ten minutes of each day; trials begin at noon.
                let times = json!({ "timeBegin": "122000+0000", "timeEnd": "121000+0000" });
                self.world.windows(&json!({ "default": times }));
                let strategy = json!({ "type": "parallel", "maintenanceWindow": true });
                self.create(&strategy, self.driver(), 1).await;
            }
        }
    }
}
