//! What gets an operation unstuck: cancel, retry, skip a step, abandon. Each asks first, and takes a reason.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use domain::OperationId;
use serde_json::{Value, json};

use super::{super::which, follow};
use crate::{client::Client, confirm::Confirmation, output::Format};

#[derive(Subcommand)]
pub(crate) enum Unstuck {
    /// Ask one to end at its next step boundary.
    Cancel(Request),
    /// Continue one that has failed or was canceled, as a new operation: finished stages stay finished.
    Retry {
        #[command(flatten)]
        request: Request,
        /// Watch the new operation until it ends.
        #[arg(short, long)]
        watch: bool,
    },
    /// Let a removal go on without a step that fails or waits; what the step would have removed is left over.
    Skip {
        #[command(flatten)]
        request: Request,
        /// The step, as `kcp operations ID` shows it.
        #[arg(long)]
        step: String,
    },
    /// End one as failed now, whatever its step does. A call that is on its way is not taken back.
    Abandon(Request),
}

#[derive(Args)]
pub(crate) struct Request {
    /// The operation: its id, the beginning or end of it, or a runtime for its newest one.
    #[arg(value_name = "OPERATION")]
    id: String,
    /// Why; kept with the operation and in the audit.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    confirmation: Confirmation,
}

impl Request {
    async fn send(
        &self,
        client: &Client,
        id: &OperationId,
        action: &str,
        step: Option<&str>,
    ) -> anyhow::Result<Value> {
        let mut body = json!({});
        if let Some(reason) = &self.reason {
            body["reason"] = json!(reason);
        }
        if let Some(step) = step {
            body["step"] = json!(step);
        }
        client.unstick(id, action, &body).await
    }
}

impl Unstuck {
    pub(crate) async fn run(self, client: &Client, format: Format) -> anyhow::Result<ExitCode> {
        let (answer, text, watch) = match self {
            Self::Cancel(request) => {
                let id = &which::operation(client, &request.id).await?;
                request
                    .confirmation
                    .ask(&format!("Operation {id} ends at its next step boundary"))?;
                let answer = request.send(client, id, "cancel", None).await?;
                (
                    answer,
                    format!("operation {id} is asked to end at its next step boundary\n"),
                    false,
                )
            }
            Self::Retry { request, watch } => {
                let id = &which::operation(client, &request.id).await?;
                request.confirmation.ask(&format!("Operation {id} is continued by a new one"))?;
                let answer = request.send(client, id, "retry", None).await?;
                let text = format!("Operation  {}\n", answer["id"].as_str().unwrap_or_default());
                (answer, text, watch)
            }
            Self::Skip { request, step } => {
                let id = &which::operation(client, &request.id).await?;
                let what = format!("Operation {id} goes on without {step}");
                request.confirmation.ask(&what)?;
                let answer = request.send(client, id, "skip", Some(&step)).await?;
                (answer, format!("operation {id} is asked to go on without {step}\n"), false)
            }
            Self::Abandon(request) => {
                let id = &which::operation(client, &request.id).await?;
                request
                    .confirmation
                    .ask(&format!("Operation {id} fails now, whatever its step does"))?;
                let answer = request.send(client, id, "abandon", None).await?;
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
