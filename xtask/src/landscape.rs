//! Keeps the simulated landscape out of what runs in production: only `kcp up` uses it, and a build can leave it out.
//!
//! What a reader would get wrong: the feature alone proves nothing. Whatever is built for tests has it, so an import in the wrong
//! place would be found only by the build without it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// Paths that must not be named outside of the folder.
const BANNED: [&str; 2] = ["simulators::", "crate::up"];

/// The places in `server` that use the landscape and are no part of `kcp up`.
pub(crate) fn complaints(repository: &Path) -> Result<Vec<String>> {
    let sources = repository.join("crates/server/src");
    let mut found = Vec::new();
    for file in files(&sources)? {
        let text = fs::read_to_string(&file)
            .with_context(|| format!("{} is unreadable", file.display()))?;
        let name = file.strip_prefix(&sources).unwrap_or(&file).to_string_lossy().into_owned();
        found.extend(of_file(&name, &text));
    }
    Ok(found)
}

fn of_file(name: &str, text: &str) -> Vec<String> {
    let is_test = name.ends_with("tests.rs");
    if is_test || name == "up.rs" || name.starts_with("up/") {
        return Vec::new();
    }
    let uses =
        |line: &str| BANNED.iter().any(|word| line.contains(word)) || line.starts_with("up::");
    let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| uses(line));
    lines
        .map(|(number, _)| {
            format!("server/src/{name}:{}: only `up` may use the landscape", number + 1)
        })
        .collect()
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("{} is unreadable", folder.display()))?
    {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(files(&path)?);
        } else if path.extension().is_some_and(|end| end == "rs") {
            all.push(path);
        }
    }
    all.sort();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_up_and_tests_may_use_the_landscape() {
        let text = "use base::Clock;\nuse simulators::trouble::wire::Wire;\n";

        assert_eq!(of_file("up.rs", text), [""; 0]);
        assert_eq!(of_file("up/landscape.rs", text), [""; 0]);
        assert_eq!(of_file("sign_in/tests.rs", text), [""; 0]);
        assert_eq!(
            of_file("serving/connection.rs", text),
            ["server/src/serving/connection.rs:2: only `up` may use the landscape"]
        );
        assert_eq!(of_file("place.rs", "use crate::{\n    up::Folder,\n};").len(), 1);
    }
}
