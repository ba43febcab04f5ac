//! Makes the variables of a request fit their declared types, as strictly as clients know it.
//!
//! A number may come as text, because some clients send it so; nothing else is bent. An error has no location but the
//! path of the value, beginning with `variable`.

use async_graphql::{
    Number, PathSegment, ServerError, Value, Variables,
    indexmap::IndexMap,
    parser::types::OperationDefinition,
    registry::{MetaInputValue, MetaType, MetaTypeName, Registry},
};

type CoercionResult = Result<Value, ServerError>;

/// The variables of an operation, each as declared. What was not given is there too: as its default, or as null.
pub(super) fn coerced(
    registry: &Registry,
    operation: &OperationDefinition,
    given: &Variables,
) -> Result<Variables, ServerError> {
    let mut variables = Variables::default();
    for definition in &operation.variable_definitions {
        let definition = &definition.node;
        let name = &definition.name.node;
        let mut place = VariablePath { registry, path: vec![segment("variable"), segment(name)] };
        let value = match given.get(name) {
            Some(value) => place.coerce(&definition.var_type.node.to_string(), value.clone())?,
            None => match definition.default_value() {
                Some(value) => value.clone(),
                None => return Err(place.wrong("must be defined")),
            },
        };
        variables.insert(name.clone(), value);
    }
    Ok(variables)
}

fn segment(name: &str) -> PathSegment {
    PathSegment::Field(name.to_owned())
}

/// Where in a variable we are.
struct VariablePath<'a> {
    registry: &'a Registry,
    path: Vec<PathSegment>,
}

impl VariablePath<'_> {
    fn wrong(&self, text: impl Into<String>) -> ServerError {
        ServerError::new(text, None).with_path(self.path.clone())
    }

    fn within(
        &mut self,
        segment: PathSegment,
        step: impl FnOnce(&mut Self) -> CoercionResult,
    ) -> CoercionResult {
        self.path.push(segment);
        let value = step(self)?;
        self.path.pop();
        Ok(value)
    }

    fn coerce(&mut self, kind: &str, value: Value) -> CoercionResult {
        match (MetaTypeName::create(kind), value) {
            (MetaTypeName::NonNull(_), Value::Null) => Err(self.wrong("cannot be null")),
            (MetaTypeName::NonNull(kind), value) => self.coerce(kind, value),
            (_, Value::Null) => Ok(Value::Null),
            (MetaTypeName::List(kind), Value::List(values)) => {
                let items = values.into_iter().enumerate().map(|(index, value)| {
                    self.within(PathSegment::Index(index), |place| place.coerce(kind, value))
                });
                Ok(Value::List(items.collect::<Result<_, _>>()?))
            }
            (MetaTypeName::List(_), _) => Err(self.wrong("must be an array")),
            (MetaTypeName::Named(name), value) => self.named(name, value),
        }
    }

    fn named(&mut self, name: &str, value: Value) -> CoercionResult {
        // A type that does not exist is the validation's to report.
        let registry = self.registry;
        match registry.types.get(name) {
            Some(MetaType::InputObject { input_fields, .. }) => {
                self.object(name, input_fields, value)
            }
            Some(MetaType::Enum { enum_values, .. }) => match value {
                Value::String(word) if enum_values.contains_key(&word) => {
                    Ok(Value::Enum(async_graphql::Name::new(word)))
                }
                Value::String(word) => Err(self.wrong(format!("{word} is not a valid {name}"))),
                other => Err(self.unfit(&other, name)),
            },
            Some(MetaType::Scalar { is_valid, .. }) => match (name, value) {
                ("Int", value) => self.int(&value),
                (_, value) if is_valid.as_ref().is_none_or(|fits| fits(&value)) => Ok(value),
                (_, value) => Err(self.unfit(&value, name)),
            },
            _ => Ok(value),
        }
    }

    fn int(&self, value: &Value) -> CoercionResult {
        let number = match value {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        match number.and_then(|number| i32::try_from(number).ok()) {
            Some(number) => Ok(Value::Number(Number::from(number))),
            None => Err(self.unfit(value, "Int")),
        }
    }

    fn object(
        &mut self,
        name: &str,
        fields: &IndexMap<String, MetaInputValue>,
        value: Value,
    ) -> CoercionResult {
        let Value::Object(mut values) = value else { return Err(self.unfit(&value, name)) };
        if let Some(unknown) = values.keys().find(|key| !fields.contains_key(key.as_str())) {
            self.path.push(segment(unknown));
            return Err(self.wrong("unknown field"));
        }
        for (key, field) in fields {
            let key = async_graphql::Name::new(key);
            if let Some(value) = values.get_mut(&key) {
                let given = std::mem::take(value);
                *value = self.within(segment(&key), |place| place.coerce(&field.ty, given))?;
            } else if MetaTypeName::create(&field.ty).is_non_null() {
                self.path.push(segment(&key));
                return Err(self.wrong("must be defined"));
            }
        }
        Ok(Value::Object(values))
    }

    fn unfit(&self, value: &Value, kind: &str) -> ServerError {
        let found = match value {
            Value::Null => "null",
            Value::Number(_) => "number",
            Value::String(_) | Value::Enum(_) => "string",
            Value::Boolean(_) => "bool",
            Value::Binary(_) => "bytes",
            Value::List(_) => "list",
            Value::Object(_) => "map",
        };
        self.wrong(format!("cannot use {found} as {kind}"))
    }
}
