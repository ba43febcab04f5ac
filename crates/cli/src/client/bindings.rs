//! Kubeconfigs and bindings.

use std::time::Duration;

use anyhow::{Context, bail};
use base::Clock;
use clients::{Kind, http::segment};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Client,
    orders::{PlanChoice, instance_path, versioned},
};

/// How often the end of an access is asked for while it is being made, and how long after the time before.
const ENDINGS: usize = 10;
const AGAIN: Duration = Duration::from_millis(500);

/// Credentials.
#[derive(Deserialize)]
pub(crate) struct BindingResponse {
    pub(crate) credentials: Credentials,
    pub(crate) metadata: Metadata,
}

#[derive(Deserialize)]
pub(crate) struct Credentials {
    pub(crate) kubeconfig: String,
}

#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) expires_at: String,
}

impl Client {
    /// The kubeconfig with which people log in to an instance's runtime.
    pub(crate) async fn kubeconfig(&self, instance: &str) -> anyhow::Result<String> {
        let request = self.http.get(&format!("/kubeconfig/{}", escaped(instance)?));
        let doing = format!("fetching the kubeconfig of instance {instance}");
        let answer = self.http.send(&doing, request).await;
        self.reached(answer.and_then(clients::http::Answer::text))
    }

    /// A kubeconfig of a runtime for an operator, or for one run of a command.
    pub(crate) async fn operator_kubeconfig(
        &self,
        account: &str,
        runtime: &str,
        run: Option<&str>,
    ) -> anyhow::Result<String> {
        let run: Vec<_> = run.map(|run| ("run", run)).into_iter().collect();
        let request = self.http.get(&operator_path(account, runtime)?).query(&run);
        let doing = format!("fetching the kubeconfig of runtime {runtime}");
        let answer = self.http.send(&doing, request).await;
        let text = self.reached(answer.and_then(clients::http::Answer::text))?;
        Ok(without_entities(&text))
    }

    /// Ends the access that a run had. Services that know no runs, and those that gave none, have nothing to end.
    pub(crate) async fn end_operator_access(
        &self,
        account: &str,
        runtime: &str,
        run: &str,
    ) -> anyhow::Result<()> {
        let request = self.http.delete(&operator_path(account, runtime)?).query(&[("run", run)]);
        let doing = format!("ending the access to runtime {runtime}");
        for _ in 0..ENDINGS {
            match self.http.send(&doing, request.try_clone().context("it has a body")?).await {
                // It is being made, for a request that nobody waits for any more.
                Err(error) if error.kind == Kind::Conflict => {}
                Err(error) if error.kind == Kind::NotFound => return Ok(()),
                Err(error) if error.kind == (Kind::Refused { status: 405 }) => return Ok(()),
                answer => return self.reached(answer).map(drop),
            }
            Clock::running().sleep(AGAIN).await;
        }
        bail!("the binding is still being created; it expires by itself")
    }

    /// Binds an instance. The same request again gives the same credentials.
    pub(crate) async fn bind(
        &self,
        instance: &str,
        binding: &str,
        seconds: Option<u64>,
    ) -> anyhow::Result<BindingResponse> {
        let PlanChoice { service_id, plan_id, .. } = self.catalog(None).await?.any()?;
        let mut body = json!({"service_id": service_id, "plan_id": plan_id});
        if let Some(seconds) = seconds {
            body["parameters"] = json!({"expiration_seconds": seconds});
        }
        let request = versioned(self.http.put(&binding_path(instance, binding)?)).json(&body);
        let answer = self.send_order(&format!("binding instance {instance}"), request).await;
        let lost = matches!(&answer, Err(error) if error.kind == Kind::AnswerLost);
        let answer = self.order_answered(answer.and_then(|answer| answer.json())).await;
        if lost {
            let hint = || format!("it may be made: the same command with --id {binding} tells");
            return answer.with_context(hint);
        }
        answer
    }

    /// Removes a binding.
    pub(crate) async fn unbind(&self, instance: &str, binding: &str) -> anyhow::Result<()> {
        let PlanChoice { service_id, plan_id, .. } = self.catalog(None).await?.any()?;
        let query = [("service_id", service_id.as_str()), ("plan_id", plan_id.as_str())];
        let path = binding_path(instance, binding)?;
        let request = versioned(self.http.delete(&path)).query(&query);
        let answer = self.send_order(&format!("removing binding {binding}"), request).await;
        if matches!(&answer, Err(error) if error.kind == Kind::NotFound) {
            bail!("there is no binding {binding} of instance {instance}");
        }
        self.order_answered(answer).await.map(drop)
    }

    /// The bindings of an instance, without their credentials.
    pub(crate) async fn bindings(&self, instance: &str) -> anyhow::Result<Vec<Value>> {
        let request = self.http.get(&format!("/bindings/{}", escaped(instance)?));
        let mut answer = self.send("listing bindings", request).await?;
        Ok(serde_json::from_value(answer["bindings"].take())?)
    }
}

fn operator_path(account: &str, runtime: &str) -> anyhow::Result<String> {
    Ok(format!("/kubeconfig/{}/{}", escaped(account)?, escaped(runtime)?))
}

/// The known service escapes its YAML as if it were HTML.
fn without_entities(text: &str) -> String {
    let entities = [("&#34;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    entities.iter().fold(text.to_owned(), |text, (entity, plain)| text.replace(entity, plain))
}

pub(crate) fn binding_path(instance: &str, binding: &str) -> anyhow::Result<String> {
    let binding = segment(binding).with_context(|| format!("\"{binding}\" is not a binding"))?;
    Ok(format!("/oauth{}/service_bindings/{binding}", instance_path(instance)?))
}

fn escaped(instance: &str) -> anyhow::Result<String> {
    segment(instance).with_context(|| format!("\"{instance}\" is not an instance"))
}
