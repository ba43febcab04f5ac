//! Instances as a fleet has them: several plans, regions, accounts and states, one to three operations each, some removed.
//!
//! What a reader would get wrong: everything follows from the number of an instance, so that questions know what they will find.

use std::fmt::Write as _;

use anyhow::Context as _;
use base::Clock;
use serde_json::{Value, json};
use store::{SealLocation, Sealer};
use uuid::Uuid;

/// An order that the broker has accepted, and what its operation was given and knows.
pub(crate) struct Template {
    pub(crate) order: Value,
    pub(crate) input: Value,
    pub(crate) data: Vec<u8>,
    pub(crate) sealer: Sealer,
}

/// Rows of both tables, as JSON lists for one statement each.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) instances: Vec<Value>,
    pub(crate) operations: Vec<Value>,
}

pub(crate) struct Generator {
    template: Template,
    pub(crate) count: usize,
    now: i64,
}

const SECOND: i64 = 1_000_000;
/// A due time so late that no replica claims the operation.
const FAR: i64 = 4_102_444_800 * SECOND;
/// The plans, as many of each as there are of a hundred.
const PLANS: [(&str, &str, &str, usize); 5] = [
    ("361c511f-f939-4621-b228-d0fb79a1fe15", "aws", "aws", 45),
    ("4deee563-e5ec-4731-b9b1-53b42d855f0c", "azure", "azure", 25),
    ("ca6e5357-707f-4565-bbbd-b3ab732597c6", "gcp", "gcp", 15),
    ("7d55d31d-35ae-4438-bf13-6ffdfa107d9f", "trial", "azure", 10),
    ("b1a5764e-2ea1-4f95-94c0-2b4538b37b55", "free", "aws", 5),
];
const REGIONS: [&str; 6] =
    ["eu-central-1", "us-east-1", "westeurope", "eastus", "europe-west3", "ap-southeast-1"];
/// One instance of so many is in a region of its own.
pub(crate) const RARE: usize = 500;
/// How many instances an account has; one of ten is in a large one.
const OF_ACCOUNT: usize = 20;

impl Generator {
    pub(crate) fn new(template: Template, count: usize) -> Self {
        Self { template, count, now: Clock::running().now().as_microsecond() }
    }

    /// These instances.
    pub(crate) fn rows(&self, numbers: std::ops::Range<usize>) -> anyhow::Result<Rows> {
        let mut rows = Rows::default();
        for number in numbers {
            self.add(&mut rows, number)?;
        }
        Ok(rows)
    }

    pub(crate) fn id(number: usize) -> String {
        // Spread, as ids of platforms are.
        Uuid::from_u64_pair(mixed(number), number as u64).to_string()
    }

    pub(crate) fn account(&self, number: usize) -> String {
        if number.is_multiple_of(10) {
            return "account-large".into();
        }
        format!("account-{}", number % (self.count / OF_ACCOUNT).max(1))
    }

    pub(crate) fn subaccount(number: usize) -> String {
        format!("subaccount-{number}")
    }

    pub(crate) fn shoot(number: usize) -> String {
        format!("c-{:08x}", mixed(number) >> 32)
    }

    fn add(&self, rows: &mut Rows, number: usize) -> anyhow::Result<()> {
        let id = Self::id(number);
        let hash = usize::try_from(mixed(number) % 10_000)?;
        let account = self.account(number);
        let (plan_id, plan, provider) = plan(hash % 100);
        let region = if number % RARE == RARE / 2 { "rare-1" } else { REGIONS[hash % 6] };
        let (standing, kinds) = standing(number % 200);
        // The oldest first, a minute apart.
        let age = i64::try_from(self.count - number)?;
        let created_at = self.now - age * 60 * SECOND;
        let order = self.order(number, (plan_id, plan));
        let mut first = None;
        for (at, (kind, state)) in (0..).zip(kinds) {
            let operation = Uuid::now_v7();
            first.get_or_insert(operation);
            let accepted_at = created_at + at * SECOND;
            let times = (accepted_at, (*state != "in progress").then_some(accepted_at + SECOND));
            rows.operations.push(self.operation(
                &operation,
                &id,
                &account,
                (kind, state),
                times,
                &order,
            )?);
        }
        if standing == "gone" {
            return Ok(());
        }
        let sealed = self.sealed("instances", "ordered", &id, &serde_json::to_vec(&order)?);
        rows.instances.push(json!({
            "id": id, "global_account": account, "subaccount": Self::subaccount(number),
            "service_id": order["service_id"], "plan_id": plan_id, "plan_name": plan,
            "provider": provider, "region": region, "shoot_name": Self::shoot(number),
            "runtime_id": Uuid::from_u64_pair(number as u64, mixed(number)).simple().to_string(),
            "ordered": sealed, "accepted_by": first.context("an operation made it")?.simple().to_string(),
            "created_at": created_at, "standing": standing,
            "deleted_at": (standing == "deprovisioned").then_some(created_at + 2 * SECOND),
        }));
        Ok(())
    }

