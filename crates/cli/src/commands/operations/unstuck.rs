//! What gets an operation unstuck: cancel, retry, skip a step, abandon. Each looks whether it can be done, then asks for a reason if none is
//! given, and whether it is meant.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use domain::OperationId;
use serde_json::{Value, json};

use super::{
    super::which::{self, IdMatch},
    follow,
};
use crate::{
    client::Client,
    confirm::{Confirmation, Reason},
    output::Format,
    view::Operation,
};

#[derive(Subcommand)]
pub(crate) enum Unstuck {
    /// Cancel an operation: it ends before its next step.
    Cancel(Request),
    /// Retry a failed or canceled operation as a new one; finished stages are not repeated.
    Retry {
        #[command(flatten)]
        request: Request,
        /// Watch the new operation until it ends.
        #[arg(short, long)]
        watch: bool,
    },
    /// Skip a step of a removal that fails or waits; what it would have removed is listed as a leftover.
    Skip {
        #[command(flatten)]
        request: Request,
        /// The step, as `kcp operations ID` shows it.
        #[arg(long)]
        step: String,
    },
    /// Fail an operation at once, whatever its step does. A call in flight is not undone.
    Abandon(Request),
}

#[derive(Args)]
pub(crate) struct Request {
    /// The operation: its id or a part of it, or a runtime for its newest one.
    #[arg(value_name = "OPERATION")]
    id: String,
    #[command(flatten)]
    reason: Reason,
    #[command(flatten)]
    confirmation: Confirmation,
}

impl Request {
    /// An operation that can still be stopped, and what the question calls it.
    async fn unfinished(&self, client: &Client) -> anyhow::Result<(OperationId, String)> {
        let (id, state, called) = self.looked_up(client).await?;
        if ["succeeded", "failed", "canceled"].contains(&state.as_str()) {
            bail!("operation {id} has ended already: {state}");
        }
        Ok((id, called))
    }

    /// The same for one that can be continued.
    async fn ended(&self, client: &Client) -> anyhow::Result<(OperationId, String)> {
        let (id, state, called) = self.looked_up(client).await?;
        match state.as_str() {
            "failed" | "canceled" => Ok((id, called)),
            _ => bail!(
                "operation {id} is {state}: only one that has failed or was canceled can be continued"
            ),
        }
    }

    /// The operation, its state, and what questions call it.
    async fn looked_up(&self, client: &Client) -> anyhow::Result<(OperationId, String, String)> {
        let enough = IdMatch::of_change(&self.confirmation, false);
        let id = which::operation(client, &self.id, enough).await?;
        let found: Operation = serde_json::from_value(client.find(&id).await?)?;
        let whose = which::called(client, &found.instance).await;
        let called = format!("{} of {whose}, operation {id},", found.kind);
        Ok((id, found.state, called))
    }

    /// The body of the request, once there is a reason and it is meant.
    fn confirmed(&self, what: &str) -> anyhow::Result<Value> {
        let reason = self.reason.ask(&self.confirmation)?;
        self.confirmation.ask(what)?;
        Ok(json!({"reason": reason}))
    }
}

impl Unstuck {
    pub(crate) async fn run(self, client: &Client, format: Format) -> anyhow::Result<ExitCode> {
        let (answer, text, watch) = match self {
            Self::Cancel(request) => {
                let (id, called) = &request.unfinished(client).await?;
                let what = format!("End {called} at its next step boundary");
                let answer = client.unstick(id, "cancel", &request.confirmed(&what)?).await?;
                (
                    answer,
                    format!("operation {id} is asked to end at its next step boundary\n"),
                    false,
                )
            }
            Self::Retry { request, watch } => {
                let (id, called) = &request.ended(client).await?;
                let what = format!("Continue {called} by a new operation");
                let answer = client.unstick(id, "retry", &request.confirmed(&what)?).await?;
                let text = format!("Operation  {}\n", answer["id"].as_str().unwrap_or_default());
                (answer, text, watch)
            }
            Self::Skip { request, step } => {
                let (id, called) = &request.unfinished(client).await?;
                let mut body = request.confirmed(&format!("Let {called} go on without {step}"))?;
                body["step"] = json!(step);
                let answer = client.unstick(id, "skip", &body).await?;
                (answer, format!("operation {id} is asked to go on without {step}\n"), false)
            }
            Self::Abandon(request) => {
                let (id, called) = &request.unfinished(client).await?;
                let what = format!("Fail {called} now, whatever its step does");
                let answer = client.unstick(id, "abandon", &request.confirmed(&what)?).await?;
                (answer, format!("operation {id} is abandoned\n"), false)
            }
        };
        let id = answer["id"].as_str().unwrap_or_default();
        format.show(&answer, id, || text)?;
        let new: Option<OperationId> = answer["id"].as_str().and_then(|id| id.parse().ok());
        match new.filter(|_| watch) {
            Some(id) => follow::follow_as(client, &id, format).await,
            None => Ok(ExitCode::SUCCESS),
        }
    }
}
