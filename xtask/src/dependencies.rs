//! Compares the crates that are built in with `deny.toml`: licences, bans and sources; and finds dependencies that nothing uses.
//!
//! What a reader would get wrong: it is no replacement for `cargo deny`, which reads the same file and knows advisories.
//! It needs nothing that is not here already, so every change is checked.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::unused::{Crate, Dependency, unused_versions};

#[derive(Deserialize)]
struct Rules {
    licenses: Licences,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// None for our own.
    source: Option<String>,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

/// Whether every crate is allowed and used; prints those that are not.
pub(crate) fn check(repository: &Path) -> Result<bool> {
    let text = fs::read_to_string(repository.join("deny.toml")).context("deny.toml")?;
    let rules: Rules = toml::from_str(&text).context("deny.toml")?;
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .current_dir(repository)
        .output()
        .context("cargo metadata")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    let others = metadata.packages.iter().filter(|package| package.source.is_some());
    let mut problems: Vec<String> = others.filter_map(|package| rules.problem(package)).collect();
    let ours: Vec<Crate<'_>> = metadata.packages.iter().filter_map(own).collect();
    for one in &ours {
        problems.extend(one.problems()?);
    }
    problems.extend(unused_versions(repository, &ours)?);
    for problem in &problems {
        eprintln!("{problem}");
    }
    Ok(problems.is_empty())
}

/// The package as one of our crates, if it is.
fn own(package: &Package) -> Option<Crate<'_>> {
    let Package { name, source, manifest_path, dependencies, .. } = package;
    let folder = manifest_path.parent()?;
    source.is_none().then_some(Crate { name, folder, dependencies })
}

impl Rules {
    fn problem(&self, package: &Package) -> Option<String> {
        let Package { name, version, license, source, .. } = package;
        if self.bans.deny.iter().any(|ban| ban.name == *name) {
            return Some(format!("{name} {version} is banned by deny.toml"));
        }
        let registry = source.as_deref()?.strip_prefix("registry+");
        if !registry.is_some_and(|from| self.sources.allow_registry.iter().any(|one| one == from)) {
            return Some(format!("{name} {version} comes from {}", source.as_deref()?));
        }
        let Some(license) = license else {
            return Some(format!("{name} {version} names no licence"));
        };
        (!self.allows(license)).then(|| {
            format!("{name} {version} has the licence {license}, which deny.toml does not allow")
        })
    }

    /// Whether a licence expression can be met: all parts of an AND, one part of an OR.
    fn allows(&self, expression: &str) -> bool {
        let expression = expression.trim();
        let parts = split(expression, " AND ");
        if parts.len() > 1 {
            return parts.into_iter().all(|part| self.allows(part));
        }
        let parts: Vec<&str> =
            split(expression, " OR ").into_iter().flat_map(|part| split(part, "/")).collect();
        if parts.len() > 1 {
            return parts.into_iter().any(|part| self.allows(part));
        }
        if let Some(inner) = expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            return self.allows(inner);
        }
        self.licenses.allow.iter().any(|one| one == expression)
    }
}

/// Splits where the separator stands outside of parentheses.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && at >= from && text[at..].starts_with(separator) {
            parts.push(&text[from..at]);
            from = at + separator.len();
        }
    }
    parts.push(&text[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        toml::from_str(
            "licenses = { allow = [\"MIT\", \"ISC\"] }\nbans = { deny = [{ name = \"openssl\" }] }\n\
             sources = { allow-registry = [\"https://crates\"] }",
        )
        .unwrap()
    }

    #[test]
    fn a_licence_expression_is_read_as_it_is_meant() {
        let rules = rules();
        for good in
            ["MIT", "GPL-3.0 OR MIT", "GPL-3.0/MIT", "MIT AND ISC", "(GPL-3.0 OR MIT) AND ISC"]
        {
            assert!(rules.allows(good), "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND GPL-3.0", "MIT-0", ""] {
            assert!(!rules.allows(bad), "{bad}");
        }
    }

    #[test]
    fn what_is_banned_or_comes_from_elsewhere_is_named() {
        let package = |name: &str, source: &str| Package {
            name: name.into(),
            version: "1.0.0".into(),
            license: Some("MIT".into()),
            source: Some(source.into()),
            manifest_path: PathBuf::new(),
            dependencies: Vec::new(),
        };
        let problem = |name, source| rules().problem(&package(name, source));

        assert_eq!(problem("good", "registry+https://crates"), None);
        assert!(problem("openssl", "registry+https://crates").unwrap().contains("banned"));
        assert!(problem("good", "git+https://other").unwrap().contains("git+https://other"));
    }
}
