//! Bodies in Kubernetes' binary form, for the kinds that `kubectl create` writes that way.
//!
//! Current versions of `kubectl` send `create namespace`, `create secret` and the like in this form,
//! whatever the server says it understands. Answers are always JSON, which they accept. A body with a
//! kind that is not in the tables is refused. A field that is not in them is skipped, as any API server skips
//! fields of older and newer clients: client-go up to 0.24 always sends field 15 of the metadata.

mod tables;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use self::tables::{ENVELOPE, Field, Form, KINDS};
use crate::Status;

/// Reads a body.
pub(super) fn read(bytes: &[u8]) -> Result<Value, Status> {
    let unreadable = || Status::bad_request("the body is not what its content type says");
    let envelope = bytes.strip_prefix(b"k8s\0").ok_or_else(unreadable)?;
    let envelope = message(envelope, ENVELOPE).ok_or_else(unreadable)?;
    let word = |key: &str| envelope["type"][key].as_str().unwrap_or_default();
    let raw = STANDARD.decode(envelope["raw"].as_str().unwrap_or_default()).unwrap_or_default();
    let fields = KINDS.iter().find(|(kind, _)| *kind == word("kind")).map(|(_, fields)| *fields);
    let mut object = fields.and_then(|fields| message(&raw, fields)).ok_or_else(|| {
        let kind = word("kind");
        Status::unsupported_media(format!(
            "cannot read a {kind} in this form, only as JSON or YAML"
        ))
    })?;
    object["apiVersion"] = json!(word("apiVersion"));
    object["kind"] = json!(word("kind"));
    Ok(object)
}

/// Reads a message; nothing if it is damaged. Fields that the table does not have are skipped.
fn message(mut bytes: &[u8], fields: &[Field]) -> Option<Value> {
    let mut object = Map::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let (number, wire) = (tag >> 3, tag & 7);
        let (plain, content) = match wire {
            0 => (varint(&mut bytes)?, &[][..]),
            1 => (0, take(&mut bytes, 8)?),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                (0, take(&mut bytes, length)?)
            }
            5 => (0, take(&mut bytes, 4)?),
            _ => return None,
        };
        if let Some((_, name, form)) = fields.iter().find(|(known, ..)| *known == number) {
            put(&mut object, name, *form, plain, content)?;
        }
    }
    Some(Value::Object(object))
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (content, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(content)
}

fn put(
    object: &mut Map<String, Value>,
    name: &str,
    form: Form,
    plain: u64,
    content: &[u8],
) -> Option<()> {
    let text = || String::from_utf8(content.to_vec()).ok();
    let value = match form {
        Form::Ignored => return Some(()),
        // Go writes texts that are not set as empty ones.
        Form::Text if content.is_empty() => return Some(()),
        Form::Text => json!(text()?),
        Form::Bytes => json!(STANDARD.encode(content)),
        Form::Number => json!(plain.cast_signed()),
        Form::Truth => json!(plain != 0),
        Form::Flag if plain == 0 => return Some(()),
        Form::Flag => json!(true),
        Form::Object(fields) => match message(content, fields)? {
            // Go writes parts that are not set as empty ones.
            Value::Object(part) if part.is_empty() => return Some(()),
            part => part,
        },
        Form::Texts => return push(object, name, json!(text()?)),
        Form::Objects(fields) => return push(object, name, message(content, fields)?),
        Form::ObjectMap(fields) => return enter(object, name, content, Form::Object(fields)),
        Form::TextMap => return enter(object, name, content, Form::Text),
        Form::BytesMap => return enter(object, name, content, Form::Bytes),
    };
    object.insert(name.to_owned(), value);
    Some(())
}

fn push(object: &mut Map<String, Value>, name: &str, item: Value) -> Option<()> {
    object.entry(name).or_insert_with(|| json!([])).as_array_mut()?.push(item);
    Some(())
}

fn enter(object: &mut Map<String, Value>, name: &str, content: &[u8], form: Form) -> Option<()> {
    let entry = message(content, &[(1, "key", Form::Text), (2, "value", form)])?;
    let value = entry.get("value").cloned().unwrap_or_else(|| json!(""));
    // A quantity is a text in JSON, and a message around one here.
    let value = if let Form::Object(_) = form { value["string"].clone() } else { value };
    let map = object.entry(name).or_insert_with(|| json!({})).as_object_mut()?;
    map.insert(entry["key"].as_str().unwrap_or_default().to_owned(), value);
    Some(())
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f).checked_shl(shift)?;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let length = u8::try_from(content.len()).unwrap();
        [&[number << 3 | 2, length], content].concat()
    }

    fn body(kind: &str, raw: &[u8]) -> Vec<u8> {
        let kind = [field(1, b"v1"), field(2, kind.as_bytes())].concat();
        [b"k8s\0".to_vec(), field(1, &kind), field(2, raw), field(4, b"")].concat()
    }

    #[test]
    fn a_secret_is_read() {
        let entry = [field(1, b"key"), field(2, b"value")].concat();
        let raw = [field(1, &field(1, b"s")), field(2, &entry), field(3, b"Opaque")].concat();

        let secret = read(&body("Secret", &raw)).unwrap();

        assert_eq!(
            secret,
            json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
                "data": {"key": "dmFsdWU="}, "type": "Opaque",
            })
        );
    }

    #[test]
    fn fields_of_older_and_newer_clients_are_skipped() {
        let owner = [field(1, b"Pod"), field(3, b"p"), field(4, b"u"), field(5, b"v1")].concat();
        let metadata = [field(1, b"n"), field(13, &owner), field(15, b"")].concat();
        // Field 16 with a length, whose tag needs two bytes.
        let metadata = [&metadata[..], &[0x82, 0x01, 1, b'x']].concat();
        let raw = [field(1, &metadata), field(9, b"new")].concat();

        let namespace = read(&body("Namespace", &raw)).unwrap();

        let owner = json!({"kind": "Pod", "name": "p", "uid": "u", "apiVersion": "v1"});
        assert_eq!(namespace["metadata"], json!({"name": "n", "ownerReferences": [owner]}));
    }

    #[test]
    fn numbers_of_fixed_length_are_skipped() {
        let fixed =
            [9 << 3 | 5, 1, 2, 3, 4, 10 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8, 11 << 3, 0x80, 0x01];
        let raw = [&fixed[..], &field(1, &field(1, b"s"))].concat();

        assert_eq!(read(&body("Secret", &raw)).unwrap()["metadata"]["name"], "s");
    }

    #[test]
    fn kinds_that_are_not_known_and_damaged_bodies_are_refused() {
        assert_eq!(read(&body("Pod", &[])).unwrap_err().code, 415);
        assert_eq!(read(b"nonsense").unwrap_err().code, 400);
        let whole = body("Secret", &field(1, &field(1, b"s")));
        assert_eq!(read(&whole[..whole.len() - 3]).unwrap_err().code, 400);
    }
}
