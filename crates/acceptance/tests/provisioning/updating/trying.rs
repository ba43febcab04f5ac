//! Changes that are tried on a clock that is held, each of a runtime of its own that was made before.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use base::Clock;
use broker::{
    Order,
    operations::{
        Env, Systems,
        update::{self, Data, UpdateLimits, Updating},
    },
};
use engine::testing::{Scenario, Setting, TrialResult, try_out};
use serde_json::{Value, json};
use store::{
    BrokerStore,
    broker::NewRuntimeState,
    testing::{Sort, Trials},
};
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::{change_of_everything, to_azure};
use crate::{
    orders::{OrderSpec, row},
    outside::Outside,
    test_broker::{Broker, EndedOperation},
};

/// Changes, one after the other.
pub(crate) struct Trying {
    pub(crate) outside: Arc<Outside>,
    pub(crate) limits: UpdateLimits,
    pub(crate) databases: Trials<BrokerStore>,
    /// Makes the runtimes.
    maker: OnceCell<Broker>,
    /// Whether the changes are of the plan, or of nearly everything else.
    changes_plan: bool,
    /// A runtime that was made ahead.
    ahead: Mutex<Option<EndedOperation>>,
    count: AtomicUsize,
}

impl Trying {
    pub(crate) fn on(outside: Outside, postgres: bool) -> Self {
        Self {
            outside: Arc::new(outside),
            limits: UpdateLimits::default(),
            databases: Trials::on(if postgres { Sort::Postgres } else { Sort::Sqlite }),
            maker: OnceCell::new(),
            changes_plan: false,
            ahead: Mutex::new(None),
            count: AtomicUsize::new(0),
        }
    }

    /// The same with changes of the plan.
    pub(crate) fn of_plans(outside: Outside, postgres: bool) -> Self {
        Self { changes_plan: true, ..Self::on(outside, postgres) }
    }

    /// Takes one change to its end.
    pub(crate) async fn once(&self) -> TrialResult {
        Box::pin(try_out(self, &self.databases, None)).await
    }

    /// Makes the runtime of the next change, before there is any trouble.
    pub(crate) async fn make_ahead(&self) {
        let (_, made) = Box::pin(self.made()).await;
        *self.ahead.lock().unwrap() = Some(made);
    }

    /// A runtime, and the broker that made it.
    pub(crate) async fn made(&self) -> (&Broker, EndedOperation) {
        let maker = self.maker.get_or_init(|| Box::pin(Broker::start(&self.outside))).await;
        if let Some(made) = self.ahead.lock().unwrap().take() {
            return (maker, made);
        }
        let mark = format!("u{}", self.count.fetch_add(1, SeqCst));
        let wish = if self.changes_plan { azure_lite(&mark) } else { OrderSpec::aws(&mark) };
        let made = Box::pin(maker.provision(&self.outside, &wish)).await.succeeded();
        (maker, made)
    }

    /// Writes what is stored about an instance into another database.
    pub(crate) async fn copy(&self, rows: &BrokerStore, maker: &Broker, made: &EndedOperation) {
        let mut new = row(&made.order);
        new.details = Some(serde_json::to_vec(&made.details).unwrap());
        rows.insert(&new).await.unwrap();
        let runtime = made.details.runtime_id.unwrap();
        for holding in ["cluster-config", "cluster-setup"] {
            let state = maker.store.latest_runtime_state(runtime, Some(holding)).await;
            let state = state.unwrap().unwrap();
            let state = NewRuntimeState {
                instance: made.order.instance_id.clone(),
                runtime,
                operation: state.operation,
                holds: state.holds,
                payload: state.payload,
            };
            assert!(rows.add_runtime_state(&state).await.unwrap());
        }
    }
}

impl Scenario for Trying {
    type Operation = Updating;

    async fn fresh(&self, clock: &Clock) -> Setting<Updating> {
        let (maker, made) = Box::pin(self.made()).await;
        let (rows, _) = self.databases.fill(clock).await.open().await;
        self.copy(&rows, maker, &made).await;
        let env = Box::pin(self.outside.env(clock)).await;
        let env = Arc::new(Env { store: rows.clone(), ..env });
        let order = made.order.clone();
        let input = if self.changes_plan {
            to_azure(&self.outside, order)
        } else {
            change_of_everything(order)
        };
        let view = View { outside: self.outside.clone(), rows, made };
        Setting {
            plan: update::plan(&self.limits, Systems::of(&env)),
            env,
            instance: view.made.order.instance_id.clone(),
            input,
            data: Data::default(),
            world: Box::new(move || {
                let view = view.clone();
                Box::pin(async move { view.seen().await })
            }),
        }
    }

    fn stored(&self) -> Option<PathBuf> {
        let name = if self.changes_plan { "update_plan.json" } else { "update.json" };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/provisioning/expected");
        Some(folder.join(name))
    }

