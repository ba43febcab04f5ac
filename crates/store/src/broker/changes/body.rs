//! What a change asks for, read strictly: a step that means to change something shall learn that nothing
//! did.

use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::{Error, engine::bytes_of};

/// What a change asks for.
#[derive(Default)]
pub(super) struct Body {
    pub(super) details: Option<Vec<u8>>,
    pub(super) order: Option<Vec<u8>>,
    pub(super) runtime: Runtime,
    pub(super) provider: Option<String>,
    pub(super) region: Option<String>,
    pub(super) dashboard_url: Option<String>,
    pub(super) deleted: bool,
    pub(super) removed: bool,
    pub(super) runtime_state: Option<State>,
    pub(super) created: Option<Uuid>,
}

/// What becomes of an instance's runtime.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runtime {
    /// It is not spoken of.
    #[default]
    Kept,
    /// There is none any more.
    Gone,
    /// It is this one.
    Is(Uuid),
}

impl Runtime {
    /// Whether it is written.
    pub(super) fn changes(self) -> bool {
        self != Self::Kept
    }

    /// What is written.
    pub(super) fn id(self) -> Option<Uuid> {
        if let Self::Is(id) = self { Some(id) } else { None }
    }
}

/// What was sent for a runtime.
pub(super) struct State {
    /// `None`: the instance's.
    pub(super) runtime_id: Option<Uuid>,
    pub(super) holds: Vec<String>,
    pub(super) payload: Vec<u8>,
}

impl Body {
    /// Only the field is named that means nothing, because what is in it may be a secret.
    pub(super) fn read(body: &Value) -> Result<Self, Error> {
        let refused = |what: &str| Error::Refused(format!("a change to an instance has {what}"));
        let fields = body.as_object().ok_or_else(|| refused("no fields"))?;
        let mut read = Self::default();
        for (name, value) in fields {
            read.field(name, value)
                .ok_or_else(|| refused(&format!("a field \"{name}\" that means nothing")))?;
        }
        Ok(read)
    }

    /// `None` when it is not understood.
    fn field(&mut self, name: &str, value: &Value) -> Option<()> {
        match name {
            "runtime_id" if value.is_null() => self.runtime = Runtime::Gone,
            "runtime_id" => self.runtime = Runtime::Is(Uuid::deserialize(value).ok()?),
            "details" | "order" | "provider" | "region" | "dashboard_url" | "deleted"
            | "removed" | "runtime_state" | "created"
                if value.is_null() => {}
            "details" => self.details = Some(bytes_of(value)?),
            "order" => self.order = Some(bytes_of(value)?),
            "provider" => self.provider = Some(text_of(value)?),
            "region" => self.region = Some(text_of(value)?),
            "dashboard_url" => self.dashboard_url = Some(text_of(value)?),
            "deleted" => self.deleted = value.as_bool()?,
            "removed" => self.removed = value.as_bool()?,
            "created" => self.created = Some(Uuid::deserialize(value).ok()?),
            "runtime_state" => self.runtime_state = Some(State::read(value)?),
            _ => return None,
        }
        Some(())
    }
}

impl State {
    fn read(value: &Value) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            runtime_id: Option<Uuid>,
            #[serde(default)]
            holds: Vec<String>,
            payload: Value,
        }
        let Fields { runtime_id, holds, payload } = Fields::deserialize(value).ok()?;
        Some(Self { runtime_id, holds, payload: bytes_of(&payload)? })
    }
}

/// A text that both databases keep.
fn text_of(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.contains('\0')).map(str::to_owned)
}
