//! Orders that are tried on a clock that is held: hours pass in a moment.
//!
//! What a reader would get wrong: all trials share one landscape and one provisioner, and have the same operation, so
//! the same keys. Each has a global account of its own, because keys count within one.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use base::Clock;
use broker::{
    Details,
    creations::Creations,
    operations::{
        Input, ProvisioningLimits, Systems,
        provisioning::{self, Provisioning, legacy},
    },
};
use engine::testing::{Scenario, Setting, TrialResult, try_out};
use serde_json::{Value, json};
use store::{
    BrokerStore,
    broker::NewInstance,
    testing::{Sort, Trials},
};

use crate::{
    orders::{OrderSpec, row},
    outside::{Outside, patient},
    view::View,
};

/// Orders, one after the other.
pub(crate) struct Trying {
    pub(crate) outside: Arc<Outside>,
    /// The order.
    pub(crate) wish: Box<dyn Fn(&str) -> OrderSpec<'static> + Send + Sync>,
    /// The details that are known already.
    pub(crate) data: Details,
    /// How long things may take.
    pub(crate) limits: ProvisioningLimits,
    /// Whether orders go the legacy way.
    pub(crate) legacy: bool,
    /// The details that a suspension has left in the row, for instances that return from one.
    pub(crate) suspended: Option<Details>,
    pub(crate) databases: Trials<BrokerStore>,
    count: AtomicUsize,
}

impl Trying {
    pub(crate) fn on(outside: impl Into<Arc<Outside>>, postgres: bool) -> Self {
        Self {
            outside: outside.into(),
            wish: Box::new(OrderSpec::aws),
            data: Details::default(),
            limits: patient(),
            legacy: false,
            suspended: None,
            databases: Trials::on(if postgres { Sort::Postgres } else { Sort::Sqlite }),
            count: AtomicUsize::new(0),
        }
    }

    /// Takes one order to its end.
    pub(crate) async fn once(&self) -> TrialResult {
        Box::pin(try_out(self, &self.databases, None)).await
    }
}

impl Scenario for Trying {
    type Operation = Provisioning;

    async fn fresh(&self, clock: &Clock) -> Setting<Provisioning> {
        let at = self.count.fetch_add(1, SeqCst);
        let order = (self.wish)(&format!("t{at}")).order(&self.outside.catalog);
        self.outside.introduce(&order.context.globalaccount_id);
        let (rows, _) = self.databases.fill(clock).await.open().await;
        let known = self.suspended.as_ref().map(|known| serde_json::to_vec(known).unwrap());
        rows.insert(&NewInstance { details: known, ..row(&order) }).await.unwrap();
        let mut env = if self.legacy {
            Box::pin(self.outside.older(clock)).await
        } else {
            Box::pin(self.outside.env(clock)).await
        };
        env.creations = Creations::new(rows.clone(), clock.clone());
        env.store = rows.clone();
        let limits = ProvisioningLimits { edp_required: true, ..self.limits };
        let plan = if self.legacy { legacy::plan } else { provisioning::plan };
        let view = View::of(&self.outside, &rows, &order);
        Setting {
            plan: plan(&limits, Systems::of(&env)),
            env: Arc::new(env),
            instance: order.instance_id.clone(),
            input: Input { order },
            data: self.data.clone(),
            world: Box::new(move || {
                let view = view.clone();
                Box::pin(async move { view.seen().await })
            }),
        }
    }

    fn stored(&self) -> Option<PathBuf> {
        let name = match (self.legacy, &self.suspended) {
            (true, _) => "legacy_order.json",
            (_, Some(_)) => "return.json",
            _ => "order.json",
        };
        Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/provisioning/expected").join(name))
    }

    fn survives(&self, step: &str) -> bool {
        // Once the runtime is ordered, the stage starts over and its first step only waits for it.
        self.legacy && step == "Create_Runtime"
    }

    fn comparable(&self, mut data: Value) -> Value {
        // Which it is differs from one order to the next; that there is one does not.
        for id in [
            "runtime_id",
            "target_operation_id",
            "target_secret",
            "sm_cluster_id",
            "kyma_name",
            "cluster_configuration_version",
            "cluster_configuration_at",
        ] {
            data[id] = json!(!data[id].is_null());
        }
        // The runtime's agent tells it to the Director when it has connected, before or after we look.
        data["dashboard_url"] = Value::Null;
        for (of, id) in [
            ("avs", "internal_id"),
            ("avs", "external_id"),
            ("lms", "tenant_id"),
            ("lms", "requested_at"),
        ] {
            data[of][id] = json!(!data[of][id].is_null());
        }
        data
    }
}
