//! Releases of Kyma: what its installer is made of, by version.

mod components;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    error::{Component, Error, Kind},
    http::{Http, segment},
    kubernetes::Cluster,
};

pub use components::{ComponentLists, ListedComponent};

/// How many releases are kept in memory; more than that are rarely in use at once.
const KEPT: usize = 8;

/// The installer of a release.
#[derive(Debug, Clone, PartialEq)]
pub struct Release {
    /// Its version.
    pub version: String,
    /// The objects of the installer, in the order in which they are applied.
    pub installer: Vec<serde_json::Value>,
    /// The objects of Tiller, for releases that need it.
    pub tiller: Vec<serde_json::Value>,
}

/// Where releases come from.
#[derive(Debug)]
pub struct Releases {
    released: Http,
    development: Http,
    kept: Mutex<BTreeMap<String, Arc<Release>>>,
}

impl Releases {
    /// The place of releases, and the place of what is not released yet.
    pub fn new(released: Http, development: Http) -> Self {
        Self { released, development, kept: Mutex::default() }
    }

    /// One release; [`Kind::NotFound`] when there is none of this version.
    pub async fn find(&self, version: &str) -> Result<Arc<Release>, Error> {
        if let Some(found) = self.kept().get(version) {
            return Ok(found.clone());
        }
        let doing = format!("downloading the installer of Kyma {version}");
        let unknown = || Error::new(Component::RELEASES, Kind::NotFound, &doing);
        let part = segment(version).ok_or_else(unknown)?;
        let is_early = is_early(version);
        let http = if is_early { &self.development } else { &self.released };
        let installer = fetch(http, &doing, &format!("{part}/kyma-installer-cluster.yaml")).await?;
        let tiller = match fetch(http, &doing, &format!("{part}/tiller.yaml")).await {
            Err(error) if error.kind == Kind::NotFound => String::new(),
            fetched => fetched?,
        };
        let read = |text: &str| {
            Cluster::documents(text).ok_or_else(|| {
                Error::new(Component::RELEASES, Kind::Malformed, &doing).saying("it is no YAML")
            })
        };
        let (installer, tiller) = (read(&installer)?, read(&tiller)?);
        let found = Arc::new(Release { version: version.into(), installer, tiller });
        // What is not released may change under the same name.
        if !is_early {
            let mut kept = self.kept();
            if kept.len() >= KEPT {
                kept.pop_first();
            }
            kept.insert(version.into(), found.clone());
        }
        Ok(found)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Release>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a version is not released: what is under its name may change.
fn is_early(version: &str) -> bool {
    version == "main" || ["PR-", "main-"].iter().any(|prefix| version.starts_with(prefix))
}

async fn fetch(http: &Http, doing: &str, path: &str) -> Result<String, Error> {
    http.send_to("release", doing, http.get(path)).await?.text()
}
