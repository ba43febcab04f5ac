//! The description of an outside system in the documents.

use confique::meta::{Field, FieldKind, Meta};

/// One outside system in a few sentences.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Its name, the same as in the plans.
    pub name: &'static str,
    /// Its purpose.
    pub purpose: &'static str,
    /// When it is called, and what happens while it is down.
    pub usage: Usage,
    /// Its settings.
    pub settings: &'static [Setting],
}

/// Settings of a system, in one section.
#[derive(Debug, Clone, Copy)]
pub enum Setting {
    /// All of a section.
    Section(&'static Meta),
    /// Some values of a section.
    Values(&'static Meta, &'static [&'static str]),
}

/// How a system is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// By the steps of plans that say they call it: the plans know which, and how long each waits.
    Steps,
    /// By such steps, and besides.
    StepsAndMore {
        /// Further calls, and when they are made.
        called: &'static str,
        /// What happens besides while it is down.
        when_down: &'static str,
    },
    /// By no step that says so.
    Described {
        /// The calls, and when they are made.
        called: &'static str,
        /// What happens while it is down.
        when_down: &'static str,
    },
    /// By nothing yet: there is a client, and `kcp check` reaches it.
    Unused,
}

impl About {
    /// The variables of its settings, each with its description.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        self.settings.iter().flat_map(Setting::fields).filter_map(variable).collect()
    }
}

impl Setting {
    fn fields(&self) -> Vec<Field> {
        match self {
            Self::Section(meta) => leaves(meta),
            Self::Values(meta, names) => {
                let chosen = |field: &Field| names.contains(&field.name);
                leaves(meta).into_iter().filter(chosen).collect()
            }
        }
    }
}

fn leaves(meta: &'static Meta) -> Vec<Field> {
    let of_field = |field: &'static Field| match field.kind {
        FieldKind::Nested { meta } => leaves(meta),
        FieldKind::Leaf { .. } => vec![*field],
    };
    meta.fields.iter().flat_map(of_field).collect()
}

/// The variable of a value, and the first paragraph of its comment.
fn variable(field: Field) -> Option<(&'static str, String)> {
    let FieldKind::Leaf { env: Some(name), .. } = field.kind else { return None };
    let lines = field.doc.iter().map(|line| line.trim()).take_while(|line| !line.is_empty());
    Some((name, lines.collect::<Vec<_>>().join(" ")))
}
