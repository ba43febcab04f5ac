//! Templates of new Kymas: a `ConfigMap` of the control plane, one per service plan.

use k8s_openapi::api::core::v1::ConfigMap;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{LifecycleManager, Marks, Version};
use crate::{
    error::{Error, Kind},
    kubernetes::Resource,
};

const CONFIG_MAPS: Resource = Resource::core("ConfigMap", "configmaps");
/// Marks the `ConfigMaps` that are ours.
const OURS: &str = "keb-config=true";
/// The key of plans that have none of their own.
const DEFAULT: &str = "default";

/// Where templates are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateSource<'a> {
    /// In the one `ConfigMap` of this name: today's way.
    Named(&'a str),
    /// In the one `ConfigMap` with the label of this version of Kyma; what is not released has the default's.
    OfVersion {
        /// The version.
        version: &'a str,
        /// The version that stands in for those that are not released.
        default: &'a str,
    },
}

/// A Kyma before it has a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    object: Value,
    version: Version,
    namespace: String,
    /// Components that the Reconciler installs in addition, where the template lists them.
    pub additional_components: Option<Value>,
}

/// A module that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// Its channel; the Kyma's if there is none.
    pub channel: Option<String>,
    /// The policy for its own resource.
    pub policy: Option<Policy>,
}

/// The policy for a module's own resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// It is made and deleted with the module.
    CreateAndDelete,
    /// It is left alone.
    Ignore,
}

/// The entry of a plan.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Entry {
    kyma_template: Option<String>,
    additional_components: Option<Value>,
}

impl LifecycleManager {
    /// The template for a service plan. None is [`Kind::NotFound`], more than one is [`Kind::Conflict`], one that
    /// cannot be read is [`Kind::Malformed`].
    pub async fn template(&self, from: TemplateSource<'_>, plan: &str) -> Result<Template, Error> {
        let doing = format!("reading the Kyma template of plan {plan}");
        let maps = self.cluster.objects::<ConfigMap>(CONFIG_MAPS, Some(&self.namespace));
        let map = match from {
            TemplateSource::Named(name) => maps.get(name).await?,
            TemplateSource::OfVersion { version, default } => {
                let label = format!("runtime-version-{}", released(version, default));
                let mut found = maps.list(&format!("{OURS},{label}=true")).await?.into_iter();
                match (found.next(), found.next()) {
                    (Some(one), None) => one,
                    (None, _) => {
                        let why = format!("no ConfigMap has the label {label}");
                        return Err(Self::failed(Kind::NotFound, &doing, why));
                    }
                    (Some(_), Some(_)) => {
                        let why = format!("more than one ConfigMap has the label {label}");
                        return Err(Self::failed(Kind::Conflict, &doing, why));
                    }
                }
            }
        };
        let data = map.data.unwrap_or_default();
        let Some(text) = data.get(plan).or_else(|| data.get(DEFAULT)) else {
            let why = format!("it has neither a key {plan} nor a key {DEFAULT}");
            return Err(Self::failed(Kind::NotFound, &doing, why));
        };
        let wants_components = matches!(from, TemplateSource::OfVersion { .. });
        entry(text, wants_components).map_err(|why| Self::failed(Kind::Malformed, &doing, why))
    }
}

/// The version whose template counts.
fn released(version: &str, default: &str) -> String {
    let early = ["PR-", "main-"].iter().any(|prefix| version.starts_with(prefix));
    (if early { default } else { version }).to_lowercase()
}

fn entry(text: &str, wants_components: bool) -> Result<Template, String> {
    let entry: Entry =
        serde_saphyr::from_str(text).map_err(|_| "the entry is no YAML".to_owned())?;
    if wants_components && entry.additional_components.is_none() {
        return Err("it has no additional-components".to_owned());
    }
    let template = entry.kyma_template.ok_or("it has no kyma-template")?;
    let mut template = Template::parse(&template)?;
    template.additional_components = entry.additional_components;
    Ok(template)
}