    fn comparable(&self, mut data: Value) -> Value {
        // What belongs to the one instance is not compared; that it is there is.
        let order = &data["order"];
        data["order"] = json!({
            "parameters": order["parameters"],
            "administrators": order["resolved"]["administrators"],
            "unfiltered": order["resolved"]["networkFilterDisabled"],
        });
        data["ordered_by"] = json!(data["ordered_by"].is_string());
        let details = &data["details"];
        data["details"] = json!({
            "runtime": details["runtime_id"].is_string(),
            "operation": details["target_operation_id"].is_string(),
            "configuration": details["cluster_configuration_version"].is_number(),
            "version": details["runtime_version"]["version"],
        });
        data
    }
}

/// The world after a change.
#[derive(Clone)]
pub(crate) struct View {
    outside: Arc<Outside>,
    rows: BrokerStore,
    made: EndedOperation,
}

impl View {
    /// The row, the Shoot and the Reconciler, without ids.
    async fn seen(&self) -> Value {
        let order = &self.made.order;
        self.outside.running.clusters().rest().reached(&order.shoot_name).await;
        let row = self.rows.find(&order.instance_id).await.unwrap().unwrap();
        let stored: Value = serde_json::from_slice(&row.order).unwrap();
        let runtime: Uuid = self.made.details.runtime_id.unwrap();
        let config = self.rows.latest_runtime_state(runtime, Some("cluster-config")).await;
        let config: Value = serde_json::from_slice(&config.unwrap().unwrap().payload).unwrap();
        let config = &config["clusterConfig"];
        json!({
            "parameters": stored["parameters"],
            "licence": stored["context"]["license_type"],
            "clusterConfig": [
                config["gardenerConfig"]["machineType"],
                config["gardenerConfig"]["autoScalerMax"],
                config["administrators"],
            ],
            "shoot": shoot(&self.outside, &order.shoot_name),
            "operator": operator(&self.outside, &runtime.to_string()),
            "plan": [row.plan_name, plan_seen(&self.outside, order, &runtime.to_string())],
        })
    }
}

/// An order of the plan that can change to azure.
pub(crate) fn azure_lite(mark: &str) -> OrderSpec<'static> {
    OrderSpec {
        plan: "azure_lite",
        region: "cf-eu20",
        parameters: json!({"name": "Small", "region": "westeurope"}),
        mark: mark.into(),
        account: None,
    }
}

/// The plan as the Reconciler, with the profile that follows from it, EDP and the Kyma resource have it.
pub(crate) fn plan_seen(outside: &Outside, order: &Order, runtime: &str) -> Value {
    let reconciled = outside.objects("reconciler").into_iter().find(|it| it.id == runtime).unwrap();
    let subaccount = order.context.subaccount_id.to_lowercase();
    let tenants = outside.objects("edp").into_iter();
    let tenant = tenants.map(|it| format!("{} {}", it.id, it.value));
    let tenant = tenant.into_iter().find(|it| it.contains(&subaccount)).unwrap();
    // As EDP calls azure_lite, and the others.
    let billed = ["tdd", "standard"].into_iter();
    let billed: Vec<_> = billed.filter(|plan| tenant.contains(&format!("\"{plan}\""))).collect();
    let kymas = outside.running.clusters().server().list("kcp", "kymas.operator.kyma-project.io");
    let kyma = kymas.iter().find(|it| it["metadata"]["name"] == runtime).unwrap();
    json!([
        reconciled.value["metadata"]["servicePlanName"],
        reconciled.value["kyma"]["profile"],
        billed,
        kyma["metadata"]["labels"]["kyma-project.io/broker-plan-name"],
    ])
}

/// The workers of a Shoot.
pub(crate) fn shoot(outside: &Outside, name: &str) -> Value {
    let shoots = outside.running.clusters().server().list("garden", "shoots.core.gardener.cloud");
    let shoot = shoots.iter().find(|it| it["metadata"]["name"] == *name).unwrap();
    let worker = &shoot["spec"]["provider"]["workers"][0];
    json!([worker["machine"]["type"], worker["minimum"], worker["maximum"]])
}

/// Where the BTP operator gets its tokens, as the Reconciler was told.
pub(crate) fn operator(outside: &Outside, runtime: &str) -> Value {
    let all = outside.objects("reconciler");
    let found = all.into_iter().find(|object| object.id == runtime).unwrap();
    let components = found.value["kyma"]["components"].as_array().unwrap().clone();
    let operator = components.into_iter().find(|it| it["component"] == "btp-operator").unwrap();
    let settings = operator["configuration"].as_array().unwrap().clone();
    let client = settings.into_iter().find(|it| it["key"] == "manager.secret.tokenurl");
    client.map_or(Value::Null, |client| client["value"].clone())
}
