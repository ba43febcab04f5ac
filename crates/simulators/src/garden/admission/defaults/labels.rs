//! The labels by which the extensions of Gardener find the Shoots that they serve, and Seeds those that are theirs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::{list, text};
use crate::garden::version::Version;

/// What the labels of extensions have in their names.
const EXTENSIONS: &str = ".extensions.gardener.cloud/";

/// What the labels of Seeds begin with.
const SEED: &str = "name.seed.gardener.cloud/";

/// Sets the labels of the Seeds and of all extensions that a Shoot needs, and takes away those it does not need any more.
pub(super) fn set(shoot: &mut Value, gardener: Version) {
    let wanted = wanted(shoot, gardener);
    let labels = &mut shoot["metadata"]["labels"];
    if labels.is_null() {
        *labels = json!({});
    }
    let Some(labels) = labels.as_object_mut() else { return };
    let is_ours = |key: &str| key.contains(EXTENSIONS) || key.starts_with(SEED);
    labels.retain(|key, _| !is_ours(key) || wanted.contains(key));
    labels.extend(wanted.into_iter().map(|key| (key, json!("true"))));
}

fn wanted(shoot: &Value, gardener: Version) -> BTreeSet<String> {
    let label = |kind: &str, name: &str| format!("{kind}{EXTENSIONS}{name}");
    let mut wanted = BTreeSet::new();
    if gardener >= Version::V1_117 {
        let seeds = ["/spec/seedName", "/status/seedName"];
        wanted
            .extend(seeds.iter().filter_map(|path| Some(format!("{SEED}{}", text(shoot, path)?))));
    }
    wanted.extend(text(shoot, "/spec/provider/type").map(|name| label("provider", name)));
    // Where the field is text and no pointer, one that is missing makes a label without a name, which is refused.
    let network = shoot["spec"]["networking"]["type"].as_str();
    let network = network.or((gardener < Version::V1_117).then_some(""));
    wanted.extend(network.map(|name| label("networking", name)));
    for worker in list(shoot, "/spec/provider/workers") {
        let image = text(worker, "/machine/image/name");
        wanted.extend(image.map(|name| label("operatingsystemconfig", name)));
    }
    for extension in list(shoot, "/spec/extensions") {
        let kind = extension["type"].as_str().unwrap_or_default();
        wanted.extend((extension["disabled"] != true).then(|| label("extensions", kind)));
    }
    wanted
}
