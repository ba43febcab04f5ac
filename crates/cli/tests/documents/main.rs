//! The examples of the documents, run in the order of the page against `kcp up` as it comes.
//!
//! What a reader would get wrong: which blocks are run is decided by their language. `sh` is given to a shell, `graphql` is
//! sent to the provisioner, `console` is a session whose lines after `$` are given to a shell; `json` after one of them is
//! its answer. `text`, `toml` and `yaml` are only shown. A page is added by one line below.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod page;
mod reader;
mod shape;
#[path = "../support/mod.rs"]
mod support;

use page::Page;

/// A test for each page: its name, and what the reader does otherwise than the page says.
macro_rules! pages {
    ($($test:ident: $path:literal $(, instead of $old:literal: $new:literal)*;)*) => {
        $(#[test]
        fn $test() {
            let page = Page::read(concat!("../../", $path));
            let instead: &[(&str, &str)] = &[$(($old, $new),)*];
            reader::follow(&page, instead);
        })*

        /// The pages that are followed.
        const FOLLOWED: &[&str] = &[$($path,)*];
    };
}

// Nothing instead of a line: the reader has done it already, or cannot do it here.
pages! {
    the_readme_can_be_followed: "README.md",
        instead of "cargo run ": "",
        instead of "scripts/test": "";
    orders_of_platforms_can_be_followed: "docs/osb.md";
    the_provisioners_api_can_be_followed: "docs/provisioner-api.md";
    the_command_line_can_be_followed: "docs/cli.md",
        instead of "kcp up": "";
    bindings_can_be_followed: "docs/bindings.md";
    changes_and_suspensions_can_be_followed: "docs/updates.md";
    getting_unstuck_works_as_described: "docs/unstuck.md";
    operators_get_answers_as_described: "docs/answers.md";
    jobs_can_be_run_as_described: "docs/jobs.md";
    upgrades_of_many_runtimes_can_be_followed: "docs/fleet.md";
    trouble_can_be_made_as_described: "docs/landscape.md";
    clusters_can_be_looked_at_as_described: "docs/landscape/clusters.md",
        instead of " -w": "",
        instead of "kubectl get deployments": "",
        instead of "\"abc\"": "",
        instead of "0b9f6c52": "";
    users_and_clients_can_be_added_as_described: "docs/landscape/issuer.md";
    the_garden_can_be_looked_at_as_described: "docs/landscape/gardener.md",
        instead of " -w": "",
        instead of "export KUBECONFIG": "",
        instead of "kubectl apply": "",
        instead of "cargo nextest": "";
}

/// Pages whose blocks need more than `kcp up`.
const OTHERS: &[&str] = &["docs/tutorials/add-a-step.md", "docs/performance.md", "CONTRIBUTING.md"];

#[test]
fn every_page_with_examples_is_followed() {
    let root = std::path::Path::new("../..");
    let mut left = Vec::new();
    for folder in ["", "docs", "docs/landscape", "docs/tutorials", "docs/decisions"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let page = path.extension().is_some_and(|extension| extension == "md");
            let known = FOLLOWED.iter().chain(OTHERS).any(|known| *known == name);
            if page && !known && Page::read(path.to_str().unwrap()).has_examples() {
                left.push(name);
            }
        }
    }
    assert_eq!(left, Vec::<String>::new(), "add them above");
}
