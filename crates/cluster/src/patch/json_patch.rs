//! JSON patch (RFC 6902): a list of operations that are done all or not at all.

use ::json_patch::{Patch, PatchOperation, patch};
use serde_json::Value;

use crate::Status;

/// Does all operations on `target`, or none.
pub(crate) fn json_patch(target: &mut Value, operations: &Value) -> Result<(), Status> {
    if !operations.is_array() {
        return Err(Status::bad_request("a JSON patch is a list of operations"));
    }
    let operations: Patch =
        serde_json::from_value(operations.clone()).map_err(|error| refused(&error))?;
    let mut result = target.clone();
    for operation in operations.0 {
        if !passes_as_null(&result, &operation) {
            patch(&mut result, &[operation]).map_err(|error| refused(&error))?;
        }
    }
    *target = result;
    Ok(())
}

/// Kubernetes' library takes what is missing for null, and controllers rely on it.
fn passes_as_null(target: &Value, operation: &PatchOperation) -> bool {
    let PatchOperation::Test(test) = operation else { return false };
    test.value.is_null() && target.pointer(test.path.as_str()).is_none()
}

fn refused(why: &dyn std::fmt::Display) -> Status {
    let message = format!("the server rejected our request due to an error in our request: {why}");
    Status::new(422, "Invalid", message)
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

    #[test]
    fn what_is_missing_passes_a_test_for_null() {
        let mut target = json!({"a": 1});
        let test = |path: &str| json!([{"op": "test", "path": path, "value": null}]);

        assert!(json_patch(&mut target, &test("/b/c")).is_ok());
        assert_eq!(json_patch(&mut target, &test("/a")).unwrap_err().code, 422);
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        for (patch, code) in [
            (json!({"op": "remove", "path": "/a"}), 400),
            (json!([{"op": "increase", "path": "/a"}]), 422),
            (json!([{"op": "add", "path": "/b"}]), 422),
            (json!([{"op": "remove"}]), 422),
            (json!([{"op": "remove", "path": "/b"}]), 422),
            (json!([{"op": "copy", "path": "/b", "from": "/c"}]), 422),
        ] {
            assert_eq!(json_patch(&mut json!({"a": 1}), &patch).unwrap_err().code, code, "{patch}");
        }
    }
}
