//! JSON whose objects have each key once, at any depth.
//!
//! What a reader would get wrong: `serde_json::Value` takes the last of several values under one key, so that a request would mean one thing
//! to whatever checked it before, and another here.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// A value that is refused when an object of it has a key twice.
pub(crate) struct UniqueJson(pub(crate) Value);

impl<'de> Deserialize<'de> for UniqueJson {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(UniqueVisitor).map(Self)
    }
}

/// The same for an object, as the rest of a struct is read.
pub(crate) fn object<'de, D: Deserializer<'de>>(input: D) -> Result<Value, D::Error> {
    input.deserialize_map(UniqueVisitor)
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Value, M::Error> {
        let mut object = Map::new();
        while let Some((key, UniqueJson(value))) = map.next_entry::<String, _>()? {
            if object.contains_key(&key) {
                return Err(M::Error::custom(format_args!("{key} is given twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Value, S::Error> {
        let mut items = Vec::new();
        while let Some(UniqueJson(item)) = list.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        let read = serde_json::from_str::<UniqueJson>(text);
        read.map(|read| read.0).map_err(|error| error.to_string())
    }

    #[test]
    fn what_has_each_key_once_is_read_as_it_is_written() {
        for text in [
            r#"{"a":[{"b":1},{"b":-2},{"b":1.5e3}],"c":{"a":true,"b":null,"d":"\u00e9\n"},"e":{}}"#,
            "[]",
            "18446744073709551615",
            "null",
        ] {
            assert_eq!(read(text), Ok(serde_json::from_str(text).unwrap()), "{text}");
        }
    }

    #[test]
    fn a_key_that_is_given_twice_is_refused_at_any_depth() {
        for text in [
            r#"{"a":true,"b":1,"a":false}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"c":{"a":1,"a":1}}"#,
            r#"[[{"b":{"a":null,"a":{}}}]]"#,
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with("a is given twice at line 1 column "), "{text}: {error}");
        }
    }
}
