//! Every route has a place in a published document, and nothing stands there that is no route.

use std::collections::BTreeSet;

use serde_json::Value;

use super::access_tests::{broker_rows, provisioner_rows};

const ANSWERS: &str = include_str!("../../../../docs/openapi/answers.yaml");
const ORCHESTRATIONS: &str = include_str!("../../../../docs/openapi/orchestrations.yaml");
const OSB: &str = include_str!("../../../../docs/openapi/osb.yaml");
const RUNTIMES: &str = include_str!("../../../../docs/openapi/runtimes.yaml");
const OPERATORS: &str = include_str!("../../../../docs/openapi/operators.yaml");
const PROVISIONER: &str = include_str!("../../../../docs/openapi/provisioner.yaml");

type Routes = BTreeSet<(String, String)>;

/// Method and path of everything that documents describe, below each of their servers.
fn described(documents: &[&str]) -> Routes {
    let mut found = Routes::new();
    for text in documents {
        let document: Value = serde_saphyr::from_str(text).unwrap();
        let urls = document["servers"].as_array().cloned().unwrap_or_default();
        let mut prefixes: Vec<String> = urls
            .iter()
            .map(|server| server["url"].as_str().unwrap().trim_end_matches('/').to_owned())
            .collect();
        if prefixes.is_empty() {
            prefixes.push(String::new());
        }
        for (path, item) in document["paths"].as_object().unwrap() {
            let methods = item.as_object().unwrap().keys().filter(|key| *key != "parameters");
            for method in methods {
                let at = |prefix: &String| (method.clone(), format!("{prefix}{path}"));
                let twice = prefixes.iter().map(at).find(|route| !found.insert(route.clone()));
                assert_eq!(twice, None, "it is described twice");
            }
        }
    }
    found
}

/// The routes of a service, without its pages for people: they are no API.
fn served(rows: impl Iterator<Item = (String, String)>) -> Routes {
    let is_page =
        |path: &str| path == "/" || path.starts_with("/console") || path.starts_with("/explorer.");
    rows.filter(|(_, path)| !is_page(path)).collect()
}

#[test]
fn every_route_is_in_a_document_and_every_document_has_only_routes() {
    let broker = served(broker_rows().into_iter().map(|row| (row.0, row.1)));
    let documents = described(&[ANSWERS, ORCHESTRATIONS, OSB, RUNTIMES, OPERATORS]);
    assert_eq!(documents, broker, "the documents, and the routes");

    // `/graphql` takes any method, and answers GET and POST.
    let any = |(method, path): (String, String)| match method.as_str() {
        "any" => vec![("get".to_owned(), path.clone()), ("post".to_owned(), path)],
        _ => vec![(method, path)],
    };
    let rows = provisioner_rows().into_iter().map(|row| (row.0, row.1)).flat_map(any);
    let mut described = described(&[PROVISIONER]);
    // What both services answer stands in one document.
    let both = ["stuck", "steps", "success"].map(|it| ("get".to_owned(), format!("/answers/{it}")));
    described.extend(both);
    assert_eq!(described, served(rows), "the document, and the routes");
}
