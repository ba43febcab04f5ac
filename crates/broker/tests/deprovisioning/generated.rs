//! The generated tests of the plan: each step twice, a crash at every point, every answer lost, each step failing for
//! good; all of it on the embedded database, a sample on PostgreSQL.
//!
//! What a reader would get wrong: all trials of a test share one landscape, each with an instance of its own.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use base::Clock;
use broker::operations::{
    Env, Systems,
    deprovisioning::{Data, Deprovisioning, DeprovisioningLimits, Input, legacy, plan},
};
use engine::testing::{Part, Scenario, Setting, TrialResult, prove_part, prove_some, try_out};
use serde_json::{Value, json};
use store::{
    BrokerStore,
    testing::{Sort, Trials},
};

use crate::{
    furnishing::{FurnishedInstance, FurnishedParts, there},
    landscape::Landscape,
    legacy::PARTS,
    rows::row,
};

/// The plan, tried with an instance as a removal finds it.
pub(crate) struct Trying {
    pub(crate) landscape: Landscape,
    databases: Trials<BrokerStore>,
    count: AtomicUsize,
    parts: FurnishedParts,
    /// Whether removals go the legacy way, with event hubs to remove.
    legacy: bool,
    /// Whether the instances are to come back.
    temporary: bool,
    /// Clients of the test's own: a system that failed is not left alone by them.
    eyes: Arc<Env>,
}

impl Trying {
    pub(crate) async fn new(parts: FurnishedParts, postgres: bool) -> Self {
        let landscape = Landscape::start().await;
        let eyes = Arc::new(landscape.env_without_rows(&landscape.clock).await);
        let sort = if postgres { Sort::Postgres } else { Sort::Sqlite };
        Self {
            landscape,
            eyes,
            databases: Trials::on(sort),
            count: AtomicUsize::new(0),
            parts,
            legacy: false,
            temporary: false,
        }
    }

    /// Suspensions.
    async fn suspending(postgres: bool) -> Self {
        Self { temporary: true, ..Self::new(FurnishedParts::ALL, postgres).await }
    }

    /// By the legacy plan.
    pub(crate) async fn older(postgres: bool) -> Self {
        Self { legacy: true, ..Self::new(PARTS, postgres).await }
    }

    /// Takes one removal to its end.
    pub(crate) async fn once(&self) -> TrialResult {
        Box::pin(try_out(self, &self.databases, None)).await
    }
}

impl Scenario for Trying {
    type Operation = Deprovisioning;

    async fn fresh(&self, clock: &Clock) -> Setting<Deprovisioning> {
        let at = self.count.fetch_add(1, SeqCst);
        let (rows, _) = self.databases.fill(clock).await.open().await;
        let eyes = self.eyes.clone();
        let env = Arc::new(self.landscape.env(rows.clone(), clock).await);
        if self.temporary {
            // The instances before keep theirs.
            self.landscape.free_accounts(&eyes, "tenantName").await;
        }
        let furnished = self.landscape.furnish(&eyes, at, self.parts).await;
        let FurnishedInstance { order, details } = &furnished;
        let mut azure = None;
        if self.legacy {
            azure = Some(self.landscape.furnish_event_hubs(&eyes, order).await.1);
        }
        rows.insert(&row(order, Some(details))).await.unwrap();
        let temporary = self.temporary;
        let input = Input { order: order.clone(), user_agent: None, temporary };
        let instance = order.instance_id.clone();
        let plan = if self.legacy { legacy::plan } else { plan };
        let rest = self.landscape.running.clusters().rest();
        Setting {
            plan: plan(&DeprovisioningLimits::default(), Systems::of(&env)),
            env,
            instance,
            input,
            data: Data::default(),
            world: Box::new(move || {
                let (eyes, furnished, azure) = (eyes.clone(), furnished.clone(), azure.clone());
                let (rest, rows) = (rest.clone(), rows.clone());
                Box::pin(async move {
                    // What the removal left is compared, not what Gardener is still removing.
                    rest.reached(&furnished.order.shoot_name).await;
                    let mut all = Vec::new();
                    if let Some(azure) = azure {
                        // Accounts that were given back are claimed again, with what an earlier trial left there.
                        let id = &furnished.order.instance_id;
                        let groups = azure.groups_tagged("InstanceID", id).await.unwrap();
                        all.extend(groups.iter().map(|_| "resource group".to_owned()));
                    }
                    // The row is the last of them.
                    all.extend(there(&eyes, &rows, &furnished).await);
                    json!(all)
                })
            }),
        }
    }

    fn stored(&self) -> Option<PathBuf> {
        let name = match (self.legacy, self.temporary) {
            (true, _) => "legacy_removal.json",
            (_, true) => "suspension.json",
            _ => "removal.json",
        };
        Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deprovisioning/expected").join(name))
    }

