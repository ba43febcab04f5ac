//! The fields of a request for an orchestration, checked before they are read.
//!
//! What a reader would get wrong: a field that is not known is refused and not left out. A target whose plan has a typing error would
//! be every runtime, and a budget with one would be none. Names are compared without case and `null` is nothing, because clients of
//! the original may rely on both.

use serde_json::{Map, Value};

/// The type of a field.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    Flag,
    Number,
    /// A number or a text.
    Budget,
    Object(Fields),
    /// A list of objects.
    List(Fields),
    /// Something that is not read.
    Unread,
}
use Holds::{Budget, Flag, List, Number, Object, Text, Unread};

type Fields = &'static [(&'static str, Holds)];

const PARAMETERS: Fields = &[
    ("targets", Object(&[("include", List(TARGET)), ("exclude", List(TARGET))])),
    ("strategy", Object(STRATEGY)),
    ("dryRun", Flag),
    ("kubernetes", Object(KUBERNETES)),
    ("kyma", Object(&[("version", Text)])),
    ("notification", Flag),
    ("notificationstate", Unread),
    ("retryoperation", Unread),
];
const TARGET: Fields = &[
    ("target", Text),
    ("globalAccount", Text),
    ("subAccount", Text),
    ("region", Text),
    ("runtimeID", Text),
    ("planName", Text),
    ("shoot", Text),
    ("instanceID", Text),
    ("kymaVersion", Text),
];
const STRATEGY: Fields = &[
    ("type", Text),
    ("schedule", Text),
    ("ScheduleTime", Text),
    ("maintenanceWindow", Flag),
    ("parallel", Object(&[("workers", Number)])),
    ("canary", Number),
    ("failureBudget", Budget),
];
const KUBERNETES: Fields =
    &[("kubernetesVersion", Text), ("machineImage", Text), ("machineImageVersion", Text)];

/// The body of a request with every field under its own name; or which field breaks which rule.
pub(super) fn checked(body: Value) -> Result<Value, String> {
    match body {
        Value::Object(given) => object(given, "", PARAMETERS),
        _ => Err("while decoding request body: it must be an object".into()),
    }
}

fn object(given: Map<String, Value>, place: &str, fields: Fields) -> Result<Value, String> {
    let mut read = Map::new();
    for (name, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
        let Some((known, holds)) = fields.iter().find(|(it, _)| it.eq_ignore_ascii_case(&name))
        else {
            let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            return Err(format!("{place}{name} is not known here, only {names} are"));
        };
        if matches!(holds, Unread) {
            continue;
        }
        let field = format!("{place}{known}");
        let value = held(value, &field, *holds)?;
        if read.insert((*known).to_owned(), value).is_some() {
            return Err(format!("{field} is given twice"));
        }
    }
    Ok(Value::Object(read))
}

fn held(value: Value, field: &str, holds: Holds) -> Result<Value, String> {
    let expected = match (holds, value) {
        (Object(fields), Value::Object(given)) => {
            return object(given, &format!("{field}."), fields);
        }
        (List(fields), Value::Array(list)) => return items(list, field, fields),
        (Text | Budget, value @ Value::String(_))
        | (Flag, value @ Value::Bool(_))
        | (Unread, value) => return Ok(value),
        (Number | Budget, value) if value.is_i64() => return Ok(value),
        (Object(_), _) => "an object",
        (List(_), _) => "a list",
        (Text, _) => "a text",
        (Flag, _) => "true or false",
        (Number, _) => "a whole number",
        (Budget, _) => "a number of runtimes or a percentage such as \"10%\"",
    };
    Err(format!("{field} must be {expected}"))
}

fn items(list: Vec<Value>, field: &str, fields: Fields) -> Result<Value, String> {
    let item = |(at, item): (usize, Value)| match item {
        Value::Object(given) => object(given, &format!("{field}[{at}]."), fields),
        _ => Err(format!("{field}[{at}] must be an object")),
    };
    list.into_iter().enumerate().map(item).collect::<Result<Vec<_>, _>>().map(Value::Array)
}

#[cfg(test)]
mod tests {
    use domain::orchestration::Parameters;
    use serde_json::json;

    use super::*;

    /// Every field that there is.
    fn everything() -> Value {
        let target = json!({
            "target": "all", "globalAccount": "g", "subAccount": "s", "region": "r", "runtimeID": "i",
            "planName": "p", "shoot": "c", "instanceID": "i", "kymaVersion": "v",
        });
        json!({
            "targets": { "include": [target], "exclude": [target] },
            "strategy": {
                "type": "parallel", "schedule": "now", "ScheduleTime": "0001-01-01T00:00:00Z",
                "maintenanceWindow": true, "parallel": { "workers": 3 }, "canary": 1, "failureBudget": "10%",
            },
            "dryRun": true,
            "kubernetes": { "kubernetesVersion": "1.33.1", "machineImage": "m", "machineImageVersion": "1" },
            "kyma": { "version": "2.11.0" },
            "notification": true,
        })
    }

    #[test]
    fn every_field_of_the_parameters_is_known_and_no_other() {
        let read: Parameters = serde_json::from_value(checked(everything()).unwrap()).unwrap();

        let mut told = serde_json::to_value(read).unwrap();
        told.as_object_mut().unwrap().remove("retryoperation");
        assert_eq!(told, everything());
    }

    #[test]
    fn names_are_read_without_case_and_null_is_nothing() {
        let sent = json!({
            "TARGETS": { "include": [{ "PlanName": "aws", "region": null }], "exclude": null },
            "strategy": { "MaintenanceWindow": true, "scheduleTime": "0001-01-01T00:00:00Z" },
            "kyma": null, "notificationstate": "pending", "retryoperation": { "immediate": "true" },
        });

        let expected = json!({
            "targets": { "include": [{ "planName": "aws" }] },
            "strategy": { "maintenanceWindow": true, "ScheduleTime": "0001-01-01T00:00:00Z" },
        });
        assert_eq!(checked(sent), Ok(expected));
    }

    #[test]
    fn what_is_not_known_or_of_another_type_is_refused_by_its_name() {
        let table = [
            (json!([]), "while decoding request body: it must be an object"),
            (json!({ "dryrn": true }), "dryrn is not known here, only targets, strategy, "),
            (
                json!({ "targets": { "include": [{ "target": "all" }, { "plan": "aws" }] } }),
                "targets.include[1].plan is not known here, only target, globalAccount, ",
            ),
            (
                json!({ "targets": { "exclude": [["all"]] } }),
                "targets.exclude[0] must be an object",
            ),
            (json!({ "targets": { "include": {} } }), "targets.include must be a list"),
            (json!({ "targets": [[]] }), "targets must be an object"),
            (
                json!({ "targets": { "include": [{ "shoot": 7 }] } }),
                "targets.include[0].shoot must be a text",
            ),
            (json!({ "strategy": { "budget": 3 } }), "strategy.budget is not known here, only "),
            (json!({ "strategy": { "canary": 1.5 } }), "strategy.canary must be a whole number"),
            (
                json!({ "strategy": { "parallel": { "workers": "5" } } }),
                "strategy.parallel.workers must be a whole number",
            ),
            (
                json!({ "strategy": { "failureBudget": true } }),
                "strategy.failureBudget must be a number of runtimes or a percentage",
            ),
            (json!({ "dryRun": "true" }), "dryRun must be true or false"),
            (json!({ "dryRun": true, "dryrun": false }), "dryRun is given twice"),
        ];

        for (sent, problem) in table {
            let error = checked(sent).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
