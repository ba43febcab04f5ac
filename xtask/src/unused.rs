//! Dependencies that no source names, and those that only tests name.
//!
//! What a reader would get wrong: it reads text, and a path in a comment counts. It finds what was left behind, and never accuses
//! what is used.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde::Deserialize;
use toml::{Table, Value};

/// A dependency as `cargo metadata` prints it.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    name: String,
    rename: Option<String>,
    /// None for one that is not only for tests or build scripts.
    kind: Option<String>,
}

/// One of our crates.
pub(crate) struct Crate<'a> {
    pub(crate) name: &'a str,
    pub(crate) folder: &'a Path,
    pub(crate) dependencies: &'a [Dependency],
}

/// The sources of a crate.
#[derive(Default)]
struct Sources {
    shipped: Vec<String>,
    tests: Vec<String>,
}

impl Dependency {
    fn name(&self) -> &str {
        self.rename.as_deref().unwrap_or(&self.name)
    }
}

impl Crate<'_> {
    /// Problems of its dependencies.
    pub(crate) fn problems(&self) -> Result<Vec<String>> {
        let mut sources = Sources::default();
        sources.read(self.folder, false)?;
        Ok(self.dependencies.iter().filter_map(|it| sources.problem(self.name, it)).collect())
    }
}

/// Versions that the workspace chooses and no crate uses.
pub(crate) fn unused_versions(repository: &Path, crates: &[Crate<'_>]) -> Result<Vec<String>> {
    let text = fs::read_to_string(repository.join("Cargo.toml")).context("Cargo.toml")?;
    let manifest: Table = toml::from_str(&text).context("Cargo.toml")?;
    let table = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let chosen =
        table.and_then(Value::as_table).context("Cargo.toml: no workspace.dependencies")?;
    let used: BTreeSet<&str> =
        crates.iter().flat_map(|one| one.dependencies).map(Dependency::name).collect();
    let ours = |value: &Value| value.get("path").is_some();
    let unused =
        chosen.iter().filter(|(name, value)| !ours(value) && !used.contains(name.as_str()));
    Ok(unused.map(|(name, _)| format!("workspace: no crate depends on {name}")).collect())
}

impl Sources {
    fn read(&mut self, folder: &Path, in_tests: bool) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path: PathBuf = entry?.path();
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let in_tests = in_tests || name == "tests" || name.ends_with("_tests");
            if path.is_dir() {
                self.read(&path, in_tests)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                if in_tests { self.tests.push(text) } else { self.shipped.push(text) }
            }
        }
        Ok(())
    }

    fn problem(&self, of: &str, dependency: &Dependency) -> Option<String> {
        let name = dependency.name();
        let word = name.replace('-', "_");
        let named = |texts: &[String]| texts.iter().any(|text| names(text, &word));
        if named(&self.shipped) {
            return None;
        }
        if !named(&self.tests) {
            return Some(format!("{of} does not use {name}"));
        }
        dependency.kind.is_none().then(|| format!("{of} uses {name} in tests only"))
    }
}

/// Whether a path, a macro or an import begins with this word.
fn names(text: &str, word: &str) -> bool {
    let part_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let whole = !before.ends_with(part_of_word) && !after.starts_with(part_of_word);
        let imported = before.ends_with("use ") && after.starts_with([';', ' ']);
        whole && (imported || after.starts_with("::") || after.starts_with('!'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependency(name: &str, kind: Option<&str>) -> Dependency {
        Dependency { name: name.into(), rename: None, kind: kind.map(ToOwned::to_owned) }
    }

    #[test]
    fn a_word_is_named_as_the_beginning_of_a_path_a_macro_or_an_import() {
        for text in
            ["use url::Url;", "let a = url::parse(b);", "url!(a)", "use url;", "use url as u;"]
        {
            assert!(names(text, "url"), "{text}");
        }
        for text in ["let url = a;", "use curl::Url;", "url_of::a()", "self.url()", ""] {
            assert!(!names(text, "url"), "{text}");
        }
    }

    #[test]
    fn what_nobody_names_and_what_only_tests_name_is_found() {
        let sources =
            Sources { shipped: vec!["use tokio_util::a;".into()], tests: vec!["tower::b".into()] };
        let problem = |name, kind| sources.problem("api", &dependency(name, kind));

        assert_eq!(problem("tokio-util", None), None);
        assert_eq!(problem("tower", Some("dev")), None);
        assert_eq!(problem("tower", None).unwrap(), "api uses tower in tests only");
        assert_eq!(problem("url", Some("dev")).unwrap(), "api does not use url");
    }
}
