//! Parameters of an order or a change: from a file, and one by one from the command line.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Value, json};

/// The flags with which parameters are given.
#[derive(Args)]
pub(super) struct Parameters {
    /// A parameter; dots name nested fields: oidc.clientID=me. Values may be JSON.
    #[arg(long, value_name = "KEY=VALUE", value_parser = given)]
    param: Vec<(String, Value)>,
    /// A file with parameters, a JSON object; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,
}

impl Parameters {
    /// The file's parameters, with those of the command line over them; `None` when none is given.
    pub(super) fn value(&self) -> anyhow::Result<Option<Value>> {
        let mut parameters = match &self.parameters {
            Some(path) => read(path)?,
            None if self.param.is_empty() => return Ok(None),
            None => json!({}),
        };
        for (key, value) in &self.param {
            set(&mut parameters, key, value.clone())?;
        }
        Ok(Some(parameters))
    }
}

/// `key=value`. What is not JSON is taken as it stands: names need no quotes.
fn given(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("it is not of the form KEY=VALUE")?;
    if key.split('.').any(str::is_empty) {
        return Err("its key is empty, or has an empty part".into());
    }
    let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    Ok((key.to_owned(), value))
}

/// The parameters in a file.
fn read(path: &Path) -> anyhow::Result<Value> {
    let shown = path.display();
    let text = if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("standard input cannot be read")?;
        text
    } else {
        fs::read_to_string(path).with_context(|| format!("{shown} cannot be read"))?
    };
    let read: Value =
        serde_json::from_str(&text).with_context(|| format!("{shown} is not JSON"))?;
    if !read.is_object() {
        bail!("{shown} is not a JSON object");
    }
    Ok(read)
}

/// Sets what a dotted key names.
pub(super) fn set(parameters: &mut Value, key: &str, value: Value) -> anyhow::Result<()> {
    let mut place = parameters;
    for part in key.split('.') {
        let Value::Object(fields) = place else {
            bail!("parameter {key}: the field above it is not an object");
        };
        place = fields.entry(part).or_insert_with(|| json!({}));
    }
    *place = value;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_json_or_plain_text_at_any_depth() {
        let mut parameters = json!({"autoScalerMin": 1});

        for text in
            ["autoScalerMin=3", "machineType=m5.xlarge", "oidc.clientID=me", "zones=[\"a\"]"]
        {
            let (key, value) = given(text).unwrap();
            set(&mut parameters, &key, value).unwrap();
        }

        let expected = json!({
            "autoScalerMin": 3, "machineType": "m5.xlarge", "oidc": {"clientID": "me"}, "zones": ["a"],
        });
        assert_eq!(parameters, expected);
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        assert!(given("name").is_err());
        assert!(given("=x").is_err());
        assert!(given("a..b=x").is_err());
        assert!(set(&mut json!({"name": "x"}), "name.more", json!(1)).is_err());
    }
}
