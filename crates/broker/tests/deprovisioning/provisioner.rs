//! A provisioner on a socket: it speaks the GraphQL of the real one and removes Shoots through the garden. Calls of it stand in
//! the landscape's ledger and meet its trouble.
//!
//! What a reader would get wrong: an order that comes again under its idempotency key is answered with the operation
//! that it began, even when that operation has failed. The real one does so too.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use base::Clock;
use clients::gardener::Gardener;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use simulators::{
    testing::Running,
    trouble::{
        around,
        wire::{Line, Wires},
    },
};
use tokio::{net::TcpListener, task::JoinHandle};

/// Unusual behaviour of the provisioner.
#[derive(Default)]
pub(crate) struct Behaviour {
    /// It answers nothing but 503.
    pub(crate) down: bool,
    /// The answers to so many orders are lost; the orders are carried out.
    pub(crate) losing: usize,
    /// How many removals fail.
    pub(crate) failing: usize,
    /// Every runtime is busy for so many orders.
    pub(crate) busy: usize,
    /// It knows how to call off what a runtime is busy with.
    pub(crate) supersedes: bool,
    /// Removals never end.
    pub(crate) stuck: bool,
}

#[derive(Default)]
struct ProvisionerState {
    mood: Behaviour,
    runtimes: BTreeMap<String, Runtime>,
    operations: BTreeMap<String, Operation>,
    by_key: BTreeMap<String, String>,
    heard: Vec<String>,
}

struct Runtime {
    tenant: String,
    shoot: String,
    ready: bool,
    last: Option<String>,
}

struct Operation {
    runtime: String,
    fails: bool,
}

#[derive(Clone)]
struct ProvisionerContext {
    known: Arc<Mutex<ProvisionerState>>,
    gardener: Gardener,
}

pub(crate) struct SimulatedProvisioner {
    pub(crate) url: String,
    inside: ProvisionerContext,
    serving: JoinHandle<()>,
}

impl SimulatedProvisioner {
    pub(crate) async fn start(gardener: Gardener, running: &Running, clock: &Clock) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/graphql", listener.local_addr().unwrap());
        let inside = ProvisionerContext { known: Arc::default(), gardener };
        let routes = Router::new().route("/graphql", post(answer)).with_state(inside.clone());
        let (ledger, troubles) = (running.landscape.ledger(), running.landscape.troubles());
        let routes = around(routes, "provisioner", ledger.clone(), troubles.clone(), clock.clone());
        let routes = routes.into_make_service_with_connect_info::<Line>();
        let wires = Wires::new(listener);
        let serving = tokio::spawn(async move { axum::serve(wires, routes).await.unwrap() });
        Self { url, inside, serving }
    }

    /// A runtime that it has made.
    pub(crate) fn add(&self, runtime: &str, tenant: &str, shoot: &str) {
        let (tenant, shoot) = (tenant.to_owned(), shoot.to_owned());
        let made = Runtime { tenant, shoot, ready: true, last: None };
        self.inside.known().runtimes.insert(runtime.into(), made);
    }

    /// It has not finished making a runtime.
    pub(crate) fn is_still_making(&self, runtime: &str) {
        self.inside.known().runtimes.get_mut(runtime).unwrap().ready = false;
    }

    pub(crate) fn mood(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.inside.known().mood);
    }

    /// It forgets all its operations, and their keys; the runtimes stay.
    pub(crate) fn forget_operations(&self) {
        let mut known = self.inside.known();
        known.operations.clear();
        known.by_key.clear();
    }

    /// How often something was asked for.
    pub(crate) fn heard(&self, what: &str) -> usize {
        self.inside.known().heard.iter().filter(|heard| *heard == what).count()
    }
}

impl Drop for SimulatedProvisioner {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl ProvisionerContext {
    fn known(&self) -> MutexGuard<'_, ProvisionerState> {
        self.known.lock().unwrap()
    }

