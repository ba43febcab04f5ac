//! `kcp status success`: how operations of each plan ended, by day.

use std::path::Path;

use clap::Args;
use serde_json::Value;

use crate::{
    client::Client,
    output::{Format, Head, Layout},
};

const HEAD: [Head; 7] = [
    Head::Fixed("DAY"),
    Head::Fixed("PLAN"),
    Head::Fixed("KIND"),
    Head::Fixed("SUCCESS"),
    Head::Fixed("SUCCEEDED"),
    Head::Fixed("FAILED"),
    Head::Fixed("CANCELED"),
];

/// Show how many operations of each plan succeeded, by day in UTC.
#[derive(Args)]
pub(super) struct Success {
    /// The number of days, today included.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=90))]
    days: u32,
    /// The operations of the provisioner instead of the broker's.
    #[arg(long)]
    provisioner: bool,
}

impl Success {
    pub(super) async fn run(self, data: Option<&Path>, format: Format) -> anyhow::Result<()> {
        let client = if self.provisioner {
            Client::connect_to_provisioner(data)?
        } else {
            Client::connect(data)?
        };
        let answer = client.success(self.days).await?;
        let items = answer["success"].as_array().map(Vec::as_slice).unwrap_or_default();
        let layout = Layout { head: &HEAD, name: "/plan", empty: "no operation has ended" };
        format.list(&answer, items, &layout, row)
    }
}

fn row(day: &Value) -> Vec<String> {
    let text = |field: &str| match day[field].as_str() {
        Some("") | None => "-".to_owned(),
        Some(text) => text.to_owned(),
    };
    let number = |field: &str| day[field].as_i64().unwrap_or_default();
    let (succeeded, failed) = (number("succeeded"), number("failed"));
    vec![
        text("day"),
        text("plan"),
        text("kind"),
        rate(succeeded, failed),
        succeeded.to_string(),
        failed.to_string(),
        number("canceled").to_string(),
    ]
}

/// The share of successes, cut to a tenth of a percent: one failure never looks like none.
fn rate(succeeded: i64, failed: i64) -> String {
    match (succeeded, failed) {
        (0, 0) => "–".to_owned(),
        (_, 0) => "100 %".to_owned(),
        _ => {
            let tenths = succeeded * 1000 / (succeeded + failed);
            format!("{}.{} %", tenths / 10, tenths % 10)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_is_never_rounded_away_and_nothing_is_no_success() {
        assert_eq!(rate(3, 0), "100 %");
        assert_eq!(rate(3, 1), "75.0 %");
        assert_eq!(rate(9_999, 1), "99.9 %");
        assert_eq!(rate(0, 2), "0.0 %");
        assert_eq!(rate(0, 0), "–");
    }
}
