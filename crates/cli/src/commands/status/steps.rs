//! `kcp status steps`: which steps are slow, and which of them fail.

use std::path::Path;

use clap::Args;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{
    client::Client,
    output::{Format, Head, Layout, span},
};

const SLOWEST: [Head; 8] = [
    Head::Fixed("STEP"),
    Head::Fixed("KIND"),
    Head::Fixed("MEDIAN"),
    Head::Fixed("P95"),
    Head::Wide("FAILED"),
    Head::Wide("RUNS"),
    Head::Wide("RETRIES"),
    Head::Wide("OPERATIONS"),
];
const FAILING: [Head; 8] = [
    Head::Fixed("STEP"),
    Head::Fixed("KIND"),
    Head::Wide("MEDIAN"),
    Head::Wide("P95"),
    Head::Fixed("FAILED"),
    Head::Fixed("RUNS"),
    Head::Fixed("RETRIES"),
    Head::Wide("OPERATIONS"),
];

/// Show the slowest steps of recent operations, or those that fail most often.
#[derive(Args)]
pub(super) struct Steps {
    /// The steps whose runs failed most often, instead of the slowest.
    #[arg(long)]
    failing: bool,
    /// Operations that ended in the last N hours.
    #[arg(long, value_name = "N", default_value_t = 168, value_parser = clap::value_parser!(u32).range(1..=168))]
    hours: u32,
    /// The number of steps at most.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// The steps of the provisioner instead of the broker's.
    #[arg(long)]
    provisioner: bool,
}

impl Steps {
    pub(super) async fn run(self, data: Option<&Path>, format: Format) -> anyhow::Result<()> {
        let client = if self.provisioner {
            Client::connect_to_provisioner(data)?
        } else {
            Client::connect(data)?
        };
        let answer = client.step_reports(self.hours, self.failing).await?;
        // The sums of whole operations have no step.
        let wanted = |it: &&Value| {
            it["step"].is_string() && (!self.failing || it["failures"].as_i64() > Some(0))
        };
        let steps = answer["steps"].as_array().into_iter().flatten();
        let chosen: Vec<Value> = steps.filter(wanted).take(self.limit as usize).cloned().collect();
        let (head, empty) = if self.failing {
            (&FAILING, "no step has failed")
        } else {
            (&SLOWEST, "no operation has ended")
        };
        let layout = Layout { head, name: "/step", empty };
        let answer = json!({ "hours": answer["hours"], "steps": chosen });
        format.list(&answer, &chosen, &layout, row)
    }
}

fn row(step: &Value) -> Vec<String> {
    let text = |field: &str| step[field].as_str().unwrap_or_default().to_owned();
    let number = |field: &str| step[field].as_i64().unwrap_or_default().to_string();
    let time = |field: &str| {
        let took = step[field].as_f64().and_then(|it| SignedDuration::try_from_secs_f64(it).ok());
        took.map_or_else(|| "–".to_owned(), span)
    };
    vec![
        text("step"),
        text("kind"),
        time("median_seconds"),
        time("p95_seconds"),
        number("failures"),
        number("runs"),
        number("retries"),
        number("operations"),
    ]
}
