//! Shoots as Gardener sees them.

mod audit;
mod build;
mod change;
mod networks;
mod properties;
mod providers;
mod versions;

use clients::gardener::{Features, Shoot};
use serde_json::{Value, json};

use super::{Owner, Rules, build};
use crate::{checking::tests::samples::checked, configuration::Configuration, requests::Provision};

const OWNER: Owner<'static> = Owner {
    tenant: "ga-1",
    subaccount: "sa-1",
    runtime_id: "0b9f6c52-6f53-4b39-8f0a-0f6d5f0f8f11",
    operation_id: "3c0e6a0e-9a43-4f0e-8f0b-5f5ad6a2b7a1",
};

fn rules() -> Rules {
    Rules { project: "demo".into(), ..Rules::default() }
}

fn made(configuration: &Configuration) -> Shoot {
    build(configuration, &OWNER, &rules(), &Features::oldest())
}

/// The patch of a live Shoot.
fn change(live: &Shoot, wanted: &Configuration) -> Option<Value> {
    super::change(live, wanted, OWNER.runtime_id, &Features::oldest())
}

/// The Shoot that is sent to Gardener for a request.
fn sent(request: Provision) -> Value {
    serde_json::to_value(made(&checked(request))).unwrap()
}

/// A Shoot after a merge patch, as an API server would leave it.
fn patched(shoot: &Shoot, patch: &Value) -> Shoot {
    let mut shoot = serde_json::to_value(shoot).unwrap();
    merge(&mut shoot, patch);
    serde_json::from_value(shoot).unwrap()
}

/// A merge patch by the book: RFC 7386.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in patch {
        if value.is_null() {
            target.as_object_mut().unwrap().shift_remove(key);
        } else {
            merge(&mut target[key], value);
        }
    }
}
