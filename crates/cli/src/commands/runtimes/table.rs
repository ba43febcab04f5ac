//! The table of runtimes: the columns that operators know.

use jiff::tz::TimeZone;

use crate::{output::columns, view::Runtime};

/// Platform regions whose data and operators stay in the EU.
const EU_ACCESS: [&str; 2] = ["cf-eu11", "cf-ch20"];

/// Which columns there are besides the usual ones.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    /// Instance and name.
    pub(super) wide: bool,
    /// The global account that pays.
    pub(super) payer: bool,
    /// The version of Kyma.
    pub(super) version: bool,
}

impl Columns {
    pub(super) fn text(self, runtimes: &[Runtime]) -> String {
        let mut head = Vec::new();
        if self.wide {
            head.extend(["INSTANCE ID", "NAME"]);
        }
        head.push("GLOBALACCOUNT ID");
        if self.payer {
            head.push("SUBSCRIPTION GLOBALACCOUNT ID");
        }
        head.extend([
            "SUBACCOUNT ID",
            "SHOOT",
            "REGION",
            "PLAN",
            "CREATED AT",
            "STATE",
            "EU ACCESS",
        ]);
        if self.version {
            head.push("KYMA VERSION");
        }
        let head = head.into_iter().map(str::to_owned).collect();
        columns(head, runtimes.iter().map(|runtime| self.row(runtime)))
    }

    fn row(self, runtime: &Runtime) -> Vec<String> {
        let mut row = Vec::new();
        if self.wide {
            row.extend([runtime.instance_id.clone(), runtime.name().to_owned()]);
        }
        row.push(runtime.global_account_id.clone());
        if self.payer {
            row.push(runtime.subscription_global_account_id.clone());
        }
        let created_at = runtime.status.created_at.to_zoned(TimeZone::UTC);
        let eu = EU_ACCESS.contains(&runtime.sub_account_region.as_str());
        row.extend([
            runtime.sub_account_id.clone(),
            runtime.shoot_name.clone(),
            runtime.region.clone(),
            runtime.service_plan_name.clone(),
            created_at.strftime("%Y/%m/%d %H:%M:%S").to_string(),
            runtime.status.word(),
            if eu { "Yes" } else { "No" }.to_owned(),
        ]);
        if self.version {
            row.push(runtime.kyma_version.clone().unwrap_or_default());
        }
        row
    }
}
