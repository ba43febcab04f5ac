//! What runtimes are called, for lists that know only their instances.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{client::Client, output::Format, view::Runtime};

/// How many runtimes are asked for by id at once: as many as fit an address.
const AT_ONCE: usize = 50;
/// How many are asked for at all: of more than these, lists show the Shoots.
const MOST: usize = 500;

/// Names by instance, or by another id of the runtimes.
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    /// The names of the instances in this field, unless only ids are printed. A list without names is better than none, so that
    /// failures do not count.
    pub(super) async fn of(client: &Client, items: &[Value], field: &str, format: Format) -> Self {
        Self::by(client, ("instance_id", |it| &it.instance_id), items, field, format).await
    }

    /// The same for the runtimes in this field.
    pub(super) async fn of_runtimes(
        client: &Client,
        items: &[Value],
        field: &str,
        format: Format,
    ) -> Self {
        Self::by(client, ("runtime_id", |it| &it.id), items, field, format).await
    }

    /// The same for the Shoots in this field.
    pub(super) async fn of_shoots(
        client: &Client,
        items: &[Value],
        field: &str,
        format: Format,
    ) -> Self {
        Self::by(client, ("shoot", |it| &it.shoot_name), items, field, format).await
    }

    async fn by(
        client: &Client,
        (filter, id): (&'static str, fn(&Runtime) -> &String),
        items: &[Value],
        field: &str,
        format: Format,
    ) -> Self {
        let ids: BTreeSet<&str> = items.iter().filter_map(|it| it[field].as_str()).collect();
        let ids: Vec<&str> = ids.into_iter().filter(|id| !id.is_empty()).collect();
        let mut names = BTreeMap::new();
        if format == Format::Name || !client.has_runtimes() || ids.len() > MOST {
            return Self(names);
        }
        for part in ids.chunks(AT_ONCE) {
            let mut query = vec![("state", "all".to_owned()), ("op_detail", "last".to_owned())];
            query.extend(part.iter().map(|id| (filter, (*id).to_owned())));
            let Ok(found) = client.runtimes_seen(&query).await else { break };
            let named = found.into_iter().filter(|it| !it.name().is_empty());
            names.extend(named.map(|it| (id(&it).clone(), it.name().to_owned())));
        }
        Self(names)
    }

    /// No names.
    pub(super) const fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// One name.
    #[cfg(test)]
    pub(super) fn with(instance: &str, name: &str) -> Self {
        Self(BTreeMap::from([(instance.to_owned(), name.to_owned())]))
    }

    /// The name of an instance, or another word for it, or its whole id, which the next command takes.
    pub(super) fn name(&self, instance: &str, otherwise: &str) -> String {
        let otherwise = if otherwise.is_empty() { instance } else { otherwise };
        self.0.get(instance).map_or(otherwise, String::as_str).to_owned()
    }

    /// The name of an instance, if it has one.
    pub(super) fn get(&self, instance: &str) -> Option<&str> {
        self.0.get(instance).map(String::as_str)
    }

    /// The items with the names of the instances in this field, where they have one: programs read what the table shows.
    pub(super) fn added_to(&self, items: &[Value], field: &str) -> Vec<Value> {
        let mut items = items.to_vec();
        for item in &mut items {
            let name = item[field].as_str().and_then(|instance| self.0.get(instance)).cloned();
            if let (Some(name), Some(fields)) = (name, item.as_object_mut()) {
                fields.insert("name".to_owned(), name.into());
            }
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NAMED: &str = "01a1e15b-0000-7000-8000-000000000001";
    const NAMELESS: &str = "01a1e15b-0000-7000-8000-000000000002";

    #[test]
    fn a_runtime_without_a_name_is_listed_by_its_whole_id_and_programs_read_the_names_too() {
        let names = Names(BTreeMap::from([(NAMED.to_owned(), "payments".to_owned())]));

        let shown = [NAMED, NAMELESS].map(|instance| names.name(instance, ""));
        let items = [json!({ "instance": NAMED }), json!({ "instance": NAMELESS })];
        let items = names.added_to(&items, "instance");

        assert_eq!(shown, ["payments", NAMELESS]);
        assert_eq!(names.name(NAMELESS, "c-1234567"), "c-1234567");
        let named = json!({ "instance": NAMED, "name": "payments" });
        assert_eq!(items, [named, json!({ "instance": NAMELESS })]);
    }
}
