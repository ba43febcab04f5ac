//! The names and the behaviour of a kind.
//!
//! Nothing here depends on what the objects mean: built-in kinds, kinds of CRDs and kinds that the
//! embedding program registers are all described in the same way.

use serde_json::Value;

/// Lists that have keys: where the list is, such as `spec.provider.workers`, and the field that tells its items apart.
pub(crate) type MergeKeys = [(String, String)];

/// The path of a field in what is at `path`. Items of a list are at the path of the list.
pub(crate) fn below(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

/// One kind in one version.
#[derive(Debug, Clone, PartialEq)]
pub struct Kind {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version in the path, such as `v1beta1`.
    pub version: String,
    /// The word in the path, such as `shoots`.
    pub plural: String,
    /// The word in the object, such as `Shoot`.
    pub kind: String,
    /// Further words that `kubectl` accepts.
    pub short_names: Vec<String>,
    /// Groups of kinds such as `all`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// `status` and those that the embedding program answers.
    pub subresources: Vec<String>,
    /// The columns of `kubectl get` between NAME and AGE.
    pub columns: Vec<Column>,
    /// The rule for names.
    pub names: Names,
    /// Whether `metadata.generation` counts changes of what is wanted.
    pub counts_generations: bool,
    /// One of Kubernetes' own: may be replaced without a resourceVersion, knows strategic merges.
    pub native: bool,
    /// Lists that strategic merges and server-side apply go through by a key: the path of the list and the key. Without it
    /// only Kubernetes' own kinds know strategic merges, and apply replaces lists as a whole.
    pub merge_keys: Option<Vec<(String, String)>>,
    /// The `OpenAPI` v3 schema, if there is one.
    pub schema: Option<Value>,
}

/// The rule for names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Lower-case words joined by `-` and `.`, at most 253 characters.
    Subdomain,
    /// Lower-case words joined by `-`, at most 63 characters.
    Label,
    /// Anything that can stand in a path.
    PathSegment,
}

/// One column of `kubectl get`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub form: String,
    /// Columns above 0 are shown by `-o wide` only.
    pub priority: i64,
    /// Where the cell comes from.
    pub source: Source,
    /// The text for a missing value.
    pub missing: Option<&'static str>,
}

/// Where a cell comes from.
#[derive(Debug, Clone)]
pub enum Source {
    /// A path such as `.spec.region` or `.status.conditions[?(@.type=="Ready")].status`.
    Path(String),
    /// How many entries the object or list at this path has.
    Count(String),
    /// What a function makes of the object; clients of other servers are shown what is at the path.
    Words(String, fn(&Value) -> String),
}

impl Source {
    fn parts(&self) -> (u8, &str) {
        match self {
            Self::Path(path) => (0, path),
            Self::Count(path) => (1, path),
            Self::Words(path, _) => (2, path),
        }
    }
}

/// Functions cannot be compared; their paths can.
impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Source {}

impl Column {
    /// A column with text.
    pub fn text(name: &str, path: &str) -> Self {
        Self::of("string", name, Source::Path(path.to_owned()))
    }

    /// A column with a whole number.
    pub fn integer(name: &str, path: &str) -> Self {
        Self::of("integer", name, Source::Path(path.to_owned()))
    }

    /// A column with the number of entries.
    pub fn count(name: &str, path: &str) -> Self {
        Self::of("integer", name, Source::Count(path.to_owned()))
    }

    /// A column with the time that has gone by since.
    pub fn age(name: &str, path: &str) -> Self {
        Self::of("date", name, Source::Path(path.to_owned()))
    }

    /// A column with what a function makes of the object. Servers that only know paths show what is at `path`.
    pub fn words(name: &str, path: &str, words: fn(&Value) -> String) -> Self {
        Self::of("string", name, Source::Words(path.to_owned(), words))
    }

    /// The same, with a word for objects that have nothing there.
    pub fn or(mut self, missing: &'static str) -> Self {
        self.missing = Some(missing);
        self
    }

    /// The same, shown by `-o wide` only.
    pub fn wide(mut self) -> Self {
        self.priority = 1;
        self
    }

    fn of(form: &str, name: &str, source: Source) -> Self {
        Self { name: name.to_owned(), form: form.to_owned(), priority: 0, source, missing: None }
    }
}

impl Kind {
    /// A kind of the whole cluster, without subresources.
    pub fn new(group: &str, version: &str, plural: &str, kind: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            kind: kind.to_owned(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: false,
            subresources: Vec::new(),
            columns: Vec::new(),
            names: Names::Subdomain,
            counts_generations: true,
            native: false,
            merge_keys: None,
            schema: None,
        }
    }

    /// The same, in namespaces.
    pub fn namespaced(mut self) -> Self {
        self.namespaced = true;
        self
    }

    /// The same, with one more subresource.
    pub fn subresource(mut self, name: &str) -> Self {
        self.subresources.push(name.to_owned());
        self
    }

    /// The same, with one more short name.
    pub fn short(mut self, name: &str) -> Self {
        self.short_names.push(name.to_owned());
        self
    }

    /// The same, with one more column.
    pub fn column(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }

    /// The same, with strategic merges and server-side apply that go through the lists at these paths by a key.
    pub fn strategic(mut self, lists: &[(&str, &str)]) -> Self {
        let owned = |(list, key): &(&str, &str)| ((*list).to_owned(), (*key).to_owned());
        self.merge_keys = Some(lists.iter().map(owned).collect());
        self
    }

    /// The word for one, in lower case.
    pub fn singular(&self) -> String {
        self.kind.to_lowercase()
    }

    /// The name of the kind over all versions: `shoots.core.gardener.cloud`, `secrets`.
    pub fn resource(&self) -> String {
        resource(&self.group, &self.plural)
    }

    /// The value of `apiVersion`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    pub(crate) fn has_status(&self) -> bool {
        self.subresources.iter().any(|s| s == "status")
    }
}

/// The name of a kind over all versions.
pub(crate) fn resource(group: &str, plural: &str) -> String {
    if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") }
}
