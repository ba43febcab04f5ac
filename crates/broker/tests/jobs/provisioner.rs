//! A provisioner on a socket, as far as jobs ask it: it takes orders to remove runtimes, and tells their kubeconfigs. Its calls stand in
//! the landscape's ledger and meet its trouble.
//!
//! What a reader would get wrong: an order is noted and not carried out, so that a Shoot that goes was deleted by the job.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use axum::{Json, Router, extract::State, http::HeaderMap, routing::post};
use base::Clock;
use serde_json::{Value, json};
use simulators::{
    testing::Running,
    trouble::{
        around,
        wire::{Line, Wires},
    },
};
use tokio::{net::TcpListener, task::JoinHandle};

#[derive(Default)]
struct Runtimes {
    /// Tenant and kubeconfig, by the runtime's id.
    known: BTreeMap<String, (String, String)>,
    removals: Vec<String>,
}

type Shared = Arc<Mutex<Runtimes>>;

pub(crate) struct SimulatedProvisioner {
    pub(crate) url: String,
    runtimes: Shared,
    serving: JoinHandle<()>,
}

impl SimulatedProvisioner {
    pub(crate) async fn start(running: &Running, clock: &Clock) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/graphql", listener.local_addr().unwrap());
        let runtimes = Shared::default();
        let routes = Router::new().route("/graphql", post(answer)).with_state(runtimes.clone());
        let (ledger, troubles) = (running.landscape.ledger(), running.landscape.troubles());
        let routes = around(routes, "provisioner", ledger.clone(), troubles.clone(), clock.clone());
        let routes = routes.into_make_service_with_connect_info::<Line>();
        let wires = Wires::new(listener);
        let serving = tokio::spawn(async move { axum::serve(wires, routes).await.unwrap() });
        Self { url, runtimes, serving }
    }

    /// A runtime that it has made.
    pub(crate) fn add(&self, runtime: &str, tenant: &str, kubeconfig: &str) {
        let value = (tenant.to_owned(), kubeconfig.to_owned());
        lock(&self.runtimes).known.insert(runtime.to_owned(), value);
    }

    /// The runtimes whose removal was ordered.
    pub(crate) fn removals(&self) -> Vec<String> {
        lock(&self.runtimes).removals.clone()
    }
}

impl Drop for SimulatedProvisioner {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn lock(runtimes: &Shared) -> MutexGuard<'_, Runtimes> {
    runtimes.lock().unwrap()
}

async fn answer(
    State(runtimes): State<Shared>,
    headers: HeaderMap,
    Json(asked): Json<Value>,
) -> Json<Value> {
    let query = asked["query"].as_str().unwrap_or_default();
    let id = asked["variables"]["id"].as_str().unwrap_or_default();
    let tenant = headers.get("tenant").and_then(|value| value.to_str().ok());
    let mut runtimes = lock(&runtimes);
    let known = runtimes.known.get(id).filter(|(owner, _)| Some(owner.as_str()) == tenant);
    let Some((_, kubeconfig)) = known.cloned() else {
        return Json(json!({"data": null, "errors": [{
            "message": "there is no such runtime",
            "extensions": {"error_code": 2, "error_reason": "err_db_not_found", "error_component": "test"},
        }]}));
    };
    if query.contains("deprovisionRuntime") {
        runtimes.removals.push(id.to_owned());
        return Json(json!({"data": {"result": format!("removal-of-{id}")}}));
    }
    Json(json!({"data": {"result": {
        "lastOperationStatus": {
            "id": "made", "operation": "ProvisionNoInstall", "state": "Succeeded", "message": "done",
            "runtimeID": id, "lastError": null,
        },
        "runtimeConfiguration": {"kubeconfig": kubeconfig},
    }}}))
}
