//! Compares the dependencies between our crates with the map in `ARCHITECTURE.md`.
//!
//! What a reader would get wrong: the feature `testing` counts as part of an edge. A crate may use a
//! neighbour and still not its test support, except in tests.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::landscape;

/// The crates that each crate may use: everything to its right on the map.
const MAP: [(&str, &[&str]); 15] = [
    (
        "acceptance",
        &[
            "api",
            "base",
            "bench",
            "broker",
            "cli",
            "clients",
            "cluster",
            "console",
            "domain",
            "engine",
            "provisioner",
            "server",
            "simulators",
            "store",
        ],
    ),
    ("cli", &["server", "bench", "clients", "domain", "base"]),
    (
        "server",
        &[
            "api",
            "console",
            "broker",
            "provisioner",
            "simulators",
            "store",
            "clients",
            "engine",
            "domain",
            "base",
        ],
    ),
    ("bench", &["store", "engine", "base"]),
    ("api", &["broker", "provisioner", "domain", "base"]),
    ("console", &["broker", "domain", "base"]),
    ("broker", &["store", "clients", "engine", "domain", "base"]),
    ("provisioner", &["store", "clients", "engine", "base"]),
    ("store", &["engine", "base"]),
    ("clients", &["base"]),
    ("engine", &["base"]),
    ("domain", &[]),
    ("simulators", &["cluster", "base"]),
    ("cluster", &["base"]),
    ("base", &[]),
];

/// Further crates that each crate may use in its tests.
const IN_TESTS: [(&str, &[&str]); 5] = [
    ("server", &["bench"]),
    ("api", &["simulators", "clients", "store", "engine"]),
    ("broker", &["simulators", "store", "engine"]),
    ("provisioner", &["cluster", "simulators", "store", "engine"]),
    // The garden and the runtimes that clients are tested against are clusters.
    ("clients", &["simulators", "cluster"]),
];

/// Optional edges, which can be left out of a build.
const LEFT_OUT: [(&str, &str); 1] = [("server", "simulators")];

/// An edge from a crate to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edge {
    from: String,
    to: String,
    in_tests: bool,
    with_test_support: bool,
    optional: bool,
}

/// Prints every edge that the map does not have; whether there is none.
pub(crate) fn check(repository: &Path) -> Result<bool> {
    let (crates, edges) = read(repository)?;
    let mut complaints: Vec<String> = crates.iter().filter_map(|name| unknown(name)).collect();
    complaints.extend(edges.iter().filter_map(complaint));
    complaints.extend(landscape::complaints(repository)?);
    for complaint in &complaints {
        eprintln!("{complaint}");
    }
    if complaints.is_empty() {
        println!("{} dependencies between {} crates are on the map", edges.len(), crates.len());
    }
    Ok(complaints.is_empty())
}

fn unknown(name: &str) -> Option<String> {
    let known = MAP.iter().any(|(on_map, _)| *on_map == name);
    (!known).then(|| format!("{name}: the map does not have this crate"))
}

fn complaint(edge: &Edge) -> Option<String> {
    let Edge { from, to, in_tests, with_test_support, optional } = edge;
    // How a crate turns on its own test support for its own tests.
    if from == to && *in_tests {
        return None;
    }
    let has = |table: &[(&str, &[&str])]| {
        table.iter().any(|(on_map, uses)| on_map == from && uses.contains(&to.as_str()))
    };
    let can_be_left_out = LEFT_OUT.contains(&(from.as_str(), to.as_str()));
    let reason = if can_be_left_out && !in_tests && !optional {
        "a build can leave it out: make it optional"
    } else if has(&MAP) {
        let misplaced = *with_test_support && !in_tests && from != "acceptance";
        misplaced.then_some("the feature \"testing\" is for dev-dependencies")?
    } else if has(&IN_TESTS) {
        (!in_tests).then_some("the map has it for tests only: make it a dev-dependency")?
    } else if MAP.iter().any(|(on_map, uses)| on_map == to && uses.contains(&from.as_str())) {
        "it points the wrong way: calls go from left to right"
    } else {
        "the map has no such edge"
    };
    let kind = if *in_tests { "dev-dependency" } else { "dependency" };
    Some(format!("{from} -> {to} ({kind}): {reason}"))
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    path: Option<PathBuf>,
    kind: Option<String>,
    features: Vec<String>,
    #[serde(default)]
    optional: bool,
}

