//! An evaluation in the service's words.
//!
//! What a reader would get wrong: the threshold is a text on its way there and a number on its way
//! back, so answers are read for the few fields we use and for nothing else.

use serde::{Deserialize, Deserializer, Serialize};

/// An evaluation that is to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewEvaluation {
    /// Always `BASIC`.
    pub definition_type: &'static str,
    /// At most 80 characters.
    pub name: String,
    /// At most 255 characters: a JSON text with what people should know.
    pub description: String,
    /// The service it counts for.
    pub service: String,
    /// The checked address; empty when the runtime reports by itself.
    pub url: String,
    /// How it is called; empty when the runtime reports by itself.
    pub check_type: &'static str,
    /// Seconds between two checks.
    pub interval: i32,
    /// The tester.
    pub tester_access_id: i64,
    /// Milliseconds until a check has failed.
    pub timeout: i32,
    /// Whether nobody may change it.
    pub read_only: bool,
    /// A text that a good response does not contain.
    pub content_check: &'static str,
    /// That it does not.
    pub content_check_type: &'static str,
    /// Milliseconds after which an answer is too slow, as a text.
    pub threshold: &'static str,
    /// Its group.
    pub group_id: i64,
    /// The visibility.
    pub visibility: &'static str,
    /// The evaluation it belongs to.
    pub parent_id: i64,
    /// Its tags.
    pub tags: Option<Vec<Tag>>,
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// The content.
    pub content: String,
    /// Its class.
    pub tag_class_id: i64,
    /// The name of its class.
    #[serde(default)]
    pub tag_class_name: String,
}

/// An evaluation that is there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Evaluation {
    /// Its id.
    pub id: i64,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Its status.
    #[serde(default)]
    pub status: Status,
    /// Its tags.
    #[serde(default, deserialize_with = "null_is_none")]
    pub tags: Vec<Tag>,
}

impl Evaluation {
    /// Whether it has the tag already.
    pub fn has(&self, tag: &Tag) -> bool {
        let same =
            |kept: &&Tag| kept.content == tag.content && kept.tag_class_id == tag.tag_class_id;
        self.tags.iter().any(|kept| same(&kept))
    }
}

/// The status of an evaluation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Outages count.
    Active,
    /// Outages are expected.
    Maintenance,
    /// Nothing is tested.
    Inactive,
    /// It is kept for its history.
    Retired,
    /// It is gone.
    Deleted,
    /// The service did not say, or said something we do not know. Nobody sets it.
    #[default]
    #[serde(other, skip_serializing)]
    Unknown,
}

impl Status {
    /// The status to restore after maintenance.
    pub fn to_restore(self) -> Self {
        match self {
            Self::Unknown => Self::Active,
            known => known,
        }
    }
}

/// Whether a refusal says that the parent does not have the child.
pub(super) fn is_no_child(body: &[u8]) -> bool {
    let body: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let message = body.as_ref().and_then(|body| body.get("message")?.as_str());
    message.is_some_and(|text| text.to_ascii_lowercase().contains("does not contain subevaluation"))
}

fn null_is_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Tag>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
