//! Where the catalog's data comes from: the program itself, or a folder that replaces it.

use std::{fs, path::Path};

use serde::de::DeserializeOwned;

use super::CatalogError;

pub(super) const SERVICE: &str = "service.yaml";
pub(super) const PLANS: &str = "plans.yaml";
pub(super) const PROVIDERS: &str = "providers.yaml";
pub(super) const REGIONS: &str = "regions.yaml";
pub(super) const EU_ACCESS: &str = "eu-access.yaml";
pub(super) const DEFAULTS: &str = "defaults.yaml";

macro_rules! embedded {
    ($name:expr, $file:literal) => {
        ($name.to_owned(), include_str!(concat!("../../../../config/catalog/", $file)).to_owned())
    };
}

/// The catalog's files, by name.
#[derive(Debug, Clone)]
pub struct Files(Vec<(String, String)>);

impl Files {
    /// The files that the program was built with.
    pub fn embedded() -> Self {
        Self(vec![
            embedded!(SERVICE, "service.yaml"),
            embedded!(PLANS, "plans.yaml"),
            embedded!(PROVIDERS, "providers.yaml"),
            embedded!(REGIONS, "regions.yaml"),
            embedded!(EU_ACCESS, "eu-access.yaml"),
            embedded!(DEFAULTS, "defaults.yaml"),
        ])
    }

    /// The files of a folder. What it does not have is taken from the program; what nobody knows is refused, because a
    /// misspelt name would otherwise change nothing.
    pub fn folder(folder: &Path) -> Result<Self, CatalogError> {
        let unreadable = |path: &Path| {
            let file = path.display().to_string();
            move |source| CatalogError::Unreadable { file, source }
        };
        let mut files = Self::embedded();
        for entry in fs::read_dir(folder).map_err(unreadable(folder))? {
            let path = entry.map_err(unreadable(folder))?.path();
            if path.extension().is_none_or(|extension| extension != "yaml" && extension != "yml") {
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !files.0.iter().any(|(known, _)| *known == name) {
                return Err(CatalogError::Unknown { file: path.display().to_string() });
            }
            files = files.with(&name, fs::read_to_string(&path).map_err(unreadable(&path))?);
        }
        Ok(files)
    }

    /// The same files with one replaced.
    pub fn with(mut self, name: &str, text: String) -> Self {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = text,
            None => self.0.push((name.to_owned(), text)),
        }
        self
    }

    /// The text of a file.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// The line on which a key of the topmost level stands; 0 when it does not.
    pub(super) fn line_of(&self, name: &str, key: &str) -> u64 {
        let lines = self.text(name).unwrap_or_default().lines();
        (1..)
            .zip(lines)
            .find(|(_, line)| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
            .map_or(0, |(number, _)| number)
    }

    pub(super) fn parse<T: DeserializeOwned>(&self, name: &str) -> Result<T, CatalogError> {
        serde_saphyr::from_str(self.text(name).unwrap_or_default()).map_err(|error| {
            CatalogError::Malformed {
                file: name.to_owned(),
                line: error.location().map_or(0, |location| location.line()),
                problem: error.without_snippet().to_string(),
            }
        })
    }
}
