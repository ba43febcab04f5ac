//! Conditions on elements, as kubectl writes them: `?(@.type=="Ready")`, or `?(@.type)` for those that have the field.
//!
//! What a reader would get wrong: values of different types are not equal and have no order. kubectl fails there.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Part, follow, parts};

/// A condition on an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filter {
    path: Vec<Part>,
    /// None: the field has to be there.
    comparison: Option<(Operator, Value)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    AtMost,
    AtLeast,
    Below,
    Above,
}

/// The longer ones first: `<` begins `<=`.
const OPERATORS: [(&str, Operator); 6] = [
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Below),
    (">", Operator::Above),
];

impl Filter {
    /// Reads what is between the parentheses; none when it is no condition on a path.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let found = OPERATORS
            .into_iter()
            .filter_map(|(sign, operator)| Some((text.find(sign)?, sign, operator)))
            .min_by_key(|(place, ..)| *place);
        let (path, comparison) = match found {
            Some((place, sign, operator)) => {
                let value = literal(text[place + sign.len()..].trim())?;
                (text[..place].trim_end(), Some((operator, value)))
            }
            None => (text, None),
        };
        Some(Self { path: parts(path.strip_prefix('@')?).ok()?, comparison })
    }

    pub(super) fn is_true_of(&self, element: &Value) -> bool {
        let mut found = follow(element, &self.path).into_iter();
        match &self.comparison {
            None => found.next().is_some(),
            Some((operator, value)) => found.any(|it| operator.holds(it, value)),
        }
    }
}

impl Operator {
    fn holds(self, one: &Value, other: &Value) -> bool {
        let order = match (one, other) {
            (Value::Number(one), Value::Number(other)) => {
                one.as_f64().zip(other.as_f64()).and_then(|(one, other)| one.partial_cmp(&other))
            }
            (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
            (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
            _ => None,
        };
        match self {
            Self::Equal => order.is_some_and(Ordering::is_eq),
            Self::Unequal => order.is_none_or(Ordering::is_ne),
            Self::AtMost => order.is_some_and(Ordering::is_le),
            Self::AtLeast => order.is_some_and(Ordering::is_ge),
            Self::Below => order.is_some_and(Ordering::is_lt),
            Self::Above => order.is_some_and(Ordering::is_gt),
        }
    }
}

/// A text in quotes, a number, `true` or `false`.
fn literal(text: &str) -> Option<Value> {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|inner| inner.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains([quote, '\\'])) {
            return Some(inner.into());
        }
    }
    serde_json::from_str(text).ok().filter(|it: &Value| it.is_number() || it.is_boolean())
}