impl Template {
    /// Reads a template. What is wrong with it is said for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        // Templates in use say `Kind:`.
        let text = text.replace("Kind:", "kind:");
        let object: Value =
            serde_saphyr::from_str(&text).map_err(|_| "the template is no YAML".to_owned())?;
        if object["kind"] != "Kyma" {
            return Err("the template is no Kyma".to_owned());
        }
        let api = object["apiVersion"].as_str().unwrap_or_default();
        let version = api
            .strip_prefix("operator.kyma-project.io/")
            .and_then(|version| version.parse().ok())
            .ok_or_else(|| format!("the template has the unknown version \"{api}\""))?;
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        if namespace.is_empty() {
            return Err("the template has no namespace".to_owned());
        }
        Ok(Self { object, version, namespace, additional_components: None })
    }

    /// The version of the Kyma resource.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Where the Kyma will be.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The same in another namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.object["metadata"]["namespace"] = json!(namespace);
        namespace.clone_into(&mut self.namespace);
        self
    }

    /// The same on another channel.
    #[must_use]
    pub fn on_channel(mut self, channel: &str) -> Self {
        self.object["spec"]["channel"] = json!(channel);
        self
    }

    /// The same with these modules and no others.
    #[must_use]
    pub fn with_modules(mut self, modules: &[Module]) -> Self {
        let modules = modules.iter().map(|module| {
            let mut entry = json!({"name": module.name});
            if let Some(channel) = &module.channel {
                entry["channel"] = json!(channel);
            }
            if let Some(policy) = module.policy {
                entry["customResourcePolicy"] = json!(match policy {
                    Policy::CreateAndDelete => "CreateAndDelete",
                    Policy::Ignore => "Ignore",
                });
            }
            entry
        });
        self.object["spec"]["modules"] = modules.collect();
        self
    }

    /// The Kyma as it is created.
    pub(super) fn named(&self, name: &str, marks: &Marks) -> Value {
        let mut object = self.object.clone();
        let metadata = &mut object["metadata"];
        metadata["name"] = json!(name);
        metadata["namespace"] = json!(self.namespace);
        for (which, wanted) in [("labels", &marks.labels), ("annotations", &marks.annotations)] {
            if !metadata[which].is_object() {
                metadata[which] = json!({});
            }
            for (key, value) in wanted {
                metadata[which][key.as_str()] = json!(value);
            }
        }
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "apiVersion: operator.kyma-project.io/v1beta2\nKind: Kyma\nmetadata: {name: tbd, namespace: kcp-system}\nspec: {channel: regular, modules: [{name: istio}]}\n";

    #[test]
    fn a_template_becomes_a_kyma_with_a_name_and_marks() {
        let template = Template::parse(TEXT).unwrap();
        let marks = Marks { labels: [("a".into(), "b".into())].into(), ..Marks::default() };

        let kyma = template.clone().on_channel("fast").with_modules(&[]).named("k-1", &marks);

        assert_eq!(template.version(), Version::V1Beta2);
        assert_eq!(kyma["kind"], "Kyma");
        assert_eq!(kyma["metadata"]["name"], "k-1");
        assert_eq!(kyma["metadata"]["labels"], json!({"a": "b"}));
        assert_eq!(kyma["spec"], json!({"channel": "fast", "modules": []}));
    }

    #[test]
    fn a_template_that_cannot_be_used_says_why() {
        let wrong = [
            (TEXT.replace("Kyma", "Other"), "no Kyma"),
            (TEXT.replace("v1beta2", "v9"), "unknown version"),
            (TEXT.replace(", namespace: kcp-system", ""), "no namespace"),
            ("[".to_owned(), "no YAML"),
        ];

        for (text, why) in wrong {
            let error = Template::parse(&text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        assert!(entry("kyma-template: x", true).unwrap_err().contains("additional-components"));
        assert!(entry("other: x", false).unwrap_err().contains("kyma-template"));
    }

    #[test]
    fn versions_that_are_not_released_have_the_template_of_the_default() {
        assert_eq!(released("PR-123", "2.9.3"), "2.9.3");
        assert_eq!(released("main-abc", "2.9.3"), "2.9.3");
        assert_eq!(released("2.10.0-RC1", "2.9.3"), "2.10.0-rc1");
    }
}
