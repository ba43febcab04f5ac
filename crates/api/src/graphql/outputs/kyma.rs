//! What is installed in a cluster.

use async_graphql::SimpleObject;
use provisioner::configuration::{Component, Entry, Kyma, Profile};

/// What stands in place of a secret.
const REDACTED: &str = "[REDACTED]";

/// A Kyma installation.
#[derive(SimpleObject)]
pub(super) struct KymaConfig {
    version: Option<String>,
    profile: Option<Profile>,
    components: Option<Vec<Option<ComponentConfiguration>>>,
    configuration: Option<Vec<Option<ConfigEntry>>>,
}

#[derive(SimpleObject)]
struct ComponentConfiguration {
    component: String,
    namespace: String,
    configuration: Option<Vec<Option<ConfigEntry>>>,
    #[graphql(name = "sourceURL")]
    source_url: Option<String>,
}

#[derive(SimpleObject)]
struct ConfigEntry {
    key: String,
    /// `[REDACTED]` when it is a secret.
    value: String,
    secret: Option<bool>,
}

impl From<Kyma> for KymaConfig {
    fn from(kyma: Kyma) -> Self {
        let components = kyma.components.into_iter().map(|component| Some(component.into()));
        Self {
            version: Some(kyma.version),
            profile: kyma.profile,
            components: Some(components.collect()),
            configuration: entries(kyma.configuration),
        }
    }
}

impl From<Component> for ComponentConfiguration {
    fn from(component: Component) -> Self {
        Self {
            component: component.component,
            namespace: component.namespace,
            configuration: entries(component.configuration),
            source_url: component.source_url,
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the schema allows null here")]
fn entries(entries: Vec<Entry>) -> Option<Vec<Option<ConfigEntry>>> {
    // That there is one may be known, what it is may not.
    let shown = |value, secret| if secret { REDACTED.to_owned() } else { value };
    let entry = |Entry { key, value, secret }| {
        let value = shown(value, secret);
        Some(ConfigEntry { key, value, secret: Some(secret) })
    };
    Some(entries.into_iter().map(entry).collect())
}
