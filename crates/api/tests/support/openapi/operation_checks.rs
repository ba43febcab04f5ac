//! Whether an operation of a document is valid: its ids, parameters and responses.

use std::collections::BTreeSet;

use super::{
    Components,
    operation::{Operation, Parameter, Response},
    schema::{check_schema, target},
};

pub(super) fn check_operation(
    path: &str,
    operation: &Operation,
    shared: &[Parameter],
    components: &Components,
    always: &[&str],
) {
    assert!(!operation.summary.is_empty());
    let mut named = BTreeSet::new();
    for parameter in shared.iter().chain(&operation.parameters) {
        let parameter = match parameter.reference.as_deref() {
            Some(reference) => &components.parameters[target(reference, "parameters")],
            None => parameter,
        };
        let (Some(name), Some(place)) = (&parameter.name, &parameter.place) else {
            panic!("{path} has a parameter without a name or a place")
        };
        assert!(named.insert((place.as_str(), name.as_str())), "{path} has {name} twice");
        assert!(place != "path" || parameter.required, "{name} in a path is always there");
        check_schema(parameter.schema.as_ref().expect("a parameter has a schema"), components);
    }
    for name in placeholders(path) {
        assert!(named.contains(&("path", name)), "{path} does not explain {name}");
    }
    for media in operation.request_body.iter().flat_map(|body| body.content.values()) {
        check_schema(&media.schema, components);
    }
    let with_body = operation.request_body.iter().flat_map(|_| ["408", "413"]);
    // Health is answered even when everything else is sent away.
    let shed = (path != "/healthz").then_some("503");
    let shield = ["431", "500", "504"].into_iter().chain(shed).chain(with_body);
    for status in shield.chain(always.iter().copied()) {
        let known = operation.responses.contains_key(status);
        assert!(known, "{} does not say what {status} means", operation.id);
    }
    operation.responses.values().for_each(|response| check_response(response, components));
}

pub(super) fn check_response(response: &Response, components: &Components) {
    if let Some(reference) = &response.reference {
        let name = target(reference, "responses");
        assert!(components.responses.contains_key(name), "{reference} leads nowhere");
        return;
    }
    assert!(response.description.as_ref().is_some_and(|text| !text.is_empty()));
    response.headers.values().for_each(|header| check_schema(&header.schema, components));
    response.content.values().for_each(|media| check_schema(&media.schema, components));
}

pub(super) fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}
