//! The part of a request that stands behind the question mark, and in headers.

use std::{collections::HashMap, time::Duration};

use axum::http::{HeaderMap, header};
use serde_json::Value;

use super::protobuf;
use crate::{FieldValidation, Status, selector::Selector, table::Form, watch::Start, write::Patch};

/// How long a watch lasts if the client does not say.
const WATCH: Duration = Duration::from_secs(1_800);

/// How long the name of a field manager may be.
const LONGEST_MANAGER: usize = 128;

fn options(why: &str) -> String {
    format!("PatchOptions.meta.k8s.io \"\" is invalid: {why}")
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

    /// `dryRun=All`; anything else in it is a mistake.
    pub(crate) fn dry_run(&self) -> Result<bool, Status> {
        match self.text("dryRun") {
            None => Ok(false),
            Some("All") => Ok(true),
            Some(other) => {
                let why = format!(
                    "dryRun: Unsupported value: []string{{{other:?}}}: supported values: \"All\""
                );
                Err(Status::new(422, "Invalid", options(&why)))
            }
        }
    }

    /// What goes with a patch: who applies has a name, and only who applies may insist.
    pub(crate) fn check_patch(&self, applies: bool) -> Result<(), Status> {
        let manager = self.text("fieldManager");
        let why = if applies && manager.is_none() {
            "fieldManager: Required value: is required for apply patch"
        } else if !applies && self.0.contains_key("force") {
            "force: Forbidden: may not be specified for non-apply patch"
        } else if manager.is_some_and(|manager| manager.len() > LONGEST_MANAGER) {
            "fieldManager: Too long: may not be more than 128 bytes"
        } else {
            return Ok(());
        };
        Err(Status::new(422, "Invalid", options(why)))
    }

    /// `fieldValidation`: unless told otherwise, unknown fields are dropped with a warning.
    pub(crate) fn field_validation(&self) -> Result<FieldValidation, Status> {
        match self.text("fieldValidation") {
            None | Some("Warn") => Ok(FieldValidation::Warn),
            Some("Ignore") => Ok(FieldValidation::Ignore),
            Some("Strict") => Ok(FieldValidation::Strict),
            Some(other) => Err(Status::new(
                422,
                "Invalid",
                format!(
                    "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: {other:?}: supported \
                     values: \"\", \"Ignore\", \"Strict\", \"Warn\""
                ),
            )),
        }
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
