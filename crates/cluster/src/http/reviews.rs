//! Reviews that callers ask for about themselves: `kubectl auth can-i` and `kubectl auth whoami`.
//!
//! What a reader would get wrong: every authenticated caller may do everything here; there are roles, but nobody looks at them.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Answer, Incoming, params::body, reply, target::ObjectPath};
use crate::Status;

/// The questions: group, plural and kind.
const QUESTIONS: [(&str, &str, &str); 3] = [
    ("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
    ("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"),
];

/// The kind of question behind a path.
pub(super) fn question(place: &ObjectPath) -> Option<&'static str> {
    let asked = QUESTIONS.iter().find(|(group, plural, _)| {
        *group == place.group && *plural == place.plural && place.version == "v1"
    });
    asked.map(|(_, _, kind)| *kind)
}

impl Incoming {
    /// Answers a question; nothing is kept.
    pub(super) fn review(&self, kind: &str, place: &ObjectPath) -> Answer {
        if self.method != Method::POST {
            return Err(Status::method_not_allowed());
        }
        let asked = if self.body.is_empty() { json!({}) } else { body(&self.headers, &self.body)? };
        let everything = json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]);
        let everywhere = json!([{"verbs": ["*"], "nonResourceURLs": ["*"]}]);
        let status = match kind {
            "SelfSubjectReview" => {
                json!({"userInfo": {"username": self.user.user, "groups": self.user.groups}})
            }
            "SelfSubjectRulesReview" => json!({
                "resourceRules": everything, "nonResourceRules": everywhere, "incomplete": false,
            }),
            _ => json!({"allowed": true}),
        };
        let mut answer = json!({
            "apiVersion": format!("{}/v1", place.group), "kind": kind,
            "metadata": {"creationTimestamp": null}, "status": status,
        });
        if let Some(spec) = asked.get("spec").filter(|spec| !Value::is_null(spec)) {
            answer["spec"] = spec.clone();
        }
        Ok(reply(StatusCode::CREATED, answer))
    }
}
