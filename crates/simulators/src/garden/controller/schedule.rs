//! Which seed a Shoot gets.

use kube::{ResourceExt, api::DynamicObject};
use serde_json::Value;

use super::super::shoot::Shoot;

/// The best seed, or why there is none: near before far, the same provider before another.
pub(super) fn choose(shoot: Shoot<'_>, seeds: &[DynamicObject]) -> Result<String, String> {
    let provider = shoot.text("/spec/provider/type");
    let region = shoot.text("/spec/region");
    let wanted = shoot.0.data.pointer("/spec/seedSelector/matchLabels").and_then(Value::as_object);
    let selected = |seed: &&DynamicObject| {
        let mut labels = wanted.into_iter().flatten();
        labels.all(|(key, value)| seed.labels().get(key).map(String::as_str) == value.as_str())
    };
    let visible = |seed: &&DynamicObject| {
        seed.data.pointer("/spec/settings/scheduling/visible") != Some(&Value::Bool(false))
            && seed.metadata.deletion_timestamp.is_none()
    };
    // Without ranges for its Pods and Services a Shoot cannot go there.
    let has_ranges = |seed: &&DynamicObject| {
        ["pods", "services"].iter().all(|key| {
            let own = shoot.text(&format!("/spec/networking/{key}"));
            let default = format!("/spec/networks/shootDefaults/{key}");
            own.is_some() || seed.data.pointer(&default).is_some_and(Value::is_string)
        })
    };
    let at = |seed: &DynamicObject, path: &str| {
        seed.data.pointer(path).and_then(Value::as_str).map(str::to_owned)
    };
    let distance = |seed: &&DynamicObject| {
        let here = at(seed, "/spec/provider/region").as_deref() == region;
        let same = at(seed, "/spec/provider/type").as_deref() == provider;
        (!same, !here, seed.name_any())
    };
    let fitting = seeds.iter().filter(visible).filter(selected).filter(has_ranges);
    let best = fitting.min_by_key(distance);
    best.map(ResourceExt::name_any).ok_or_else(|| nothing(seeds.len()))
}

/// The words for: none of them will do.
pub(super) fn nothing(seeds: usize) -> String {
    format!(
        "none out of the {seeds} seeds has the matching labels required by seed selector of shoot; no matching seeds"
    )
}
