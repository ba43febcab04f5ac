//! Stage memory between the runs of a stage: a bounded cache that nothing can store.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use jiff::Timestamp;

use crate::{opened::Memory, storage::OperationId};

/// The memory of one stage of one operation, under one epoch.
pub(crate) struct StageMemory {
    pub(crate) epoch: i64,
    pub(crate) stage: String,
    pub(crate) since: Timestamp,
    pub(crate) memory: Memory,
}

/// Stage memory of sleeping operations; the oldest is evicted when there is no room.
pub(crate) struct Memories {
    most: usize,
    kept: Mutex<Shelf>,
}

#[derive(Default)]
struct Shelf {
    tickets: u64,
    by_operation: HashMap<OperationId, (u64, StageMemory)>,
    by_age: BTreeMap<u64, OperationId>,
}

impl Memories {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    pub(crate) fn put(&self, id: OperationId, kept: StageMemory) {
        let mut shelf = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let shelf = &mut *shelf;
        shelf.tickets += 1;
        if let Some((ticket, _)) = shelf.by_operation.insert(id, (shelf.tickets, kept)) {
            shelf.by_age.remove(&ticket);
        }
        shelf.by_age.insert(shelf.tickets, id);
        while shelf.by_operation.len() > self.most {
            let Some((_, oldest)) = shelf.by_age.pop_first() else { break };
            shelf.by_operation.remove(&oldest);
        }
    }

    /// Takes the memory if it is of this epoch and stage; any other is dropped.
    pub(crate) fn take(
        &self,
        id: OperationId,
        epoch: i64,
        stage: Option<&str>,
    ) -> Option<StageMemory> {
        let mut shelf = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (ticket, kept) = shelf.by_operation.remove(&id)?;
        shelf.by_age.remove(&ticket);
        (kept.epoch == epoch && Some(kept.stage.as_str()) == stage).then_some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(epoch: i64) -> StageMemory {
        StageMemory { epoch, stage: "s".into(), since: Timestamp::UNIX_EPOCH, memory: Box::new(()) }
    }

    #[test]
    fn p23_the_cache_is_bounded_and_forgets_the_oldest() {
        let memories = Memories::new(2);
        let ids = [1, 2, 3].map(OperationId::from_u128);

        for id in ids {
            memories.put(id, kept(1));
        }

        assert!(memories.take(ids[0], 1, Some("s")).is_none());
        assert!(memories.take(ids[1], 1, Some("s")).is_some());
        assert!(memories.take(ids[2], 1, Some("s")).is_some());
    }

    #[test]
    fn memory_of_another_epoch_or_stage_is_not_given_out() {
        let memories = Memories::new(2);
        let id = OperationId::from_u128(1);

        memories.put(id, kept(1));
        assert!(memories.take(id, 2, Some("s")).is_none());
        memories.put(id, kept(1));
        assert!(memories.take(id, 1, Some("t")).is_none());
    }
}