/// The crates by the names of their folders, and what they use of each other.
fn read(repository: &Path) -> Result<(Vec<String>, Vec<Edge>)> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(repository)
        .output()
        .context("cargo metadata cannot be run")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata =
        serde_json::from_slice(&output.stdout).context("cargo metadata is unreadable")?;
    Ok(edges(&metadata, &repository.join("crates")))
}

fn edges(metadata: &Metadata, crates: &Path) -> (Vec<String>, Vec<Edge>) {
    let name = |folder: &Path| {
        let inside = folder.strip_prefix(crates).ok()?;
        Some(inside.to_str()?.to_owned())
    };
    let (mut names, mut edges) = (Vec::new(), Vec::new());
    for package in &metadata.packages {
        let Some(from) = package.manifest_path.parent().and_then(name) else { continue };
        for dependency in &package.dependencies {
            let Some(to) = dependency.path.as_deref().and_then(name) else { continue };
            edges.push(Edge {
                from: from.clone(),
                to,
                in_tests: dependency.kind.as_deref() == Some("dev"),
                with_test_support: dependency.features.iter().any(|feature| feature == "testing"),
                optional: dependency.optional,
            });
        }
        names.push(from);
    }
    (names, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph as `cargo metadata` prints it: crate, and what it uses with kind and features.
    fn complaints(graph: serde_json::Value) -> Vec<String> {
        let metadata = serde_json::from_value(graph).unwrap();
        let (names, edges) = edges(&metadata, Path::new("/repository/crates"));
        names
            .iter()
            .filter_map(|name| unknown(name))
            .chain(edges.iter().filter_map(complaint))
            .collect()
    }

    fn package(name: &str, uses: &[(&str, Option<&str>, &[&str])]) -> serde_json::Value {
        let dependencies: Vec<_> = uses
            .iter()
            .map(|(to, kind, features)| {
                serde_json::json!({
                    "path": format!("/repository/crates/{to}"), "kind": kind, "features": features
                })
            })
            .collect();
        serde_json::json!({
            "manifest_path": format!("/repository/crates/{name}/Cargo.toml"),
            "dependencies": dependencies
        })
    }

    fn graph(packages: &[serde_json::Value]) -> serde_json::Value {
        serde_json::json!({ "packages": packages })
    }

    #[test]
    fn edges_of_the_map_pass() {
        let found = complaints(graph(&[
            package(
                "broker",
                &[
                    ("store", None, &[]),
                    ("store", Some("dev"), &["testing"]),
                    ("simulators", Some("dev"), &[]),
                ],
            ),
            package(
                "store",
                &[
                    ("engine", None, &[]),
                    ("store", Some("dev"), &["testing"]),
                    ("engine", Some("dev"), &["testing"]),
                ],
            ),
            package("acceptance", &[("store", None, &["testing"]), ("cli", None, &[])]),
        ]));

        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn edges_beside_the_map_are_named_with_the_reason() {
        let found = complaints(graph(&[
            package("api", &[("store", None, &[]), ("store", Some("dev"), &["testing"])]),
            package("engine", &[("store", None, &[])]),
            package("clients", &[("simulators", None, &[]), ("cluster", Some("dev"), &[])]),
            package("broker", &[("cluster", Some("dev"), &[])]),
            package("broker", &[("engine", None, &["testing"])]),
            package("simulators", &[("clients", Some("dev"), &[])]),
            package("helpers", &[("base", None, &[])]),
            package("server", &[("simulators", None, &[])]),
        ]));

        assert_eq!(
            found,
            [
                "helpers: the map does not have this crate",
                "api -> store (dependency): the map has it for tests only: make it a dev-dependency",
                "engine -> store (dependency): it points the wrong way: calls go from left to right",
                "clients -> simulators (dependency): the map has it for tests only: make it a dev-dependency",
                "broker -> cluster (dev-dependency): the map has no such edge",
                "broker -> engine (dependency): the feature \"testing\" is for dev-dependencies",
                "simulators -> clients (dev-dependency): the map has no such edge",
                "helpers -> base (dependency): the map has no such edge",
                "server -> simulators (dependency): a build can leave it out: make it optional",
            ]
        );
    }

    #[test]
    fn the_map_has_no_circle() {
        for (from, uses) in MAP {
            for to in uses {
                let back = MAP.iter().any(|(name, uses)| name == to && uses.contains(&from));
                assert!(!back, "{from} and {to} use each other");
            }
        }
    }
}
