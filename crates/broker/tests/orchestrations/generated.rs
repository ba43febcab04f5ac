//! The generated tests of the driver's plan: each step twice, a crash at every point; the end must be the same.
//!
//! What a reader would get wrong: only the driver is served, so no upgrade would end. The runtimes are all being removed, and the
//! driver has to find that out for each of them. All are canaries: behind canaries that were all canceled it would pause. A trial
//! claims one operation at a time, lane by lane: the accounts of the runtimes sort behind the lane of the driver.

use base::Clock;
use broker::operations::{
    Systems,
    orchestration::{self, Data, Input, Orchestrating},
};
use domain::orchestration::Kind;
use engine::{
    Operation as _, State,
    storage::NewOperation,
    testing::{Scenario, Setting, prove, prove_some, try_out},
};
use serde_json::{Value, json};
use store::{
    BrokerStore,
    broker::{MemberFilter, NewOrchestration},
    testing::{Sort, Trials},
};
use uuid::Uuid;

use crate::world::{World, parameters};

/// The operation of every trial.
pub(crate) const DRIVER: Uuid = Uuid::from_u128(0x6b63_7000_0000_4000_8000_0000_0000_0001);
const ORCHESTRATION: Uuid = Uuid::from_u128(7);

struct Driving(Trials<BrokerStore>);

impl Scenario for Driving {
    type Operation = Orchestrating;

    async fn fresh(&self, clock: &Clock) -> Setting<Orchestrating> {
        let (store, operations) = self.0.fill(clock).await.open().await;
        let world = World::of(store.clone(), operations, clock.clone(), None);
        world.made(3).await;
        for instance in ["i-0", "i-1", "i-2"] {
            world.remove(instance).await;
        }
        let input = Input { orchestration: ORCHESTRATION, retry: false };
        let asked = parameters(&json!({ "type": "parallel", "canary": 3 }));
        let new = NewOrchestration {
            id: ORCHESTRATION,
            kind: Kind::UpgradeKyma.as_str().into(),
            description: "queued for processing".into(),
            parameters: serde_json::to_string(&asked).unwrap(),
            workers: 2,
        };
        let driver = NewOperation {
            id: DRIVER,
            instance: ORCHESTRATION.to_string(),
            kind: Orchestrating::KIND.into(),
            data_version: Orchestrating::VERSION,
            lane: "tenant".into(),
            input: serde_json::to_vec(&input).unwrap(),
            data: b"{}".to_vec(),
            digest: None,
        };
        store.create_orchestration(&new, driver).await.unwrap();
        Setting {
            plan: orchestration::plan(Systems::NONE),
            env: world.orchestrations.parts().clone(),
            instance: ORCHESTRATION.to_string(),
            input,
            data: Data::default(),
            world: Box::new(move || {
                let store = store.clone();
                Box::pin(async move {
                    let row = store.orchestration(ORCHESTRATION).await.unwrap().unwrap();
                    let filter = MemberFilter {
                        orchestration: ORCHESTRATION,
                        states: vec![],
                        current: false,
                        skip: 0,
                        most: 100,
                    };
                    let members = store.members(&filter).await.unwrap().members;
                    let members: Vec<_> =
                        members.iter().map(|it| json!([it.instance, it.state, it.wave])).collect();
                    json!({ "state": row.state, "description": row.description, "members": members })
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

#[tokio::test(flavor = "multi_thread")]
async fn the_driver_leaves_out_what_is_being_removed() {
    let driving = Driving(Trials::on(Sort::Sqlite));

    let tried = Box::pin(try_out(&driving, &driving.0, None)).await;

    assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
    assert_eq!(
        tried.end.world,
        json!({
            "state": "succeeded",
            "description": "Scheduled 3 operations",
            "members": [["i-0", "canceled", 0], ["i-1", "canceled", 0], ["i-2", "canceled", 0]],
        })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_driver_ends_the_same_way_whatever_happens_on_sqlite() {
    let driving = Driving(Trials::on(Sort::Sqlite));

    let proof = Box::pin(prove(&driving, &driving.0)).await;

    assert!(proof.crashes > 5, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_driver_ends_the_same_way_whatever_happens_on_postgres() {
    let driving = Driving(Trials::on(Sort::Postgres));

    let proof = Box::pin(prove_some(&driving, &driving.0, 3)).await;

    assert!(proof.trials > 2, "{proof:?}");
}
