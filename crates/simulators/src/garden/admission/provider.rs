//! What the extension of a Shoot's provider refuses: its webhook is asked after everything else, and answers 403 with
//! its name.

mod aws;
mod azure;
mod gcp;
mod openstack;
mod pools;

use cluster::{Admission, Cause, Status};
use serde_json::Value;

use super::{list, network, profile, text, types};
use crate::garden::schema::{self, Form};

/// What an extension looks at.
struct Config<'a> {
    shoot: &'a Value,
    old: Option<&'a Value>,
    profile: &'a Value,
}

/// Refuses what the extension does. Shoots without machines are none of its business.
pub(super) fn check(write: &Admission<'_>) -> Result<(), Status> {
    let shoot = &*write.object;
    let same = write.old.is_some_and(|old| old["spec"] == shoot["spec"]);
    if same || list(shoot, "/spec/provider/workers").is_empty() {
        return Ok(());
    }
    let kind = text(shoot, "/spec/provider/type").unwrap_or_default();
    let (Some(form), Some(profile)) = (schema::provider(kind), profile::of(write)) else {
        return Ok(());
    };
    let config = Config { shoot, old: write.old, profile: &profile };
    let mut causes = Vec::new();
    config.decode(kind, &form, &mut causes);
    if causes.is_empty() {
        config.look(kind, &mut causes);
    }
    if causes.is_empty() {
        return Ok(());
    }
    Err(denied(kind, &causes))
}

/// As the API server passes the refusal of a webhook on.
fn denied(kind: &str, causes: &[Cause]) -> Status {
    let said: Vec<String> =
        causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
    let said = match said.as_slice() {
        [one] => one.clone(),
        all => format!("[{}]", all.join(", ")),
    };
    let webhook = format!("validator.admission-{kind}.extensions.gardener.cloud");
    let message = format!("admission webhook {webhook:?} denied the request: {said}");
    Status::new(403, "Forbidden", message)
}

const PROVIDER: &str = "spec.provider";

impl<'a> Config<'a> {
    /// What belongs to the provider, read strictly: known kinds, known fields, the right types.
    fn decode(&self, kind: &str, form: &Form, causes: &mut Vec<Cause>) {
        let configs = [
            ("infrastructureConfig", "InfrastructureConfig", true),
            ("controlPlaneConfig", "ControlPlaneConfig", ["gcp", "openstack"].contains(&kind)),
        ];
        let api = format!("{kind}.provider.extensions.gardener.cloud/v1alpha1");
        for (key, word, is_needed) in configs {
            let (field, value) = (format!("{PROVIDER}.{key}"), self.of(key));
            if value.is_null() {
                let why = format!("{key} must be set for {} shoots", spelling(kind));
                causes.extend(is_needed.then(|| Cause::required(field, &why)));
                continue;
            }
            let form = form.field(key);
            let mut unknown = Vec::new();
            form.prune(&mut value.clone(), "", &mut unknown);
            unknown.retain(|name| name != "apiVersion" && name != "kind");
            let known = value["apiVersion"] == *api && value["kind"] == word;
            if !known || !unknown.is_empty() || types::mistyped(&form, value, "").is_some() {
                causes.push(Cause::invalid(field, &value.to_string(), "isn't a supported version"));
            }
        }
    }

    fn look(&self, kind: &str, causes: &mut Vec<Cause>) {
        if text(self.shoot, "/spec/networking/nodes").is_none() {
            let why = format!("a nodes CIDR must be provided for {} shoots", spelling(kind));
            causes.push(Cause::required("spec.networking.nodes", &why));
        }
        let networks = match kind {
            // This one names what is inside by itself.
            "aws" => "networks".to_owned(),
            _ => format!("{PROVIDER}.infrastructureConfig.networks"),
        };
        network::provider(self.shoot, &networks, causes);
        match kind {
            "aws" => aws::check(self, causes),
            "azure" => azure::check(self, causes),
            "gcp" => gcp::check(self, causes),
            _ => openstack::check(self, causes),
        }
        pools::check(self, kind, causes);
    }

    fn of(&self, key: &str) -> &'a Value {
        &self.shoot["spec"]["provider"][key]
    }

    fn infrastructure(&self) -> &'a Value {
        self.of("infrastructureConfig")
    }

    /// The same before the change; nothing for a new Shoot.
    fn before(&self, key: &str) -> Option<&'a Value> {
        self.old.map(|old| &old["spec"]["provider"][key]).filter(|config| config.is_object())
    }

    /// The zones of the region.
    fn zones(&self) -> Vec<&'a str> {
        profile::zones(self.profile, self.shoot)
    }
}

/// As the extension writes the name.
fn spelling(kind: &str) -> &'static str {
    match kind {
        "aws" => "AWS",
        "azure" => "Azure",
        "gcp" => "GCP",
        _ => "OpenStack",
    }
}

/// Names a text that was changed.
fn immutable(field: String, old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    let is_set = |value: &Value| !value.is_null() && *value != "";
    if old != new && (is_set(old) || is_set(new)) {
        let shown = new.as_str().map_or_else(|| new.to_string(), str::to_owned);
        causes.push(Cause::invalid(field, &shown, "field is immutable"));
    }
}
