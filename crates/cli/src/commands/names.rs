//! What runtimes are called, for lists that know only their instances.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::client::Client;

/// How many runtimes are asked for by id at once: as many as fit an address.
const AT_ONCE: usize = 50;
/// How many are asked for at all: of more than these, lists show the Shoots.
const MOST: usize = 500;
/// The length of an instance id that stands for a runtime without a name.
const SHORT: usize = 8;

/// Names by instance.
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    /// The names of the instances in this field. A list without names is better than none, so that failures do not count.
    pub(super) async fn of(client: &Client, items: &[Value], field: &str) -> Self {
        let instances: BTreeSet<&str> = items.iter().filter_map(|it| it[field].as_str()).collect();
        let instances: Vec<&str> = instances.into_iter().collect();
        let mut names = BTreeMap::new();
        if !client.has_runtimes() || instances.len() > MOST {
            return Self(names);
        }
        for part in instances.chunks(AT_ONCE) {
            let mut query = vec![("state", "all".to_owned()), ("op_detail", "last".to_owned())];
            query.extend(part.iter().map(|instance| ("instance_id", (*instance).to_owned())));
            let Ok(found) = client.runtimes_seen(&query).await else { break };
            let named = found.into_iter().filter(|it| !it.name().is_empty());
            names.extend(named.map(|it| (it.instance_id.clone(), it.name().to_owned())));
        }
        Self(names)
    }

    /// The name of an instance, or another word for it, or the beginning of its id.
    pub(super) fn name(&self, instance: &str, otherwise: &str) -> String {
        match self.0.get(instance) {
            Some(name) => name.clone(),
            None if !otherwise.is_empty() => otherwise.to_owned(),
            None => instance.chars().take(SHORT).collect(),
        }
    }
}
