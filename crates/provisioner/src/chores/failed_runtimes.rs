//! Tells the Director when a runtime could not be made. Best effort: nobody waits for it.

use std::{sync::Arc, time::Duration};

use clients::director::{Change, Condition};
use engine::{Engine, Operation, State};
use store::EngineStore;
use tokio::sync::broadcast::error::RecvError;

use crate::operations::{
    Env,
    provisioning::{Provisioning, ProvisioningNoInstall},
};

/// The operations that make a runtime.
const MAKING: [&str; 2] = [Provisioning::KIND, ProvisioningNoInstall::KIND];

/// How often it is tried.
const TRIES: u32 = 5;

/// Goes on until it is dropped.
pub async fn follow(env: Arc<Env>, engine: Engine<EngineStore>) {
    let mut events = engine.events();
    loop {
        let event = match events.recv().await {
            Ok(event) => event,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        if event.state == State::Failed && MAKING.contains(&event.kind.as_str()) {
            mark(&env, &engine, &event.lane, &event.instance).await;
        }
    }
}

async fn mark(env: &Env, engine: &Engine<EngineStore>, tenant: &str, runtime: &str) {
    let change = Change { condition: Some(Condition::Failed), ..Change::default() };
    for tried in 0..TRIES {
        match env.director.update(tenant, runtime, &change).await {
            Ok(()) => return,
            Err(error) => {
                let error = base::failure::chain(&error);
                tracing::warn!(
                    runtime.id = runtime,
                    error,
                    "the Director does not know of a failure"
                );
            }
        }
        engine.clock().sleep(Duration::from_secs(1 << tried)).await;
    }
}
