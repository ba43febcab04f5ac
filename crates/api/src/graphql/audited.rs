//! What of a GraphQL request stands in the audit: every mutation, and every query that asks for a kubeconfig.
//!
//! What a reader would get wrong: fragments count whether they are used or not. One entry too many is better than one that is missing.

use std::collections::HashMap;

use async_graphql::{
    Name, Positioned, Value, Variables,
    parser::types::{
        Field, FragmentDefinition, OperationDefinition, OperationType, Selection, SelectionSet,
    },
};
use serde_json::{Map, json};

/// The field that hands out credentials.
const KUBECONFIG: &str = "kubeconfig";
/// How many runtimes of one request are named.
const MOST_RUNTIMES: usize = 20;

/// What a request asks for.
pub(super) struct Request {
    /// The mutations, or `kubeconfig`.
    pub(super) action: String,
    /// The runtimes that it names.
    pub(super) runtimes: Vec<String>,
    /// Whether a kubeconfig is part of the answer.
    kubeconfig: bool,
}

/// What stands in the audit about an operation of a document, if anything does.
pub(super) fn request(
    operation: &OperationDefinition,
    fragments: &HashMap<Name, Positioned<FragmentDefinition>>,
    variables: &Variables,
) -> Option<Request> {
    let own = &operation.selection_set.node;
    let shared = fragments.values().map(|fragment| &fragment.node.selection_set.node);
    let sets: Vec<&SelectionSet> = std::iter::once(own).chain(shared).collect();
    let kubeconfig = sets.iter().any(|set| selects_kubeconfig(set));
    let action = match operation.ty {
        OperationType::Mutation => {
            let mut mutations = Vec::new();
            spread(own, fragments, 0, &mut mutations);
            mutations.join(",")
        }
        OperationType::Query | OperationType::Subscription if kubeconfig => KUBECONFIG.to_owned(),
        OperationType::Query | OperationType::Subscription => return None,
    };
    let mut runtimes: Vec<String> = ["id", "runtimeID"]
        .iter()
        .filter_map(|name| text(variables.get(&Name::new(name))?))
        .chain(sets.iter().flat_map(|set| fields(set)).filter_map(|field| named(field, variables)))
        .collect();
    let mut seen = std::collections::HashSet::new();
    runtimes.retain(|runtime| seen.insert(runtime.clone()));
    runtimes.truncate(MOST_RUNTIMES);
    Some(Request { action, runtimes, kubeconfig })
}

impl Request {
    /// What is kept besides.
    pub(super) fn details(&self, tenant: &str, may_open: bool) -> serde_json::Value {
        let mut details = Map::from_iter([("tenant".to_owned(), json!(tenant))]);
        if self.kubeconfig {
            details
                .insert(KUBECONFIG.into(), if may_open { "asked for" } else { "withheld" }.into());
        }
        if self.runtimes.len() > 1 {
            details.insert("runtimes".into(), json!(self.runtimes));
        }
        details.into()
    }
}

/// How deep fragments are followed: a document whose fragments contain each other was refused before.
const DEEPEST: usize = 32;
/// How many mutations of one request are named.
const MOST_MUTATIONS: usize = 20;

/// The names of a set's fields in their order, those of its fragments included.
fn spread<'a>(
    set: &'a SelectionSet,
    fragments: &'a HashMap<Name, Positioned<FragmentDefinition>>,
    depth: usize,
    names: &mut Vec<&'a str>,
) {
    for item in &set.items {
        if names.len() >= MOST_MUTATIONS || depth > DEEPEST {
            return;
        }
        let inner = match &item.node {
            Selection::Field(field) => {
                names.push(field.node.name.node.as_str());
                continue;
            }
            Selection::InlineFragment(inline) => Some(&inline.node.selection_set.node),
            Selection::FragmentSpread(named) => fragments
                .get(&named.node.fragment_name.node)
                .map(|fragment| &fragment.node.selection_set.node),
        };
        if let Some(inner) = inner {
            spread(inner, fragments, depth + 1, names);
        }
    }
}

/// The fields of a set, those of its inline fragments included.
fn fields(set: &SelectionSet) -> Box<dyn Iterator<Item = &Field> + '_> {
    Box::new(set.items.iter().flat_map(|item| match &item.node {
        Selection::Field(field) => {
            Box::new(std::iter::once(&field.node)) as Box<dyn Iterator<Item = &Field>>
        }
        Selection::InlineFragment(inline) => fields(&inline.node.selection_set.node),
        Selection::FragmentSpread(_) => Box::new(std::iter::empty()),
    }))
}

/// How deep it goes was limited before.
fn selects_kubeconfig(set: &SelectionSet) -> bool {
    fields(set).any(|field| {
        field.name.node.as_str() == KUBECONFIG || selects_kubeconfig(&field.selection_set.node)
    })
}

/// The runtime that a field is about.
fn named(field: &Field, variables: &Variables) -> Option<String> {
    let argument = field.get_argument("id")?.node.clone();
    text(&argument.into_const_with(|name| variables.get(&name).cloned().ok_or(())).ok()?)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}
