//! The evaluations that the service knows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::store::State;

/// The statuses there are.
pub(super) const STATUSES: [&str; 5] = ["ACTIVE", "MAINTENANCE", "INACTIVE", "RETIRED", "DELETED"];

/// The request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct NewEvaluation {
    pub(super) definition_type: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) service: String,
    #[serde(default)]
    pub(super) url: String,
    #[serde(default)]
    pub(super) check_type: String,
    pub(super) interval: i32,
    pub(super) tester_access_id: i64,
    pub(super) timeout: i64,
    #[serde(default)]
    pub(super) read_only: bool,
    #[serde(default)]
    pub(super) content_check: String,
    #[serde(default)]
    pub(super) content_check_type: String,
    /// A text on its way in, a number on its way out.
    pub(super) threshold: String,
    pub(super) group_id: i64,
    #[serde(default)]
    pub(super) visibility: String,
    #[serde(default)]
    pub(super) parent_id: i64,
    #[serde(default)]
    pub(super) tags: Option<Vec<Tag>>,
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tag {
    pub(super) content: String,
    #[serde(rename = "tag_class_id")]
    pub(super) class_id: i64,
    #[serde(rename = "tag_class_name", default)]
    pub(super) class_name: String,
}

/// One evaluation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Evaluation {
    pub(super) id: i64,
    pub(super) asked: NewEvaluation,
    pub(super) status: String,
    pub(super) tags: Vec<Tag>,
    pub(super) created_at: i64,
    pub(super) changed_at: i64,
}

/// Everything the service keeps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Evaluations {
    pub(super) by_id: BTreeMap<i64, Evaluation>,
    /// Children in the order in which they came, also of parents that nobody made.
    pub(super) children: BTreeMap<i64, Vec<i64>>,
    /// How many were ever made.
    pub(super) created: i64,
    /// Whether thresholds go out as they came in, which no client expects.
    pub(super) threshold_as_text: bool,
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    Created(Box<Evaluation>),
    Tagged { id: i64, tag: Tag, at: i64 },
    StatusSet { id: i64, status: String, at: i64 },
    Unlinked { parent: i64, child: i64 },
    Deleted { id: i64 },
    ThresholdAsText { on: bool },
}

impl State for Evaluations {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::Created(evaluation) => {
                self.created += 1;
                if evaluation.asked.parent_id != 0 {
                    self.children
                        .entry(evaluation.asked.parent_id)
                        .or_default()
                        .push(evaluation.id);
                }
                self.by_id.insert(evaluation.id, *evaluation);
            }
            Event::Tagged { id, tag, at } => {
                if let Some(evaluation) = self.by_id.get_mut(&id) {
                    evaluation.tags.push(tag);
                    evaluation.changed_at = at;
                }
            }
            Event::StatusSet { id, status, at } => {
                if let Some(evaluation) = self.by_id.get_mut(&id) {
                    (evaluation.status, evaluation.changed_at) = (status, at);
                }
            }
            Event::Unlinked { parent, child } => {
                if let Some(children) = self.children.get_mut(&parent) {
                    children.retain(|kept| *kept != child);
                }
            }
            Event::Deleted { id } => drop(self.by_id.remove(&id)),
            Event::ThresholdAsText { on } => self.threshold_as_text = on,
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::Created(evaluation) => format!("create evaluation/{}", evaluation.id),
            Event::Tagged { id, .. } => format!("tag evaluation/{id}"),
            Event::StatusSet { id, .. } => format!("setStatus evaluation/{id}"),
            Event::Unlinked { parent, child } => format!("unlink evaluation/{child} from {parent}"),
            Event::Deleted { id } => format!("delete evaluation/{id}"),
            Event::ThresholdAsText { .. } => "switch threshold".into(),
        }
    }
}