    async fn deprovision(
        &self,
        tenant: &str,
        id: &str,
        key: Option<&str>,
        supersede: bool,
    ) -> Value {
        if supersede && !self.known().mood.supersedes {
            return json!({"data": null, "errors": [{"message":
                "Unknown argument \"supersede\" on field \"deprovisionRuntime\" of type \"Mutation\"."}]});
        }
        // A key counts for one runtime of one tenant.
        let key = key.map(|key| format!("{tenant}/{id}/{key}"));
        let (shoot, operation) = {
            let mut known = self.known();
            let known = &mut *known;
            let Some(runtime) = known.runtimes.get_mut(id).filter(|one| one.tenant == tenant)
            else {
                return refused(2, "err_db_not_found", "there is no such runtime");
            };
            if let Some(again) = key.as_ref().and_then(|key| known.by_key.get(key)) {
                return json!({ "data": { "result": again } });
            }
            if supersede {
                known.mood.busy = 0;
            }
            if known.mood.busy > 0 {
                known.mood.busy -= 1;
                let text = format!(
                    "cannot start new operation for {id} Runtime while previous one is in progress"
                );
                return refused(400, "err_provisioner_internal", &text);
            }
            let operation = format!("removal-{}", known.operations.len() + 1);
            let fails = known.mood.failing > 0;
            known.mood.failing = known.mood.failing.saturating_sub(1);
            known.operations.insert(operation.clone(), Operation { runtime: id.into(), fails });
            runtime.last = Some(operation.clone());
            if let Some(key) = key {
                known.by_key.insert(key, operation.clone());
            }
            ((!fails && !known.mood.stuck).then(|| runtime.shoot.clone()), operation)
        };
        if let Some(shoot) = shoot {
            self.gardener.delete(&shoot).await.unwrap();
        }
        json!({ "data": { "result": operation } })
    }

    async fn status(&self, id: &str) -> Value {
        let (shoot, fails, runtime) = {
            let known = self.known();
            let Some(operation) = known.operations.get(id) else {
                return refused(2, "err_db_not_found", "there is no such operation");
            };
            let shoot = known.runtimes[&operation.runtime].shoot.clone();
            (shoot, operation.fails, operation.runtime.clone())
        };
        let gone = self.gardener.shoot(&shoot).await.unwrap().is_none();
        let state = if fails {
            "Failed"
        } else if gone {
            "Succeeded"
        } else {
            "InProgress"
        };
        let error = if fails {
            json!({ "errMessage": "the cloud says no", "reason": "ERR_INFRA", "component": "gardener" })
        } else {
            Value::Null
        };
        json!({ "data": { "result": {
            "id": id, "operation": "DeprovisionNoInstall", "state": state, "message": "removing",
            "runtimeID": runtime, "lastError": error,
        } } })
    }

    async fn runtime_status(&self, id: &str) -> Value {
        let (shoot, ready, last) = {
            let known = self.known();
            let Some(runtime) = known.runtimes.get(id) else {
                return refused(2, "err_db_not_found", "there is no such runtime");
            };
            (runtime.shoot.clone(), runtime.ready, runtime.last.clone())
        };
        let there = self.gardener.shoot(&shoot).await.unwrap().is_some();
        let kubeconfig = if ready && there {
            let made = self.gardener.admin_kubeconfig(&shoot, Duration::from_hours(8)).await;
            made.ok().map(|made| made.kubeconfig.expose_secret().to_owned())
        } else {
            None
        };
        let (operation, state) = match (&last, ready) {
            (Some(_), _) => ("DeprovisionNoInstall", "InProgress"),
            (None, true) => ("ProvisionNoInstall", "Succeeded"),
            (None, false) => ("ProvisionNoInstall", "InProgress"),
        };
        json!({ "data": { "result": {
            "lastOperationStatus": {
                "id": last, "operation": operation, "state": state, "message": "working",
                "runtimeID": id, "lastError": null,
            },
            "runtimeConfiguration": { "kubeconfig": kubeconfig },
        } } })
    }
}

async fn answer(
    State(inside): State<ProvisionerContext>,
    headers: HeaderMap,
    Json(asked): Json<Value>,
) -> Response {
    let query = asked["query"].as_str().unwrap_or_default();
    let what = ["deprovisionRuntime", "runtimeOperationStatus", "runtimeStatus"]
        .into_iter()
        .find(|what| query.contains(what))
        .unwrap_or("unknown");
    let (down, loses) = {
        let mut known = inside.known();
        known.heard.push(what.into());
        let loses = what == "deprovisionRuntime" && known.mood.losing > 0;
        known.mood.losing -= usize::from(loses);
        (known.mood.down, loses)
    };
    if down {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let id = asked["variables"]["id"].as_str().unwrap_or_default();
    let answer = match what {
        "deprovisionRuntime" => {
            let tenant = header("tenant").unwrap_or_default();
            let supersede = query.contains("supersede: true");
            inside.deprovision(tenant, id, header("idempotency-key"), supersede).await
        }
        "runtimeOperationStatus" => inside.status(id).await,
        "runtimeStatus" => inside.runtime_status(id).await,
        _ => refused(400, "err_provisioner_internal", "this provisioner cannot do that"),
    };
    if loses { StatusCode::BAD_GATEWAY.into_response() } else { Json(answer).into_response() }
}

fn refused(code: i64, reason: &str, message: &str) -> Value {
    json!({
        "data": null,
        "errors": [{
            "message": message,
            "extensions": { "error_code": code, "error_reason": reason, "error_component": "test" },
        }],
    })
}