    fn survives(&self, step: &str) -> bool {
        // Once the removal is ordered, the stage starts over and its first step only waits for it.
        self.legacy && step == "Remove_Runtime"
    }

    fn comparable(&self, mut data: Value) -> Value {
        // Ids differ between instances, and times and numbers of calls with the crashes before them.
        let ids = ["runtime_id", "kyma_name", "target_secret", "reconciler_deregistration_at"];
        for id in ids {
            data["details"][id] = json!(data["details"][id].is_string());
        }
        for id in ["internal_id", "external_id"] {
            data["details"]["avs"][id] = json!(data["details"]["avs"][id].is_number());
        }
        data["removals"] = json!(data["removals"].as_array().is_some_and(|all| !all.is_empty()));
        data["services_going_since"] = json!(data["services_going_since"].is_string());
        data
    }
}

/// Everything was removed, by every step.
fn is_gone(tried: &TrialResult) {
    assert_eq!(tried.end.state, engine::State::Succeeded, "{:#?}", tried.journal);
    assert_eq!(tried.end.incomplete, Vec::<String>::new(), "{:#?}", tried.journal);
    assert_eq!(tried.end.world, json!([]));
    assert_eq!(tried.end.data["left"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_a_create_makes_is_gone_in_the_end() {
    let trying = Trying::new(FurnishedParts::ALL, false).await;

    let tried = trying.once().await;

    is_gone(&tried);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_the_older_documents_make_is_gone_in_the_end() {
    let trying = Trying::older(false).await;

    let tried = trying.once().await;

    is_gone(&tried);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_removes_everything_but_the_account_and_the_row() {
    let trying = Trying::suspending(false).await;

    let tried = trying.once().await;

    assert_eq!(tried.end.state, engine::State::Succeeded, "{:#?}", tried.journal);
    assert_eq!(tried.end.incomplete, Vec::<String>::new(), "{:#?}", tried.journal);
    assert_eq!(tried.end.world, json!(["account", "row"]));
    assert_eq!(tried.end.data["details"]["runtime_id"], json!(false));
}

/// One part of the proof for a suspension, on the embedded database.
async fn suspends_the_same_way(part: usize, of: usize) {
    let trying = Trying::suspending(false).await;

    let Part { tried, whole } = Box::pin(prove_part(&trying, &trying.databases, part, of)).await;

    assert!(tried.trials > 0 && whole.crashes > 60 && whole.lost_answers > 8, "{whole:?}");
}

engine::proven_in_parts!(suspends_the_same_way:
    a_suspension_ends_the_same_way_whatever_happens_on_sqlite_in_the_first_half
    a_suspension_ends_the_same_way_whatever_happens_on_sqlite_in_the_second_half
);

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_ends_the_same_way_whatever_happens_on_postgres() {
    let trying = Trying::suspending(true).await;

    let proof = Box::pin(prove_some(&trying, &trying.databases, 17)).await;

    assert!(proof.trials > 5, "{proof:?}");
}

/// One part of the proof, on the embedded database.
async fn ends_the_same_way(part: usize, of: usize) {
    let trying = Trying::new(FurnishedParts::ALL, false).await;

    let Part { tried, whole } = Box::pin(prove_part(&trying, &trying.databases, part, of)).await;

    assert!(tried.trials > 0 && whole.crashes > 60 && whole.lost_answers > 8, "{whole:?}");
}

engine::proven_in_parts!(ends_the_same_way:
    it_ends_the_same_way_whatever_happens_on_sqlite_in_the_first_half
    it_ends_the_same_way_whatever_happens_on_sqlite_in_the_second_half
);

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_the_same_way_whatever_happens_on_postgres() {
    let trying = Trying::new(FurnishedParts::ALL, true).await;

    let proof = Box::pin(prove_some(&trying, &trying.databases, 17)).await;

    assert!(proof.trials > 5, "{proof:?}");
}

/// One part of the proof for the legacy plan, on the embedded database.
async fn ends_the_same_way_as_of_old(part: usize, of: usize) {
    let trying = Trying::older(false).await;

    let Part { tried, whole } = Box::pin(prove_part(&trying, &trying.databases, part, of)).await;

    assert!(tried.trials > 0 && whole.crashes > 40 && whole.lost_answers > 5, "{whole:?}");
}

engine::proven_in_parts!(ends_the_same_way_as_of_old:
    the_plan_of_the_older_documents_ends_the_same_way_whatever_happens_on_sqlite_in_the_first_half
    the_plan_of_the_older_documents_ends_the_same_way_whatever_happens_on_sqlite_in_the_second_half
);

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_of_the_older_documents_ends_the_same_way_whatever_happens_on_postgres() {
    let trying = Trying::older(true).await;

    let proof = Box::pin(prove_some(&trying, &trying.databases, 17)).await;

    assert!(proof.trials > 3, "{proof:?}");
}
