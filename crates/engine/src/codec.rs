//! Data as bytes. Fields that a newer program wrote and this one does not know survive.

use base::Failure;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// Turns one operation's data into bytes and back, remembering what it did not understand.
#[derive(Debug, Default, Clone)]
pub(crate) struct Codec {
    unknown: Option<Value>,
}

impl Codec {
    /// Reads data; what does not belong to the type is kept aside.
    pub(crate) fn decode<D: Serialize + DeserializeOwned>(
        what: &str,
        bytes: &[u8],
    ) -> Result<(D, Self), Failure> {
        let unreadable = |error: serde_json::Error| {
            Failure::new(
                "engine",
                "unreadable",
                format!("the stored {what} cannot be read: {error}"),
            )
        };
        let stored: Value = serde_json::from_slice(bytes).map_err(unreadable)?;
        let data: D = D::deserialize(&stored).map_err(unreadable)?;
        let known = serde_json::to_value(&data).map_err(unreadable)?;
        Ok((data, Self { unknown: beyond(stored, &known) }))
    }

    /// Writes data together with what was kept aside.
    pub(crate) fn encode<D: Serialize>(&self, data: &D) -> Result<Vec<u8>, Failure> {
        let unwritable = |error: serde_json::Error| {
            Failure::new("engine", "unwritable", format!("the data cannot be written: {error}"))
        };
        let Some(unknown) = &self.unknown else {
            return serde_json::to_vec(data).map_err(unwritable);
        };
        let mut value = serde_json::to_value(data).map_err(unwritable)?;
        add(&mut value, unknown);
        serde_json::to_vec(&value).map_err(unwritable)
    }
}

/// The fields of `stored` that `known` lacks, object by object.
fn beyond(stored: Value, known: &Value) -> Option<Value> {
    let (Value::Object(stored), Value::Object(known)) = (stored, known) else { return None };
    let rest: Map<String, Value> = stored
        .into_iter()
        .filter_map(|(name, value)| match known.get(&name) {
            None => Some((name, value)),
            Some(known) => beyond(value, known).map(|rest| (name, rest)),
        })
        .collect();
    (!rest.is_empty()).then_some(Value::Object(rest))
}

fn add(value: &mut Value, unknown: &Value) {
    let (Value::Object(value), Value::Object(unknown)) = (value, unknown) else { return };
    for (name, rest) in unknown {
        match value.get_mut(name) {
            Some(inner) => add(inner, rest),
            None => {
                value.insert(name.clone(), rest.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Serialize, Deserialize)]
    struct OldData {
        runtime: Inner,
    }

    #[derive(Serialize, Deserialize)]
    struct Inner {
        id: u32,
    }

    #[test]
    fn p22_fields_of_a_newer_program_survive_an_older_one() {
        let newer = br#"{"runtime":{"id":1,"zone":"a"},"licence":"x"}"#;

        let (mut data, codec) = Codec::decode::<OldData>("data", newer).unwrap();
        data.runtime.id = 2;
        let written: Value = serde_json::from_slice(&codec.encode(&data).unwrap()).unwrap();

        assert_eq!(written, serde_json::json!({"runtime": {"id": 2, "zone": "a"}, "licence": "x"}));
    }

    #[test]
    fn unreadable_data_is_a_clear_failure() {
        let failure = Codec::decode::<OldData>("data", b"{}").err().unwrap();

        assert!(failure.message.contains("runtime"), "{failure}");
    }
}
