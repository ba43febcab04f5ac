//! How many operations a replica has in hand, by lane, and when the ones it put to sleep are due.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use tokio::sync::Notify;

use crate::storage::OperationId;

/// Counts what is in hand.
#[derive(Clone)]
pub(crate) struct InHand(Arc<Shared>);

struct Shared {
    most: usize,
    fair: bool,
    counts: Mutex<Counts>,
    freed: Notify,
    due_changed: Notify,
}

#[derive(Default)]
struct Counts {
    all: BTreeSet<OperationId>,
    by_lane: BTreeMap<String, usize>,
    /// In whole milliseconds, so that it stays small however many operations sleep.
    dues: BTreeSet<i64>,
}

/// One operation in hand.
pub(crate) struct Slot {
    hand: InHand,
    id: OperationId,
    lane: String,
    until: Option<Timestamp>,
}

impl InHand {
    pub(crate) fn new(most: usize, fair: bool) -> Self {
        Self(Arc::new(Shared {
            most: most.max(1),
            fair,
            counts: Mutex::default(),
            freed: Notify::new(),
            due_changed: Notify::new(),
        }))
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many more may be taken.
    pub(crate) fn room(&self) -> usize {
        self.0.most.saturating_sub(self.counts().all.len())
    }

    /// Lanes that have their share: the last tenth is for others.
    pub(crate) fn crowded(&self) -> Vec<String> {
        if !self.0.fair || self.0.most < 4 {
            return Vec::new();
        }
        let share = self.0.most - (self.0.most / 10).max(1);
        let counts = self.counts();
        counts.by_lane.iter().filter(|(_, n)| **n >= share).map(|(lane, _)| lane.clone()).collect()
    }

    /// Which operations are in hand.
    pub(crate) fn all(&self) -> Vec<OperationId> {
        self.counts().all.iter().copied().collect()
    }

    /// Takes one operation in hand.
    pub(crate) fn take(&self, id: OperationId, lane: &str) -> Slot {
        let mut counts = self.counts();
        counts.all.insert(id);
        *counts.by_lane.entry(lane.to_owned()).or_default() += 1;
        Slot { hand: self.clone(), id, lane: lane.to_owned(), until: None }
    }

    /// When the first of the sleeping ones is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let due = *self.counts().dues.first()?;
        Timestamp::from_millisecond(due).ok()
    }

    /// Forgets due times that have come: a claim follows.
    pub(crate) fn forget_due(&self, now: Timestamp) {
        let mut counts = self.counts();
        let later = counts.dues.split_off(&(now.as_millisecond() + 1));
        counts.dues = later;
    }

    /// Resolves when there is room again (if that is asked for) or an earlier due time.
    pub(crate) async fn changed(&self, room: bool) {
        if room {
            self.0.freed.notified().await;
        } else {
            self.0.due_changed.notified().await;
        }
    }
}

impl Slot {
    /// Gives the place back; the operation sleeps until then, or is out of this replica's hands.
    pub(crate) fn free(mut self, until: Option<Timestamp>) {
        self.until = until;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut counts = self.hand.counts();
        counts.all.remove(&self.id);
        if let Some(count) = counts.by_lane.get_mut(&self.lane) {
            *count -= 1;
            if *count == 0 {
                counts.by_lane.remove(&self.lane);
            }
        }
        let mut earlier = false;
        if let Some(until) = self.until {
            // Rounded up: woken a moment too early, the claim would find nothing.
            let due = until.as_millisecond() + 1;
            earlier = counts.dues.first().is_none_or(|first| due < *first);
            counts.dues.insert(due);
        }
        drop(counts);
        if earlier {
            self.hand.0.due_changed.notify_one();
        }
        self.hand.0.freed.notify_one();
    }
}
