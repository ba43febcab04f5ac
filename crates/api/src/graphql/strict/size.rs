//! How large a document is once its fragments are put in.
//!
//! Thirty fragments that each use the next one twice are a billion selections. Everything that walks a document after
//! this walks each use of a fragment, so this comes first and visits each fragment once.

use std::collections::HashMap;

use async_graphql::{
    Name, ServerError,
    parser::types::{ExecutableDocument, Selection, SelectionSet},
};

/// More than known tools send. What comes later follows fragments by calling itself.
const MOST_FRAGMENTS: usize = 100;
/// How many selections may contain each other, fragments put in.
const DEEPEST: usize = 64;

/// Refuses documents whose operations have more than twice `limit` selections in all: the limit counts fields, and
/// for each there may be a fragment around it.
pub(in crate::graphql) fn check(
    document: &ExecutableDocument,
    limit: usize,
) -> Result<(), ServerError> {
    if document.fragments.len() > MOST_FRAGMENTS {
        return Err(wrong("the query has too many fragments"));
    }
    let mut sizes = Sizes { document, known: HashMap::new() };
    let mut all = Size::default();
    for (_, operation) in document.operations.iter() {
        all.contain(sizes.of(&operation.node.selection_set.node, 0)?);
    }
    // Those that nobody uses are not run, but they are checked.
    for name in document.fragments.keys() {
        sizes.fragment(name, 0)?;
    }
    if all.selections > limit.saturating_mul(2) {
        return Err(wrong("the query is too large"));
    }
    Ok(())
}

fn wrong(text: &str) -> ServerError {
    ServerError::new(text, None)
}

#[derive(Clone, Copy, Default)]
struct Size {
    selections: usize,
    depth: usize,
}

impl Size {
    fn contain(&mut self, inner: Self) {
        self.selections = self.selections.saturating_add(inner.selections);
        self.depth = self.depth.max(inner.depth + 1);
    }
}

struct Sizes<'a> {
    document: &'a ExecutableDocument,
    /// `None` while a fragment is being measured.
    known: HashMap<&'a Name, Option<Size>>,
}

impl<'a> Sizes<'a> {
    /// The size of a set that lies `outside` deep.
    fn of(&mut self, set: &'a SelectionSet, outside: usize) -> Result<Size, ServerError> {
        let too_deep = || wrong("the query is nested too deep");
        if outside > DEEPEST {
            return Err(too_deep());
        }
        let mut size = Size { selections: set.items.len(), depth: 0 };
        for selection in &set.items {
            let inner = match &selection.node {
                Selection::Field(field) => &field.node.selection_set.node,
                Selection::InlineFragment(inline) => &inline.node.selection_set.node,
                Selection::FragmentSpread(spread) => {
                    size.contain(self.fragment(&spread.node.fragment_name.node, outside + 1)?);
                    continue;
                }
            };
            if !inner.items.is_empty() {
                size.contain(self.of(inner, outside + 1)?);
            }
        }
        if outside + size.depth > DEEPEST {
            return Err(too_deep());
        }
        Ok(size)
    }

    fn fragment(&mut self, name: &'a Name, outside: usize) -> Result<Size, ServerError> {
        // A fragment that does not exist has no size; the validation says so.
        let Some(fragment) = self.document.fragments.get(name) else { return Ok(Size::default()) };
        match self.known.get(name) {
            Some(Some(size)) => return Ok(*size),
            Some(None) => {
                let text = format!("fragment {:?} contains itself", name.as_str());
                return Err(ServerError::new(text, Some(fragment.pos)));
            }
            None => {}
        }
        self.known.insert(name, None);
        let size = self.of(&fragment.node.selection_set.node, outside)?;
        self.known.insert(name, Some(size));
        Ok(size)
    }
}
