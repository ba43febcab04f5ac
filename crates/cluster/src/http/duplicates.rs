//! Keys that a body has twice. JSON readers keep one of the values in silence; a strict server refuses the request.

use std::{collections::HashSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// The fields that stand twice in a JSON text, such as `spec.purpose`; none in what is no JSON.
pub(crate) fn duplicates(json: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let node = Node { path: String::new(), found: &mut found };
    match node.deserialize(&mut serde_json::Deserializer::from_slice(json)) {
        Ok(()) => found,
        Err(_) => Vec::new(),
    }
}

/// One value, and where it stands.
struct Node<'a> {
    path: String,
    found: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let dot = if self.path.is_empty() { "" } else { "." };
            let path = format!("{}{dot}{key}", self.path);
            if !keys.insert(key) {
                self.found.push(path.clone());
            }
            map.next_value_seed(Node { path, found: &mut *self.found })?;
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<(), S::Error> {
        let mut place = 0;
        loop {
            let path = format!("{}[{place}]", self.path);
            if items.next_element_seed(Node { path, found: &mut *self.found })?.is_none() {
                return Ok(());
            }
            place += 1;
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_stand_twice_are_found_wherever_they_are() {
        let text =
            br#"{"a": 1, "spec": {"b": [{"c": null}, {"c": true, "c": "x"}], "b": -1.5}, "a": 2}"#;

        assert_eq!(duplicates(text), ["spec.b[1].c", "spec.b", "a"]);
        assert!(duplicates(br#"{"a": {"a": 1}, "b": {"a": 1}}"#).is_empty());
        assert!(duplicates(b"a: 1\na: 2\n").is_empty());
    }
}
