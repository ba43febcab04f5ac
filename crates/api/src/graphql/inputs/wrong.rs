//! A value that the schema lets through and that has no meaning, with its path.

use provisioner::Error;

/// What is wrong, and where.
#[derive(Debug)]
pub(in crate::graphql) struct InputError {
    path: String,
    problem: &'static str,
}

impl InputError {
    pub(super) fn new(field: &str, problem: &'static str) -> Self {
        Self { path: field.to_owned(), problem }
    }

    /// The same, seen from further out.
    pub(in crate::graphql) fn within(self, field: &str) -> Self {
        Self { path: format!("{field}.{}", self.path), ..self }
    }

    /// The same, in an element of a list.
    pub(super) fn at(self, list: &str, index: usize) -> Self {
        self.within(&format!("{list}[{index}]"))
    }
}

impl From<InputError> for Error {
    fn from(wrong: InputError) -> Self {
        Self::bad(format!("{} {}", wrong.path, wrong.problem))
    }
}

/// The elements of a list in which the schema allows null and no meaning does. An absent list is an empty one.
pub(super) fn elements<T>(
    list: &str,
    values: Option<Vec<Option<T>>>,
) -> Result<Vec<T>, InputError> {
    let elements = values.unwrap_or_default().into_iter().enumerate();
    elements
        .map(|(index, value)| {
            value.ok_or_else(|| InputError::new(&format!("{list}[{index}]"), "must not be null"))
        })
        .collect()
}
