//! Instances whose operations have ended otherwise than well: they sleep, or something has failed.

use base::Failure;
use broker::instances::{Broker, Caller, Deprovision, Update};
use engine::{State, storage::HeldOperation};
use serde_json::{Value, json};
use store::{broker::Instance, testing::ManualReplica};
use uuid::Uuid;

use crate::world::{AWS, SERVICE, TRIAL, World, end, order, run_step};

impl World {
    /// An instance that was made two days ago and suspended a day ago; the removal of its cluster has left the things of these steps.
    pub(crate) async fn suspended(&self, instance: &str, left: &[&str]) -> Instance {
        let before = self.days_ago(2);
        order(&before, instance, TRIAL, &format!("sa-{instance}")).await;
        let runtime = json!({ "runtime_id": Uuid::now_v7() });
        end(&before, "provision", instance, runtime).await;
        let broker = self.days_ago(1);
        broker.update(&Caller::default(), suspension(instance)).await.unwrap();
        let commit = |hands: &ManualReplica, held: &HeldOperation| {
            let mut commit = hands.ends(held, Value::Null);
            commit.position.incomplete = left.iter().map(ToString::to_string).collect();
            commit
        };
        run_step(&broker, "deprovision", instance, &commit).await;
        self.store.find(instance).await.unwrap().unwrap()
    }

    /// An instance with a runtime that was ordered two days ago and could not be made.
    pub(crate) async fn not_made(&self, instance: &str) {
        let broker = self.days_ago(2);
        order(&broker, instance, AWS, "sa-1").await;
        let runtime = json!({ "runtime_id": Uuid::now_v7() });
        fail(&broker, "provision", instance, runtime).await;
    }

    /// An instance with a runtime that could not be changed a day ago.
    pub(crate) async fn not_updated(&self, instance: &str) {
        self.made(2, instance, Some(Uuid::now_v7())).await;
        let broker = self.days_ago(1);
        let change = Update {
            instance_id: instance.into(),
            service_id: SERVICE.into(),
            parameters: Some(json!({ "autoScalerMax": 9 })),
            accepts_incomplete: true,
            ..Update::default()
        };
        broker.update(&Caller::default(), change).await.unwrap();
        fail(&broker, "update", instance, Value::Null).await;
    }

    /// An instance with a runtime whose removal failed a day ago.
    pub(crate) async fn not_removed(&self, instance: &str) {
        self.made(2, instance, Some(Uuid::now_v7())).await;
        let broker = self.days_ago(1);
        let request = Deprovision {
            instance_id: instance.into(),
            service_id: SERVICE.into(),
            plan_id: AWS.into(),
            accepts_incomplete: true,
        };
        broker.deprovision(&Caller::default(), request).await.unwrap();
        fail(&broker, "deprovision", instance, Value::Null).await;
    }
}

/// The request that suspends an instance.
pub(crate) fn suspension(instance: &str) -> Update {
    Update {
        instance_id: instance.into(),
        service_id: SERVICE.into(),
        context: Some(json!({ "active": false })),
        accepts_incomplete: true,
        ..Update::default()
    }
}

/// Lets the unfinished operation of an instance fail, with this change of its row.
async fn fail(broker: &Broker, kind: &'static str, instance: &str, change: Value) {
    let commit = |hands: &ManualReplica, held: &HeldOperation| {
        let mut commit = hands.ends(held, change.clone());
        commit.position.state = State::Failed;
        commit.position.step = Some("Ask".into());
        commit.position.failure = Some(Failure::new("provisioner", "refused", "no quota"));
        commit
    };
    run_step(broker, kind, instance, &commit).await;
}
