//! Groups of machines, as the extensions of the providers see them.

use cluster::Cause;
use serde_json::Value;

use super::{Config, list, text};

/// Names what is wrong with them.
pub(super) fn check(config: &Config<'_>, kind: &str, causes: &mut Vec<Cause>) {
    for (place, pool) in list(config.shoot, "/spec/provider/workers").iter().enumerate() {
        let field = format!("spec.provider.workers[{place}]");
        if kind != "openstack" {
            volume(pool, kind, &field, causes);
        }
        zones(config, pool, kind, &field, causes);
        let before = config.old.map(|old| list(old, "/spec/provider/workers")).unwrap_or_default();
        let Some(before) = before.iter().find(|one| one["name"] == pool["name"]) else { continue };
        // Those that are there stay in their places; new ones come behind them.
        if !list(pool, "/zones").starts_with(list(before, "/zones")) {
            let shown = pool["zones"].to_string();
            causes.push(Cause::invalid(format!("{field}.zones"), &shown, "field is immutable"));
        }
    }
}

fn volume(pool: &Value, kind: &str, field: &str, causes: &mut Vec<Cause>) {
    if !pool["volume"].is_object() {
        causes.push(Cause::required(format!("{field}.volume"), "must not be nil"));
        return;
    }
    match text(pool, "/volume/type") {
        None => causes.push(Cause::required(format!("{field}.volume.type"), "must not be empty")),
        Some("io1") if kind == "aws" && pool["providerConfig"].is_null() => {
            let why = "WorkerConfig must be set if volume type is io1";
            causes.push(Cause::required(format!("{field}.providerConfig"), why));
        }
        Some("io1") if kind == "aws" && pool["providerConfig"]["volume"]["iops"].is_null() => {
            let why = "must provide IOPS for volume type io1";
            causes.push(Cause::required(format!("{field}.providerConfig.volume.iops"), why));
        }
        Some(_) => {}
    }
}

fn zones(config: &Config<'_>, pool: &Value, kind: &str, field: &str, causes: &mut Vec<Cause>) {
    let wanted = list(pool, "/zones");
    let zoned = kind != "azure" || config.infrastructure()["zoned"] == true;
    let why = match (zoned, wanted.is_empty()) {
        (true, true) if kind == "azure" => {
            Some("at least one zone must be configured for zoned clusters")
        }
        (true, true) => Some("at least one zone must be configured"),
        (false, false) => Some("zones must not be specified for non zoned clusters"),
        _ => None,
    };
    if let Some(why) = why {
        causes.push(Cause::required(format!("{field}.zones"), why));
        return;
    }
    let own = list(config.infrastructure(), "/networks/zones");
    if own.is_empty() || !["aws", "azure"].contains(&kind) {
        return;
    }
    let names: Vec<String> = own.iter().map(|zone| plain(&zone["name"])).collect();
    for (place, zone) in wanted.iter().map(plain).enumerate() {
        if !names.contains(&zone) {
            let why = match kind {
                "aws" => format!("supported values [{}]", names.join(" ")),
                _ => "zone configuration must be specified in \"infrastructureConfig.networks.zones\""
                    .to_owned(),
            };
            causes.push(Cause::invalid(format!("{field}.zones[{place}]"), &zone, &why));
        }
    }
}

/// A name that may be a number.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
