//! Overrides of Kyma's defaults, per component or for all of them, and where operators keep them.
//!
//! What a reader would get wrong: `Debug` shows no value, secret or not. What is marked as secret here stays marked
//! until it reaches the Reconciler or the installer.

pub(crate) mod objects;

use std::{collections::BTreeMap, fmt};

use clients::{
    Component, Error, Kind,
    kubernetes::{Cluster, Resource},
};
use objects::{ConfigMap, Secret};

/// Marks the Secrets with overrides.
const SECRETS_WITH_OVERRIDES: &str = "runtime-override=true";
/// Names the component that an object's overrides are for.
const COMPONENT_LABEL: &str = "component";

/// One value of an override.
#[derive(Clone, PartialEq, Eq)]
pub struct Value {
    /// The text.
    pub text: String,
    /// Whether nobody may read it.
    pub secret: bool,
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.secret { "[SECRET]" } else { "[VALUE]" })
    }
}

/// Overrides by key.
pub type Entries = BTreeMap<String, Value>;

/// Overrides for all components and for single ones; of two values under one key the later one counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    global: Entries,
    components: BTreeMap<String, Entries>,
}

impl Overrides {
    /// Sets a value for all components, or for one.
    pub fn set(&mut self, component: Option<&str>, key: &str, text: &str, secret: bool) {
        let entries = match component {
            Some(component) => self.components.entry(component.to_owned()).or_default(),
            None => &mut self.global,
        };
        entries.insert(key.to_owned(), Value { text: text.to_owned(), secret });
    }

    /// Sets all that others say.
    pub fn extend(&mut self, others: Self) {
        self.global.extend(others.global);
        for (component, entries) in others.components {
            self.components.entry(component).or_default().extend(entries);
        }
    }

    /// Overrides for all components.
    pub fn global(&self) -> &Entries {
        &self.global
    }

    /// Overrides for one component alone.
    pub fn of(&self, component: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.components.get(component).into_iter().flatten()
    }
}

/// Collects the overrides of a plan and a version: Secrets first, then `ConfigMaps`, each in the order of their names.
/// A plan and version for which there is no `ConfigMap` at all is [`Kind::NotFound`]; an empty one is enough.
pub async fn find(
    cluster: &Cluster,
    namespace: &str,
    plan: &str,
    version: &str,
) -> Result<Overrides, Error> {
    let mut found = Overrides::default();
    let secrets = Resource::core("Secret", "secrets");
    for secret in
        objects::list::<Secret>(cluster, secrets, namespace, SECRETS_WITH_OVERRIDES).await?
    {
        let component = secret.metadata.label(COMPONENT_LABEL);
        for (key, text) in secret.texts()? {
            found.set(component, key, &text, true);
        }
    }
    let version = version.to_lowercase();
    let selector = format!("overrides-plan-{plan}=true,overrides-version-{version}=true");
    let maps =
        objects::list::<ConfigMap>(cluster, objects::CONFIG_MAPS, namespace, &selector).await?;
    if maps.is_empty() {
        let doing = format!("looking for the overrides of plan {plan} and version {version}");
        let why = format!("no ConfigMap in {namespace} has the labels {selector}");
        return Err(Error::new(Component::CONTROL_PLANE, Kind::NotFound, &doing)
            .because("NoOverrides")
            .saying(why));
    }
    for map in &maps {
        let component = map.metadata.label(COMPONENT_LABEL);
        for (key, text) in map.data.iter().flatten() {
            found.set(component, key, text, false);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_value_counts_and_brings_its_own_mark() {
        let mut first = Overrides::default();
        first.set(Some("istio"), "size", "small", true);
        first.set(None, "global.x", "1", false);
        let mut second = Overrides::default();
        second.set(Some("istio"), "size", "large", false);

        first.extend(second);

        let istio: Vec<_> = first.of("istio").collect();
        let large = Value { text: "large".into(), secret: false };
        assert_eq!(istio, [(&"size".to_owned(), &large)]);
        assert_eq!(first.global().len(), 1);
        assert_eq!(first.of("other").count(), 0);
    }

    #[test]
    fn no_value_is_printed() {
        let mut overrides = Overrides::default();
        overrides.set(Some("logging"), "password", "hush", true);

        assert!(!format!("{overrides:?}").contains("hush"));
    }
}