    fn order(&self, number: usize, (plan_id, plan): (&str, &str)) -> Value {
        let mut order = self.template.order.clone();
        order["instance_id"] = Self::id(number).into();
        order["plan_id"] = plan_id.into();
        order["plan_name"] = plan.into();
        order["shoot_name"] = Self::shoot(number).into();
        order["context"]["globalaccount_id"] = self.account(number).into();
        order["context"]["subaccount_id"] = Self::subaccount(number).into();
        order
    }

    fn operation(
        &self,
        id: &Uuid,
        instance: &str,
        account: &str,
        (kind, state): (&str, &str),
        (accepted_at, ended_at): (i64, Option<i64>),
        order: &Value,
    ) -> anyhow::Result<Value> {
        let row = id.to_string();
        let mut input = self.template.input.clone();
        input["order"] = order.clone();
        let input = serde_json::to_vec(&input)?;
        Ok(json!({
            "id": id.simple().to_string(), "instance": instance, "kind": kind, "lane": account,
            "state": state, "created_at": accepted_at, "ended_at": ended_at,
            "due_at": ended_at.is_none().then_some(FAR),
            "input": self.sealed("operation_inputs", "input", &row, &input),
            "data": self.sealed("operation_data", "data", &row, &self.template.data),
        }))
    }

    fn sealed(&self, table: &'static str, column: &'static str, row: &str, plain: &[u8]) -> String {
        let sealed = self.template.sealer.seal(SealLocation { table, column, row }, plain);
        let mut digits = String::with_capacity(2 * sealed.len());
        // Sixteen bytes at a time: there are millions of them.
        let (numbers, rest) = sealed.as_chunks::<16>();
        for number in numbers {
            let _ = write!(digits, "{:032x}", u128::from_be_bytes(*number));
        }
        for byte in rest {
            let _ = write!(digits, "{byte:02x}");
        }
        digits
    }
}

/// A number that looks like chance, and is always the same.
fn mixed(number: usize) -> u64 {
    let mut mixed = (number as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn plan(part: usize) -> (&'static str, &'static str, &'static str) {
    let mut left = part;
    for (id, name, provider, share) in PLANS {
        if left < share {
            return (id, name, provider);
        }
        left -= share;
    }
    let (id, name, provider, _) = PLANS[0];
    (id, name, provider)
}

/// How many instances have to be generated so that so many of them have a runtime that can be upgraded.
pub(crate) fn with_upgradable(wanted: usize) -> usize {
    let upgradable =
        |number: &usize| matches!(standing(number % 200).0, "succeeded" | "updating" | "error");
    (0..).filter(upgradable).nth(wanted.saturating_sub(1)).map_or(0, |last| last + 1)
}

type Kinds = &'static [(&'static str, &'static str)];

/// How an instance stands, and its operations, the oldest first.
fn standing(part: usize) -> (&'static str, Kinds) {
    const MADE: (&str, &str) = ("provision", "succeeded");
    match part {
        0..8 => ("suspended", &[MADE, ("deprovision", "succeeded")]),
        8..12 => ("failed", &[("provision", "failed")]),
        12..14 => ("error", &[MADE, ("update", "failed")]),
        14..16 => ("provisioning", &[("provision", "in progress")]),
        16 => ("updating", &[MADE, ("update", "in progress")]),
        17 => ("deprovisioning", &[MADE, ("deprovision", "in progress")]),
        18 => ("deprovisioned", &[MADE, ("deprovision", "succeeded")]),
        19..25 => ("gone", &[MADE, ("deprovision", "succeeded")]),
        25..60 => ("succeeded", &[MADE, ("update", "succeeded"), ("update", "succeeded")]),
        60..120 => ("succeeded", &[MADE, ("update", "succeeded")]),
        _ => ("succeeded", &[MADE]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_runtimes_can_be_upgraded_as_are_wanted() {
        let table = [(1, 13), (2, 14), (3, 17), (4, 26), (178, 200), (179, 213), (5_000, 5_638)];

        for (wanted, generated) in table {
            assert_eq!(with_upgradable(wanted), generated, "{wanted}");
        }
    }
}
