//! The operator's configuration of a plan: further components, and the template of the Kyma resource.

use clients::{Component, Error, Kind, releases::ListedComponent};
use serde::Deserialize;

use crate::{operations::env::Env, overrides::objects};

/// The key of plans that have none of their own.
const DEFAULT: &str = "default";

/// The operator's configuration of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanConfiguration {
    /// Components besides those of the release.
    pub additional_components: Vec<ListedComponent>,
    /// The template of the Kyma resource.
    pub kyma_template: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Entry {
    additional_components: Vec<Additional>,
    kyma_template: Option<String>,
}

#[derive(Deserialize)]
struct Additional {
    name: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    source: Option<Source>,
}

#[derive(Deserialize)]
struct Source {
    url: String,
}

/// The configuration of a plan for a version of Kyma. Exactly one `ConfigMap` must have it; what is not released and
/// has none of its own uses that of the default version.
pub(in crate::operations) async fn plan_configuration(
    env: &Env,
    plan: &str,
    version: &str,
) -> Result<PlanConfiguration, Error> {
    let doing = format!("reading the configuration of plan {plan} for Kyma {version}");
    let failed = |kind, why: String| Error::new(Component::CONTROL_PLANE, kind, &doing).saying(why);
    let mut maps = maps(env, version).await?;
    let early = version.starts_with("PR-") || version.starts_with("main");
    if maps.is_empty() && early {
        maps = self::maps(env, &env.settings.default_kyma_version).await?;
    }
    let [map] = maps.as_slice() else {
        let (count, label) = (maps.len(), label(version));
        let why = format!("{count} ConfigMaps have the labels keb-config and {label}, not one");
        return Err(failed(Kind::NotFound, why));
    };
    let data = map.data.as_ref();
    let text = data.and_then(|data| data.get(plan).or_else(|| data.get(DEFAULT)));
    let text = text.ok_or_else(|| {
        failed(Kind::NotFound, format!("it has neither a key {plan} nor a key {DEFAULT}"))
    })?;
    // An operator has to change it before another try can help.
    read(text).map_err(|why| failed(Kind::Refused { status: 422 }, why))
}

async fn maps(env: &Env, version: &str) -> Result<Vec<objects::ConfigMap>, Error> {
    let selector = format!("keb-config=true,{}=true", label(version));
    objects::list(&env.control_plane, objects::CONFIG_MAPS, &env.settings.namespace, &selector)
        .await
}

fn label(version: &str) -> String {
    format!("runtime-version-{}", version.to_lowercase())
}

fn read(text: &str) -> Result<PlanConfiguration, String> {
    let entry: Entry =
        serde_saphyr::from_str(text).map_err(|error| format!("it cannot be read: {error}"))?;
    let component = |Additional { name, namespace, source }| ListedComponent {
        name,
        namespace,
        url: source.map(|source| source.url),
    };
    Ok(PlanConfiguration {
        additional_components: entry.additional_components.into_iter().map(component).collect(),
        kyma_template: entry.kyma_template.filter(|template| !template.trim().is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additional_components_are_required_and_the_template_is_not() {
        let full = "additional-components: [{name: a, namespace: n, source: {url: u}}, {name: b}]\n\
                    kyma-template: |-\n  kind: Kyma\n";

        let read_full = read(full).unwrap();

        assert_eq!(read_full.additional_components[0].url.as_deref(), Some("u"));
        assert_eq!(read_full.additional_components[1].name, "b");
        assert_eq!(read_full.kyma_template.as_deref(), Some("kind: Kyma"));
        assert_eq!(read("additional-components: []").unwrap().kyma_template, None);
        assert!(read("kyma-template: x").unwrap_err().contains("additional-components"));
    }
}
