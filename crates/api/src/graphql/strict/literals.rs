//! Checks values written into the query where the library is too lenient: a text for an enumeration, a number that is
//! too large, something else where an object belongs.
//!
//! What a reader would get wrong: only the arguments of the outermost fields are looked at. No other field of the
//! schema takes any, and a test keeps it so.

use async_graphql::{
    Positioned, ServerError, Value,
    parser::types::{
        Directive, ExecutableDocument, Field, OperationDefinition, OperationType, Selection,
        SelectionSet,
    },
    registry::{MetaType, MetaTypeName, Registry},
};

/// Checks the values in all operations of a document.
pub(super) fn check(registry: &Registry, document: &ExecutableDocument) -> Result<(), ServerError> {
    let sets = document.operations.iter().map(|(_, operation)| &operation.node);
    for fragment in document.fragments.values() {
        type_names(&fragment.node.selection_set.node)?;
    }
    for operation in sets {
        no_directives(operation)?;
        type_names(&operation.selection_set.node)?;
        let root = match operation.ty {
            OperationType::Query => Some(&registry.query_type),
            OperationType::Mutation => registry.mutation_type.as_ref(),
            OperationType::Subscription => None,
        };
        if let Some(root) = root.and_then(|root| registry.types.get(root)) {
            Outermost { registry, document, root }.set(&operation.selection_set.node)?;
        }
    }
    Ok(())
}

/// No directive of ours may stand at a variable, and the library does not look there.
fn no_directives(operation: &OperationDefinition) -> Result<(), ServerError> {
    let variables = operation.variable_definitions.iter();
    match variables.flat_map(|variable| &variable.node.directives).next() {
        None => Ok(()),
        Some(directive) => {
            let text = format!("Unknown directive \"{}\"", directive.node.name.node);
            Err(ServerError::new(text, Some(directive.pos)))
        }
    }
}

/// The library does not look at directives of `__typename`.
fn type_names(set: &SelectionSet) -> Result<(), ServerError> {
    for selection in &set.items {
        let inner = match &selection.node {
            Selection::Field(field) => {
                if field.node.name.node == "__typename" {
                    field.node.directives.iter().try_for_each(is_conditional)?;
                }
                &field.node.selection_set.node
            }
            Selection::InlineFragment(inline) => &inline.node.selection_set.node,
            Selection::FragmentSpread(_) => continue,
        };
        type_names(inner)?;
    }
    Ok(())
}

fn is_conditional(directive: &Positioned<Directive>) -> Result<(), ServerError> {
    let name = directive.node.name.node.as_str();
    let text = match directive.node.arguments.as_slice() {
        _ if !["include", "skip"].contains(&name) => format!("Unknown directive \"{name}\""),
        [(argument, _)] if argument.node == "if" => return Ok(()),
        _ => format!("Directive \"{name}\" takes one argument, \"if\""),
    };
    Err(ServerError::new(text, Some(directive.pos)))
}

struct Outermost<'a> {
    registry: &'a Registry,
    document: &'a ExecutableDocument,
    root: &'a MetaType,
}

impl Outermost<'_> {
    /// Fragments cannot contain themselves here: `size` has refused those.
    fn set(&self, set: &SelectionSet) -> Result<(), ServerError> {
        for selection in &set.items {
            match &selection.node {
                Selection::Field(field) => self.field(field)?,
                Selection::InlineFragment(inline) => self.set(&inline.node.selection_set.node)?,
                Selection::FragmentSpread(spread) => {
                    let name = &spread.node.fragment_name.node;
                    if let Some(fragment) = self.document.fragments.get(name) {
                        self.set(&fragment.node.selection_set.node)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn field(&self, field: &Positioned<Field>) -> Result<(), ServerError> {
        let Some(known) = self.root.field_by_name(&field.node.name.node) else { return Ok(()) };
        for (name, value) in &field.node.arguments {
            let Some(argument) = known.args.get(name.node.as_str()) else { continue };
            // Variables are checked against their own types; null fits wherever it is let through.
            let literal = value.node.clone().into_const_with(|_| Ok::<_, ()>(Value::Null));
            if let Ok(literal) = literal {
                value_fits(self.registry, &argument.ty, &literal)
                    .map_err(|text| ServerError::new(text, Some(value.pos)))?;
            }
        }
        Ok(())
    }
}

fn value_fits(registry: &Registry, kind: &str, value: &Value) -> Result<(), String> {
    match (MetaTypeName::create(kind), value) {
        (_, Value::Null) => Ok(()),
        (MetaTypeName::List(kind), Value::List(items)) => {
            items.iter().try_for_each(|item| value_fits(registry, kind, item))
        }
        // A lone value in the document stands for a list of one.
        (MetaTypeName::NonNull(kind) | MetaTypeName::List(kind), value) => {
            value_fits(registry, kind, value)
        }
        (MetaTypeName::Named(name), value) => named_fits(registry, name, value),
    }
}

fn named_fits(registry: &Registry, name: &str, value: &Value) -> Result<(), String> {
    let unfit = || Err(format!("expected type {name:?}, found {value}"));
    match (registry.types.get(name), value) {
        (Some(MetaType::InputObject { input_fields, .. }), Value::Object(values)) => {
            values.iter().try_for_each(|(key, value)| match input_fields.get(key.as_str()) {
                Some(field) => value_fits(registry, &field.ty, value),
                None => Ok(()),
            })
        }
        (Some(MetaType::InputObject { .. }), _) => unfit(),
        (Some(MetaType::Enum { .. }), value) if !matches!(value, Value::Enum(_)) => unfit(),
        (Some(MetaType::Scalar { .. }), Value::Number(number)) if name == "Int" => {
            match number.as_i64().and_then(|number| i32::try_from(number).ok()) {
                Some(_) => Ok(()),
                None => unfit(),
            }
        }
        _ => Ok(()),
    }
}
