//! The components of a release of Kyma, in the order in which they are installed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Deserialize;

use super::{KEPT, fetch, is_early};
use crate::{
    error::{Component, Error, Kind},
    http::{Http, segment},
};

/// A component of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedComponent {
    /// Its name.
    pub name: String,
    /// Where it is installed.
    pub namespace: String,
    /// Where it comes from, if not from the release.
    pub url: Option<String>,
}

/// The lists of components, by version. Clones are the same ones.
#[derive(Debug, Clone)]
pub struct ComponentLists {
    released: Http,
    development: Http,
    kept: Arc<Mutex<BTreeMap<String, Arc<Vec<ListedComponent>>>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    default_namespace: String,
    #[serde(default)]
    prerequisites: Vec<ComponentEntry>,
    #[serde(default)]
    components: Vec<ComponentEntry>,
}

#[derive(Deserialize)]
struct ComponentEntry {
    name: String,
    namespace: Option<String>,
    url: Option<String>,
}

impl ComponentLists {
    /// The place of releases, and the place of what is not released yet.
    pub fn new(released: Http, development: Http) -> Self {
        Self { released, development, kept: Arc::default() }
    }

    /// The components of a version, prerequisites first; [`Kind::NotFound`] when there is no such version.
    pub async fn of(&self, version: &str) -> Result<Arc<Vec<ListedComponent>>, Error> {
        if let Some(found) = self.kept().get(version) {
            return Ok(found.clone());
        }
        let doing = format!("downloading the components of Kyma {version}");
        let unknown = || Error::new(Component::RELEASES, Kind::NotFound, &doing);
        let part = segment(version).ok_or_else(unknown)?;
        let http = if is_early(version) { &self.development } else { &self.released };
        let text = fetch(http, &doing, &format!("{part}/kyma-components.yaml")).await?;
        let file: File = serde_saphyr::from_str(&text).map_err(|_| {
            Error::new(Component::RELEASES, Kind::Malformed, &doing).saying("it is no list")
        })?;
        let found = Arc::new(file.listed());
        if !is_early(version) {
            let mut kept = self.kept();
            if kept.len() >= KEPT {
                kept.pop_first();
            }
            kept.insert(version.into(), found.clone());
        }
        Ok(found)
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Vec<ListedComponent>>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl File {
    fn listed(self) -> Vec<ListedComponent> {
        let usual = self.default_namespace;
        let filled = |ComponentEntry { name, namespace, url }| {
            let given = namespace.filter(|namespace| !namespace.is_empty());
            ListedComponent { name, namespace: given.unwrap_or_else(|| usual.clone()), url }
        };
        self.prerequisites.into_iter().chain(self.components).map(filled).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prerequisites_come_first_and_namespaces_are_filled_in() {
        let text = "defaultNamespace: kyma-system\n\
                    prerequisites: [{name: essentials}, {name: istio, namespace: istio-system}]\n\
                    components: [{name: serverless, url: https://x.test/s.tgz}]\n";

        let listed = serde_saphyr::from_str::<File>(text).unwrap().listed();

        let names: Vec<_> = listed.iter().map(|one| (&*one.name, &*one.namespace)).collect();
        let expected = [
            ("essentials", "kyma-system"),
            ("istio", "istio-system"),
            ("serverless", "kyma-system"),
        ];
        assert_eq!(names, expected);
        assert_eq!(listed[2].url.as_deref(), Some("https://x.test/s.tgz"));
    }
}
