//! Gives the runtime's agent a token with which it connects to the Director.
//!
//! What a reader would get wrong: the token is good once. Running this step again makes the agent
//! connect again, with another one.

use std::collections::BTreeMap;

use clients::runtime::Content;
use engine::{Cx, Retry, Step, StepError, StepResult, done};
use secrecy::SecretString;

use super::secs;
use crate::operations::{OnRuntime, as_step_error, on_runtime_error, runtime};

/// The Secret that the agent reads.
const SECRET: &str = "compass-agent-configuration";
/// Where the agent may be.
const NAMESPACES: [&str; 2] = ["kyma-system", "compass-system"];

pub(in crate::operations) struct ConfigureAgent;

impl<O: OnRuntime> Step<O> for ConfigureAgent {
    const NAME: &'static str = "Configure_Agent";
    const CALLS: &'static [&'static str] = &["gardener", "runtime", "director"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        configure(cx).await?;
        done()
    }
}

/// Gives the agent a new token.
pub(super) async fn configure<O: OnRuntime>(cx: &mut Cx<'_, O>) -> Result<(), StepError> {
    let runtime = runtime(cx).await?;
    let target = &cx.input.target;
    let (id, tenant) = (target.runtime.to_string(), target.directors_tenant());
    let made = cx.env.director.one_time_token(tenant, &id).await.map_err(as_step_error)?;
    let content = Content {
        data: BTreeMap::from([
            ("CONNECTOR_URL".to_owned(), SecretString::from(made.connector_url)),
            ("RUNTIME_ID".to_owned(), id.into()),
            ("TENANT".to_owned(), tenant.to_owned().into()),
            ("TOKEN".to_owned(), made.token),
        ]),
        ..Content::default()
    };
    for namespace in NAMESPACES {
        if let Err(error) = runtime.write_secret(namespace, SECRET, &content).await {
            return Err(on_runtime_error(cx, error));
        }
    }
    cx.data.agent_configured_at = Some(cx.now);
    Ok(())
}
