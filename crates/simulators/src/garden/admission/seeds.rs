//! Rules and defaults of Seeds and `CloudProfiles`.

use cluster::{Admission, Status, Verb};
use serde_json::{Value, json};

use super::{defaults::set_missing, name, text};
use crate::garden::{
    kinds,
    version::{
        Gardeners::{self, All, Newer, Older},
        Version,
    },
};

/// Path, value as JSON, and who has it.
type Row = (&'static str, &'static str, Gardeners);

/// What a Seed has where it says nothing else.
const SEED: &[Row] = &[
    ("/spec/networks/ipFamilies", r#"["IPv4"]"#, All),
    ("/spec/settings/scheduling/visible", "true", All),
    ("/spec/settings/verticalPodAutoscaler/enabled", "true", All),
    ("/spec/settings/dependencyWatchdog/endpoint/enabled", "true", Older),
    ("/spec/settings/dependencyWatchdog/probe/enabled", "true", Older),
    ("/spec/settings/excessCapacityReservation/enabled", "true", Older),
    ("/spec/settings/ownerChecks/enabled", "true", Older),
    ("/spec/settings/dependencyWatchdog/prober/enabled", "true", Newer),
    ("/spec/settings/dependencyWatchdog/weeder/enabled", "true", Newer),
    (
        "/spec/settings/excessCapacityReservation",
        r#"{"configs": [{"resources": {"cpu": "2", "memory": "6Gi"}}]}"#,
        Newer,
    ),
    ("/spec/settings/topologyAwareRouting/enabled", "false", Newer),
];

/// What a profile has.
const PROFILE: &[Row] = &[("/spec/machineImages/*/updateStrategy", r#""major""#, Newer)];

/// Completes a Seed and labels it by its extensions; refuses the deletion of one with Shoots.
pub(super) fn seed(write: &mut Admission<'_>, gardener: Version) -> Result<(), Status> {
    if write.subresource.is_some() {
        return Ok(());
    }
    if write.verb == Verb::Delete {
        return unused(write);
    }
    fill(write.object, SEED, gardener);
    let domains = text(write.object, "/spec/dns/provider/type");
    let domains = domains.map(|kind| format!("dnsrecord.extensions.gardener.cloud/{kind}"));
    let own = format!("name.seed.gardener.cloud/{}", name(write.object));
    let labels = &mut write.object["metadata"]["labels"];
    for key in domains.into_iter().chain(Newer.have(gardener).then_some(own)) {
        labels[key] = json!("true");
    }
    Ok(())
}

/// Completes a profile.
pub(super) fn profile(write: &mut Admission<'_>, gardener: Version) {
    if write.verb != Verb::Delete {
        fill(write.object, PROFILE, gardener);
    }
}

fn fill(object: &mut Value, rows: &[Row], gardener: Version) {
    for (path, value, _) in rows.iter().filter(|(.., who)| who.have(gardener)) {
        let value: Value = serde_json::from_str(value).expect("the table holds JSON");
        set_missing(object, path, &value);
    }
}

fn unused(write: &Admission<'_>) -> Result<(), Status> {
    let seed = name(write.object);
    let uses =
        |shoot: &Value| [&shoot["spec"], &shoot["status"]].iter().any(|it| it["seedName"] == seed);
    if write.list(kinds::SHOOTS, None).iter().any(|shoot| uses(shoot)) {
        let why = format!("cannot delete seed {seed} since it is still used by shoot(s)");
        return Err(Status::forbidden(write.kind, seed, &why));
    }
    Ok(())
}
