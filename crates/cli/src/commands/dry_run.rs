//! `--dry-run`: what a command would send. Nothing is changed; the broker checks it as it checks the request itself. Of a broker that
//! cannot, what its catalog tells is checked.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};

use crate::output::{self, Format};

/// What is known about a request that is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckLevel {
    /// The broker would accept it.
    ByBroker,
    /// It fits the schema of the catalog; the broker cannot check it.
    BySchema,
    /// What it is about is there.
    Exists,
}

impl CheckLevel {
    fn word(self) -> &'static str {
        match self {
            Self::ByBroker => "broker",
            Self::BySchema => "schema",
            Self::Exists => "existence",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::ByBroker => "the broker would accept it",
            Self::BySchema => {
                "its parameters fit the catalog's schema, and this broker checks no more before it gets it"
            }
            Self::Exists => "what it is about is there",
        }
    }
}

/// A request that is not sent.
pub(super) struct UnsentRequest<'a> {
    pub(super) checked: CheckLevel,
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) body: Option<&'a Value>,
}

impl UnsentRequest<'_> {
    /// Shows it.
    pub(super) fn show(&self, format: Format) -> anyhow::Result<ExitCode> {
        self.show_with(format, &Value::Null)
    }

    /// Shows it with the runtime that it would make, if the broker says so.
    pub(super) fn show_with(&self, format: Format, runtime: &Value) -> anyhow::Result<ExitCode> {
        let Self { checked, method, path, body } = self;
        let mut shown = json!({
            "dry_run": true, "checked": checked.word(), "method": method, "path": path, "body": body,
        });
        if !runtime.is_null() {
            shown["runtime"] = runtime.clone();
        }
        format.show(&shown, path, || {
            let body = body.map(|body| format!("{body:#}\n")).unwrap_or_default();
            format!("{method} {path}\n{body}{}", described(runtime))
        })?;
        if format == Format::Table {
            eprintln!("\nDry run: nothing was sent; {}.", checked.sentence());
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A runtime that was not ordered, a line for each value that has one.
fn described(runtime: &Value) -> String {
    let mut lines = Vec::new();
    for (name, value) in runtime.as_object().into_iter().flatten() {
        match value.as_object() {
            Some(inner) => {
                lines.extend(inner.iter().filter_map(|(name, value)| line(name, value)));
            }
            None => lines.extend(line(name, value)),
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    format!("\nThe runtime would have:\n{}\n", lines.join("\n"))
}

fn line(name: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::Null | Value::Object(_) => return None,
        Value::String(text) if text.is_empty() => return None,
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => return None,
        Value::Array(values) => {
            let texts = values.iter().map(|value| {
                value["name"].as_str().or(value.as_str()).map_or(value.to_string(), str::to_owned)
            });
            texts.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    Some(format!("  {name:<24} {}", output::harmless(&text, "")))
}

/// Refuses parameters that the schema of the plan does not allow, as far as a schema says it in so many words.
pub(super) fn check(schema: &Value, parameters: &Value) -> anyhow::Result<()> {
    let (Some(properties), Some(given)) =
        (schema["properties"].as_object(), parameters.as_object())
    else {
        return Ok(());
    };
    let mut problems = Vec::new();
    for (name, value) in given {
        match properties.get(name) {
            Some(property) => problems.extend(problem(name, property, value)),
            None if schema["additionalProperties"] == false => {
                let known: Vec<&str> = properties.keys().map(String::as_str).collect();
                problems.push(format!("{name} is no parameter of the plan: {}", known.join(", ")));
            }
            None => {}
        }
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !given.contains_key(name) {
            problems.push(format!("{name} is required"));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    bail!(
        "dry run: the parameters would be refused: {}",
        output::harmless(&problems.join("; "), "")
    )
}

fn problem(name: &str, property: &Value, value: &Value) -> Option<String> {
    let fits = match property["type"].as_str() {
        Some("integer") => value.is_i64(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    if !fits {
        return Some(format!("{name}: {value} is no {}", property["type"].as_str()?));
    }
    if let Some(choices) = property["enum"].as_array().filter(|all| !all.contains(value)) {
        let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
        return Some(format!("{name}: {value} is none of {}", choices.join(", ")));
    }
    let number = value.as_i64()?;
    match (property["minimum"].as_i64(), property["maximum"].as_i64()) {
        (Some(least), _) if number < least => {
            Some(format!("{name}: {number} is less than {least}"))
        }
        (_, Some(most)) if number > most => Some(format!("{name}: {number} is more than {most}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_checked_by_the_schema_of_the_plan() {
        let schema = json!({
            "properties": {
                "name": {"type": "string"}, "machineType": {"type": "string", "enum": ["m5.xlarge"]},
                "autoScalerMax": {"type": "integer", "minimum": 3, "maximum": 80},
            },
            "required": ["name"], "additionalProperties": false,
        });
        let refused = |parameters: Value| check(&schema, &parameters).unwrap_err().to_string();

        let good = json!({"name": "dev", "machineType": "m5.xlarge", "autoScalerMax": 3});
        assert!(check(&schema, &good).is_ok());
        for (parameters, problem) in [
            (json!({"name": "dev", "machinetype": 1}), "machinetype is no parameter"),
            (json!({"name": "dev", "machineType": "x"}), "is none of \"m5.xlarge\""),
            (json!({"name": "dev", "autoScalerMax": 2}), "2 is less than 3"),
            (json!({"name": "dev", "autoScalerMax": "9"}), "is no integer"),
            (json!({}), "name is required"),
        ] {
            assert!(refused(parameters.clone()).contains(problem), "{}", refused(parameters));
        }
        assert!(check(&Value::Null, &good).is_ok());
    }

    #[test]
    fn a_runtime_that_was_not_ordered_is_a_line_for_each_value() {
        let runtime = json!({
            "platformRegion": "", "euAccess": false, "licenceType": null,
            "cluster": {"machineType": "m5.xlarge", "zones": [{"name": "eu-central-1a"}, {"name": "eu-central-1b"}], "autoScalerMax": 3},
        });
        let lines: Vec<String> = described(&runtime)
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();

        assert_eq!(
            lines,
            [
                "",
                "The runtime would have:",
                "euAccess false",
                "machineType m5.xlarge",
                "zones eu-central-1a, eu-central-1b",
                "autoScalerMax 3",
            ]
        );
        assert_eq!(described(&Value::Null), "");
    }
}
