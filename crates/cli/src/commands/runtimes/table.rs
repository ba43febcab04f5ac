//! The table of runtimes: the name first, and what operators ask for; all columns of the known client when wanted.

use jiff::{Timestamp, tz::TimeZone};
use serde::Deserialize as _;
use serde_json::Value;

use crate::{
    output::{Head, age, columns},
    view::Runtime,
};

/// Platform regions whose data and operators stay in the EU.
const EU_ACCESS: [&str; 2] = ["cf-eu11", "cf-ch20"];

/// Which columns there are besides the usual ones.
#[derive(Clone, Copy)]
pub(super) struct Extra {
    /// The global account that pays.
    pub(super) payer: bool,
    /// The version of Kyma.
    pub(super) version: bool,
}

impl Extra {
    pub(super) fn head(self) -> Vec<Head> {
        let mut head = vec![
            Head::Fixed("NAME"),
            Head::State("STATE"),
            Head::Fixed("PLAN"),
            Head::Fixed("REGION"),
            Head::Fixed("SHOOT"),
            Head::Fixed("AGE"),
        ];
        if self.version {
            head.push(Head::Fixed("KYMA VERSION"));
        }
        head.extend([
            Head::Wide("INSTANCE ID"),
            Head::Wide("GLOBALACCOUNT ID"),
            Head::Wide("SUBACCOUNT ID"),
        ]);
        if self.payer {
            head.push(Head::Fixed("SUBSCRIPTION GLOBALACCOUNT ID"));
        }
        head.extend([Head::Wide("CREATED AT"), Head::Wide("EU ACCESS")]);
        head
    }

    pub(super) fn row(self, value: &Value, now: Timestamp) -> Vec<String> {
        let Ok(runtime) = Runtime::deserialize(value) else { return Vec::new() };
        let mut row = vec![
            runtime.shown_name().to_owned(),
            runtime.status.word(),
            runtime.service_plan_name.clone(),
            runtime.region.clone(),
            runtime.shoot_name.clone(),
            age(runtime.status.created_at, now),
        ];
        if self.version {
            row.push(runtime.kyma_version.clone().unwrap_or_default());
        }
        row.extend([
            runtime.instance_id.clone(),
            runtime.global_account_id.clone(),
            runtime.sub_account_id.clone(),
        ]);
        if self.payer {
            row.push(runtime.subscription_global_account_id.clone());
        }
        row.extend([created_at(&runtime), eu_access(&runtime)]);
        row
    }

    /// The table of the known client, column by column.
    pub(super) fn known(self, runtimes: &[Runtime]) -> String {
        let mut head = vec!["GLOBALACCOUNT ID"];
        if self.payer {
            head.push("SUBSCRIPTION GLOBALACCOUNT ID");
        }
        let usual =
            ["SUBACCOUNT ID", "SHOOT", "REGION", "PLAN", "CREATED AT", "STATE", "EU ACCESS"];
        head.extend(usual);
        if self.version {
            head.push("KYMA VERSION");
        }
        let head = head.into_iter().map(str::to_owned).collect();
        columns(head, runtimes.iter().map(|runtime| self.known_row(runtime)))
    }

    fn known_row(self, runtime: &Runtime) -> Vec<String> {
        let mut row = vec![runtime.global_account_id.clone()];
        if self.payer {
            row.push(runtime.subscription_global_account_id.clone());
        }
        row.extend([
            runtime.sub_account_id.clone(),
            runtime.shoot_name.clone(),
            runtime.region.clone(),
            runtime.service_plan_name.clone(),
            created_at(runtime),
            runtime.status.word(),
            eu_access(runtime),
        ]);
        if self.version {
            row.push(runtime.kyma_version.clone().unwrap_or_default());
        }
        row
    }
}

fn created_at(runtime: &Runtime) -> String {
    let created_at = runtime.status.created_at.to_zoned(TimeZone::UTC);
    created_at.strftime("%Y/%m/%d %H:%M:%S").to_string()
}

fn eu_access(runtime: &Runtime) -> String {
    let eu = EU_ACCESS.contains(&runtime.sub_account_region.as_str());
    if eu { "Yes" } else { "No" }.to_owned()
}
