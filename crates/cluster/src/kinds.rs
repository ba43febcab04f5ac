//! Which kinds a cluster knows: built in, registered by the embedding program, defined by CRDs.

use std::{collections::BTreeMap, sync::Arc};

use crate::Kind;

/// The kinds of one cluster. A kind comes with its schema, so that it is shared and never copied.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kinds {
    fixed: Vec<Arc<Kind>>,
    defined: Vec<Arc<Kind>>,
}

impl Kinds {
    /// The kinds that are always there.
    pub(crate) fn new(fixed: Vec<Arc<Kind>>) -> Self {
        Self { fixed, defined: Vec::new() }
    }

    /// Replaces the kinds that CRDs define.
    pub(crate) fn define(&mut self, defined: impl Iterator<Item = Kind>) {
        self.defined = defined.map(Arc::new).collect();
    }

    /// All of them. A registered kind hides a defined one of the same name.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Kind>> {
        let hidden = |kind: &Kind| {
            self.fixed.iter().any(|fixed| fixed.group == kind.group && fixed.plural == kind.plural)
        };
        self.fixed.iter().chain(self.defined.iter().filter(move |kind| !hidden(kind)))
    }

    /// The kind at a path.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.all().find(|k| k.group == group && k.version == version && k.plural == plural)
    }

    /// The kind with a name over all versions.
    pub(crate) fn by_resource(&self, resource: &str) -> Option<&Arc<Kind>> {
        self.all().find(|kind| kind.resource() == resource)
    }

    /// The kind of an object.
    pub(crate) fn by_object(&self, api_version: &str, kind: &str) -> Option<&Arc<Kind>> {
        self.all().find(|k| k.kind == kind && k.api_version() == api_version)
    }

    /// Versions of every group, the newest stable one first.
    pub(crate) fn groups(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for kind in self.all() {
            let versions = groups.entry(&kind.group).or_default();
            if !versions.contains(&kind.version.as_str()) {
                versions.push(&kind.version);
            }
        }
        for versions in groups.values_mut() {
            versions.sort_by_key(|version| std::cmp::Reverse(maturity(version)));
        }
        groups
    }
}

/// `v2` before `v1` before `v1beta2` before `v1alpha1`.
fn maturity(version: &str) -> (u8, u64, u64) {
    let number = |text: &str| text.parse().unwrap_or(0);
    let rest = version.trim_start_matches('v');
    for (level, word) in [(1, "beta"), (0, "alpha")] {
        if let Some((major, minor)) = rest.split_once(word) {
            return (level, number(major), number(minor));
        }
    }
    (2, number(rest), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_first() {
        let kinds =
            ["v1alpha1", "v1", "v1beta1", "v2"].map(|v| Arc::new(Kind::new("g", v, "xs", "X")));

        let kinds = Kinds::new(kinds.to_vec());

        assert_eq!(kinds.groups()["g"], ["v2", "v1", "v1beta1", "v1alpha1"]);
    }
}
