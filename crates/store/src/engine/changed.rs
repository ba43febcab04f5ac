//! Operations that other processes have changed, for pages that are open in this one.
//!
//! What a reader would get wrong: it is a hint, as wakes are. The changes of a moment are one notification, which names some operations
//! or says that there were more.

use std::{collections::BTreeMap, sync::Arc};

use ::engine::OperationId;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use super::EngineStore;

/// How many operations one notification names.
const NAMED: usize = 64;
/// PostgreSQL takes payloads of less than 8 000 bytes; some lead this one.
const LONGEST: usize = 7_900;

/// What other processes have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedElsewhere {
    /// These operations.
    Operations(Vec<ChangedOperation>),
    /// Any: too many to be named, or notifications may have been missed.
    Any,
}

/// A changed operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedOperation {
    /// The operation.
    pub operation: OperationId,
    /// Its instance, where the change knew it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
}

impl EngineStore {
    /// Changes of other processes from now on, a moment after each commit; nothing on SQLite, which has no other process.
    pub fn changed_elsewhere(&self) -> broadcast::Receiver<Arc<ChangedElsewhere>> {
        self.wakes.changes()
    }
}

/// Changes of this process that other processes do not know yet.
#[derive(Debug, Default)]
pub(super) struct GatheredChanges {
    named: BTreeMap<OperationId, Option<String>>,
    more: bool,
}

impl GatheredChanges {
    pub(super) fn add(&mut self, operation: OperationId, instance: Option<&str>) {
        if self.more {
            return;
        }
        let known = self.named.entry(operation).or_default();
        if known.is_none() {
            *known = instance.map(str::to_owned);
        }
        if self.named.len() > NAMED {
            self.named.clear();
            self.more = true;
        }
    }

    /// The payload of what has gathered; none when nothing has.
    pub(super) fn take(&mut self) -> Option<String> {
        let Self { named, more } = std::mem::take(self);
        if named.is_empty() && !more {
            return None;
        }
        let named: Vec<ChangedOperation> = named
            .into_iter()
            .map(|(operation, instance)| ChangedOperation { operation, instance })
            .collect();
        let payload = serde_json::to_string(&named).unwrap_or_default();
        Some(if more || payload.len() > LONGEST { String::new() } else { payload })
    }
}

impl ChangedElsewhere {
    /// Reads a payload. One of another version may have changed any.
    pub(super) fn parse(payload: &str) -> Self {
        serde_json::from_str(payload).map_or(Self::Any, Self::Operations)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn received(changes: &mut GatheredChanges) -> ChangedElsewhere {
        ChangedElsewhere::parse(&changes.take().unwrap())
    }

    #[test]
    fn operations_are_named_once_with_their_instances_up_to_a_limit() {
        let mut changes = GatheredChanges::default();
        assert_eq!(changes.take(), None);
        for n in (0..64).chain(0..64) {
            changes.add(Uuid::from_u128(n), (n > 0).then_some("an \"instance\""));
        }

        let ChangedElsewhere::Operations(named) = received(&mut changes) else {
            panic!("they are named")
        };

        assert_eq!(named.len(), 64);
        assert_eq!(named[0], ChangedOperation { operation: Uuid::nil(), instance: None });
        assert_eq!(named[1].instance.as_deref(), Some("an \"instance\""));
        assert_eq!(changes.take(), None, "they are sent once");
        for n in 0..65 {
            changes.add(Uuid::from_u128(n), None);
        }
        assert_eq!(received(&mut changes), ChangedElsewhere::Any);
        assert_eq!(changes.take(), None);
    }

    #[test]
    fn a_payload_is_never_longer_than_postgresql_takes() {
        let mut changes = GatheredChanges::default();
        for n in 0..64 {
            changes.add(Uuid::from_u128(n), Some(&"i".repeat(200)));
        }

        assert_eq!(received(&mut changes), ChangedElsewhere::Any);
        assert_eq!(ChangedElsewhere::parse("of a later version"), ChangedElsewhere::Any);
    }

    #[test]
    fn an_instance_that_one_change_knew_is_named_whatever_the_next_one_knows() {
        let (first, second) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut changes = GatheredChanges::default();
        changes.add(first, Some("i-1"));
        changes.add(first, None);
        changes.add(second, None);
        changes.add(second, Some("i-2"));

        let ChangedElsewhere::Operations(named) = received(&mut changes) else {
            panic!("they are named")
        };

        let instances: Vec<_> = named.iter().map(|it| it.instance.as_deref()).collect();
        assert_eq!(instances, [Some("i-1"), Some("i-2")]);
    }

    #[test]
    fn the_longest_payload_fits_with_what_leads_it() {
        // PostgreSQL takes less than 8 000 bytes; the origin of 32 and a letter lead the payload.
        for length in 7_000..8_000 {
            let mut changes = GatheredChanges::default();
            changes.add(Uuid::nil(), Some(&"i".repeat(length)));

            assert!(changes.take().unwrap().len() + 33 < 8_000, "{length}");
        }
    }
}
