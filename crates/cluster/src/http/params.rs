//! The part of a request that stands behind the question mark, and in headers.

use std::{collections::HashMap, time::Duration};

use axum::http::{HeaderMap, Method, header};
use serde_json::Value;

use super::protobuf;
use crate::{
    Cause, FieldValidation, Kind, Status, selector::Selector, table::Form, watch::Start,
    write::Patch,
};

/// How long a watch lasts if the client does not say.
const WATCH: Duration = Duration::from_secs(1_800);

/// How long the name of a field manager may be.
const LONGEST_MANAGER: usize = 128;

/// A refusal of parameters, about the options that Kubernetes makes of them.
fn refused(options: &str, causes: &[Cause]) -> Status {
    Status::invalid(&Kind::new("meta.k8s.io", "v1", "", options), "", causes)
}

/// Query parameters.
pub(crate) struct Params(pub(crate) HashMap<String, String>);

impl Params {
    /// The text of a parameter that is there and not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Whether a parameter is set.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| value == "true" || value == "1" || value.is_empty())
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Status> {
        let read = |text: &str| {
            let refuse = |_| Status::bad_request(format!("invalid value for {name}: {text:?}"));
            text.parse().map_err(refuse)
        };
        self.text(name).map(read).transpose()
    }

    /// The options of a write: whether it is a dry run, and how it treats unknown fields.
    pub(crate) fn options(&self, method: &Method) -> Result<(bool, FieldValidation), Status> {
        let options = match *method {
            Method::POST => "CreateOptions",
            Method::PUT => "UpdateOptions",
            Method::PATCH => "PatchOptions",
            Method::DELETE => "DeleteOptions",
            _ => return Ok((false, FieldValidation::default())),
        };
        let mut causes = Vec::new();
        let is_deletion = *method == Method::DELETE;
        let manager = self.text("fieldManager").filter(|_| !is_deletion);
        if manager.is_some_and(|manager| manager.len() > LONGEST_MANAGER) {
            causes.push(Cause {
                reason: "FieldValueTooLong",
                field: "fieldManager".to_owned(),
                message: format!("Too long: may not be more than {LONGEST_MANAGER} bytes"),
            });
        }
        let dry_run = self.text("dryRun");
        if let Some(other) = dry_run.filter(|word| *word != "All") {
            causes.push(unsupported("dryRun", &format!("[]string{{{other:?}}}"), "\"All\""));
        }
        let validation = match self.text("fieldValidation").filter(|_| !is_deletion) {
            None | Some("Warn") => FieldValidation::Warn,
            Some("Ignore") => FieldValidation::Ignore,
            Some("Strict") => FieldValidation::Strict,
            Some(other) => {
                let words = r#""", "Ignore", "Strict", "Warn""#;
                causes.push(unsupported("fieldValidation", &format!("{other:?}"), words));
                FieldValidation::default()
            }
        };
        if causes.is_empty() {
            return Ok((dry_run.is_some(), validation));
        }
        Err(refused(options, &causes))
    }

    /// What goes with a patch: who applies has a name, and only who applies may insist.
    pub(crate) fn check_patch(&self, applies: bool) -> Result<(), Status> {
        let cause = if applies && self.text("fieldManager").is_none() {
            Cause::required("fieldManager", "is required for apply patch")
        } else if !applies && self.0.contains_key("force") {
            Cause::forbidden("force", "may not be specified for non-apply patch")
        } else {
            return Ok(());
        };
        Err(refused("PatchOptions", &[cause]))
    }

    /// Label and field selector.
    pub(crate) fn selector(&self) -> Result<Selector, Status> {
        Selector::parse(self.text("labelSelector"), self.text("fieldSelector"))
    }

    /// How a watch begins.
    pub(crate) fn start(&self) -> Result<Start, Status> {
        let initial = self.is("sendInitialEvents");
        let version = self.number("resourceVersion")?.filter(|version| *version > 0 && !initial);
        Ok(Start {
            version,
            bookmarks: self.is("allowWatchBookmarks"),
            initial_end: initial,
            timeout: self.number("timeoutSeconds")?.map_or(WATCH, Duration::from_secs),
        })
    }

    /// Under which name fields are owned: as the client says, or after its program.
    pub(crate) fn manager(&self, headers: &HeaderMap) -> String {
        let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        let program = agent.and_then(|agent| agent.split('/').next()).unwrap_or_default();
        let program = if program.is_empty() { "unknown" } else { program };
        self.text("fieldManager").unwrap_or(program).to_owned()
    }
}

/// A parameter that is none of the possible words.
fn unsupported(field: &str, given: &str, possible: &str) -> Cause {
    let message = format!("Unsupported value: {given}: supported values: {possible}");
    Cause { reason: "FieldValueNotSupported", field: field.to_owned(), message }
}

/// In which form the client wants its answer.
pub(crate) fn form(headers: &HeaderMap) -> Form {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    Form::accepted(accept.unwrap_or_default())
}

/// The media type of the body, without its parameters.
fn media(headers: &HeaderMap) -> &str {
    let content = headers.get(header::CONTENT_TYPE).and_then(|content| content.to_str().ok());
    content.unwrap_or_default().split(';').next().unwrap_or_default().trim()
}

/// The language of a patch.
pub(crate) fn language(headers: &HeaderMap) -> Result<Patch, Status> {
    match media(headers) {
        "application/merge-patch+json" => Ok(Patch::Merge),
        "application/json-patch+json" => Ok(Patch::Json),
        "application/strategic-merge-patch+json" => Ok(Patch::Strategic),
        "application/apply-patch+yaml" => Ok(Patch::Apply),
        other => Err(Status::unsupported_media(format!(
            "the body of the request was in an unknown format: {other:?}"
        ))),
    }
}

/// The body, from JSON or YAML.
pub(crate) fn body(headers: &HeaderMap, bytes: &[u8]) -> Result<Value, Status> {
    let media = media(headers);
    if media == "application/vnd.kubernetes.protobuf" {
        return protobuf::read(bytes);
    }
    if media.contains("cbor") {
        return Err(Status::unsupported_media(format!("cannot read {media}, only JSON and YAML")));
    }
    let json = serde_json::from_slice(bytes);
    if media.ends_with("yaml") {
        return json.or_else(|_| {
            let text = std::str::from_utf8(bytes).map_err(|error| unreadable(&error))?;
            serde_saphyr::from_str(text).map_err(|error| unreadable(&error))
        });
    }
    json.map_err(|error| unreadable(&error))
}

/// A document in YAML, which may be JSON; nothing when it is neither.
pub fn read_yaml(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| serde_saphyr::from_str(text).ok())
}

fn unreadable(error: &dyn std::error::Error) -> Status {
    Status::bad_request(format!("the body of the request cannot be read: {error}"))
}
