//! How much all Shoots of an account may take together.

use std::{collections::BTreeMap, sync::Arc};

use cluster::{Admission, Status};
use serde_json::Value;

use super::{binding, list, name, namespace, profile, text};
use crate::garden::{kinds, quantity::thousandths};

type Amounts = BTreeMap<&'static str, u128>;

/// Refuses a Shoot that would take more than a quota of its account leaves.
pub(super) fn check(write: &Admission<'_>) -> Result<(), Status> {
    let shoot = &*write.object;
    let unchanged =
        write.old.is_some_and(|old| old["spec"]["provider"] == shoot["spec"]["provider"]);
    let Some(binding) = binding::of(write, shoot).filter(|_| !unchanged) else { return Ok(()) };
    for quota in list(&binding, "/quotas") {
        let named = |key: &str| quota[key].as_str().unwrap_or_default();
        let Some(quota) = write.find(kinds::QUOTAS, named("namespace"), named("name")) else {
            continue;
        };
        let Some(limits) = quota["spec"]["metrics"].as_object() else { continue };
        let taken = taken(write, shoot);
        for (metric, limit) in limits {
            let limit = thousandths(&plain(limit)).unwrap_or(0);
            if taken.get(metric.as_str()).is_some_and(|taken| *taken > limit) {
                let why =
                    format!("quota limits exceeded. Unable to allocate further {metric} resources");
                return Err(Status::forbidden(write.kind, name(shoot), &why));
            }
        }
    }
    Ok(())
}

/// What this Shoot and its neighbours of the same account take together.
fn taken(write: &Admission<'_>, shoot: &Value) -> Amounts {
    let account = binding::named(shoot);
    let neighbours = write.list(kinds::SHOOTS, Some(namespace(shoot)));
    let neighbours = neighbours
        .iter()
        .filter(|other| name(other) != name(shoot) && binding::named(other) == account);
    let mut amounts = Amounts::new();
    let mut profile = profile::of(write);
    add(&mut amounts, shoot, profile.as_ref());
    for other in neighbours {
        let named = text(other, "/spec/cloudProfileName").unwrap_or_default();
        profile = write.find(kinds::PROFILES, "", named);
        add(&mut amounts, other, profile.as_ref());
    }
    amounts
}

fn add(amounts: &mut Amounts, shoot: &Value, profile: Option<&Arc<Value>>) {
    let Some(profile) = profile else { return };
    let mut more =
        |metric: &'static str, amount: u128| *amounts.entry(metric).or_default() += amount;
    more("loadbalancer", 1_000);
    for worker in list(shoot, "/spec/provider/workers") {
        let count = u128::from(worker["maximum"].as_u64().unwrap_or(0));
        let wanted = text(worker, "/machine/type");
        let machine =
            list(profile, "/spec/machineTypes").iter().find(|m| m["name"].as_str() == wanted);
        for metric in ["cpu", "gpu", "memory"] {
            let each = machine.and_then(|machine| thousandths(machine[metric].as_str()?));
            more(metric, count * each.unwrap_or(0));
        }
        let disk = text(worker, "/volume/size").and_then(thousandths).unwrap_or(0);
        more("storage.standard", count * disk);
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
