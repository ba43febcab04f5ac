//! JSON patch (RFC 6902): a list of operations that are done all or not at all.

use serde_json::Value;

use crate::Status;

/// Does all operations on `target`, or none.
pub(crate) fn json_patch(target: &mut Value, patch: &Value) -> Result<(), Status> {
    let Some(operations) = patch.as_array() else {
        return Err(Status::bad_request("a JSON patch is a list of operations"));
    };
    let mut result = target.clone();
    for operation in operations {
        perform(&mut result, operation)?;
    }
    *target = result;
    Ok(())
}

fn perform(target: &mut Value, operation: &Value) -> Result<(), Status> {
    let pointer = |key: &str| {
        operation[key].as_str().ok_or_else(|| refused(&format!("operation without {key:?}")))
    };
    let path = pointer("path")?;
    match operation["op"].as_str() {
        Some("add") => add(target, path, given(operation)?),
        Some("remove") => remove(target, path).map(drop),
        Some("replace") => {
            let value = given(operation)?;
            *target.pointer_mut(path).ok_or_else(|| missing(path))? = value;
            Ok(())
        }
        Some("move") => {
            let value = remove(target, pointer("from")?)?;
            add(target, path, value)
        }
        Some("copy") => {
            let from = pointer("from")?;
            let value = target.pointer(from).cloned().ok_or_else(|| missing(from))?;
            add(target, path, value)
        }
        Some("test") => match target.pointer(path) {
            Some(found) if *found == given(operation)? => Ok(()),
            // Kubernetes' library takes what is missing for null, and controllers rely on it.
            None if given(operation)?.is_null() => Ok(()),
            _ => Err(refused(&format!("testing path {path} failed"))),
        },
        other => Err(refused(&format!("unknown operation {other:?}"))),
    }
}

fn given(operation: &Value) -> Result<Value, Status> {
    operation.get("value").cloned().ok_or_else(|| refused("operation without a value"))
}

fn add(target: &mut Value, path: &str, value: Value) -> Result<(), Status> {
    let Some((parent, last)) = path.rsplit_once('/') else {
        *target = value;
        return Ok(());
    };
    let last = last.replace("~1", "/").replace("~0", "~");
    match target.pointer_mut(parent) {
        Some(Value::Object(map)) => _ = map.insert(last, value),
        Some(Value::Array(list)) if last == "-" => list.push(value),
        Some(Value::Array(list)) => {
            let position = last.parse().ok().filter(|p| *p <= list.len());
            list.insert(position.ok_or_else(|| missing(path))?, value);
        }
        _ => return Err(missing(path)),
    }
    Ok(())
}

fn remove(target: &mut Value, path: &str) -> Result<Value, Status> {
    let (parent, last) = path.rsplit_once('/').ok_or_else(|| missing(path))?;
    let last = last.replace("~1", "/").replace("~0", "~");
    let removed = match target.pointer_mut(parent) {
        Some(Value::Object(map)) => map.shift_remove(&last),
        Some(Value::Array(list)) => {
            last.parse().ok().filter(|p: &usize| *p < list.len()).map(|p| list.remove(p))
        }
        _ => None,
    };
    removed.ok_or_else(|| missing(path))
}

fn missing(path: &str) -> Status {
    refused(&format!("path {path} does not exist"))
}

fn refused(why: &str) -> Status {
    Status::new(
        422,
        "Invalid",
        format!("the server rejected our request due to an error in our request: {why}"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_six_operations_work() {
        let mut target = json!({"a": [1, 2], "b/c": {"d": 1}, "e": "x"});

        json_patch(
            &mut target,
            &json!([
                {"op": "test", "path": "/b~1c/d", "value": 1},
                {"op": "add", "path": "/a/-", "value": 3},
                {"op": "add", "path": "/a/0", "value": 0},
                {"op": "remove", "path": "/a/1"},
                {"op": "replace", "path": "/e", "value": "y"},
                {"op": "copy", "from": "/e", "path": "/f"},
                {"op": "move", "from": "/b~1c/d", "path": "/g"},
            ]),
        )
        .unwrap();

        assert_eq!(target, json!({"a": [0, 2, 3], "b/c": {}, "e": "y", "f": "y", "g": 1}));
    }

    #[test]
    fn a_failed_test_leaves_everything_as_it_was() {
        let mut target = json!({"a": 1});

        let refusal = json_patch(
            &mut target,
            &json!([
                {"op": "replace", "path": "/a", "value": 2},
                {"op": "test", "path": "/a", "value": 1},
            ]),
        );

        assert_eq!(refusal.unwrap_err().code, 422);
        assert_eq!(target, json!({"a": 1}));
    }
}
