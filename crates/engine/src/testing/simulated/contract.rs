//! The contract, call by call.

use std::{collections::BTreeMap, time::Duration};

use base::Failure;
use jiff::Timestamp;
use tokio::sync::broadcast;
use uuid::Uuid;

use super::{
    SimulatedStore,
    world::{Replica, Row},
};
use crate::{
    planted::PlantedBug,
    storage::{
        Acceptance, AfterCommit, Beat, Cancel, ClaimRequest, ClaimResult, Commit, CommitResult,
        Entry, EntryEvent, Heart, JoinedReplica, NewOperation, OperationId, OwnershipView, Pairs,
        ReplicaId, Skip, Snapshot, Storage, StorageError, Wake,
    },
};

impl Heart for SimulatedStore {
    async fn beat(&mut self, replica: ReplicaId, lease: Duration) -> Result<Beat, StorageError> {
        self.reach().await?;
        let now = self.lease_time();
        let mut world = self.lock();
        let alive = world.lives(replica, now);
        if alive && let Some(row) = world.replicas.get_mut(&replica) {
            row.lease_until = now + lease;
        }
        Ok(Beat { alive, now: self.clock.now() })
    }

    async fn lost(
        &mut self,
        replica: ReplicaId,
        in_hand: &[(OperationId, i64)],
    ) -> Result<Vec<(OperationId, i64)>, StorageError> {
        self.blind.is_off().await;
        <Self as Storage>::lost(self, replica, in_hand).await
    }
}

impl SimulatedStore {
    fn grant(&self, ask: &ClaimRequest<'_>) -> Result<ClaimResult, StorageError> {
        let (now, lease_now) = (self.clock.now(), self.lease_time());
        let mut world = self.lock();
        if !world.lives(ask.replica, lease_now) && !self.planted.is(PlantedBug::NoFence) {
            return Ok(ClaimResult { last_lane: ask.after_lane.into(), ..ClaimResult::default() });
        }
        let anything = self.planted.is(PlantedBug::ClaimsAnything);
        let known = |row: &Row| {
            ask.kinds.iter().any(|(kind, newest)| {
                *kind == row.kind && (row.data_version <= *newest || anything)
            })
        };
        // Lanes in circular order, one operation of each at a time, until there is no room.
        let mut lanes: BTreeMap<&str, Vec<(Timestamp, u64, OperationId)>> = BTreeMap::new();
        for (id, row) in &world.operations {
            let free = row
                .owner
                .is_none_or(|owner| owner == ask.replica || !world.lives(owner, lease_now));
            if let Some(due) = row.due_at.filter(|due| *due <= now)
                && !row.held
                && free
                && known(row)
                && !ask.crowded.contains(&row.lane)
            {
                let lane = if self.planted.is(PlantedBug::Unfair) { "" } else { row.lane.as_str() };
                lanes.entry(lane).or_default().push((due, row.arrival, *id));
            }
        }
        let mut order: Vec<_> = lanes.into_iter().collect();
        order.sort_by_key(|(lane, _)| (*lane <= ask.after_lane, *lane));
        let mut picked = Vec::new();
        let mut last_lane = ask.after_lane.to_owned();
        for (_, rows) in &mut order {
            rows.sort_unstable_by(|a, b| b.cmp(a));
        }
        while picked.len() < ask.room && order.iter().any(|(_, rows)| !rows.is_empty()) {
            for (lane, rows) in &mut order {
                if picked.len() < ask.room
                    && let Some((_, _, id)) = rows.pop()
                {
                    picked.push(id);
                    (*lane).clone_into(&mut last_lane);
                }
            }
        }
        let before = self.is_left_open().then(|| world.operations.clone());
        let mut operations = Vec::new();
        for id in picked {
            let Some(row) = world.operations.get_mut(&id) else { continue };
            row.held = true;
            row.awaits = None;
            if row.owner != Some(ask.replica) {
                row.owner = Some(ask.replica);
                row.epoch += 1;
                if !self.planted.is(PlantedBug::TakeoverUnrecorded) {
                    row.record(EntryEvent::Taken, now, None);
                }
            }
            operations.push(row.held(id));
        }
        if let Some(before) = before {
            world.operations = before;
        }
        let next_due = if operations.is_empty() {
            world.operations.values().filter(|row| !row.held).filter_map(|row| row.due_at).min()
        } else {
            None
        };
        if world.loses_the_answer() {
            return Err(StorageError::Unknown("simulated: the answer was lost".into()));
        }
        Ok(ClaimResult { operations, last_lane, next_due })
    }
}

impl Storage for SimulatedStore {
    type Heart = Self;

    async fn join(&self, name: &str, lease: Duration) -> Result<JoinedReplica, StorageError> {
        self.reach().await?;
        let now = self.lease_time();
        let mut world = self.lock();
        let mut incarnation = 1;
        for replica in world.replicas.values_mut().filter(|replica| replica.name == name) {
            replica.lease_until = replica.lease_until.min(now);
            incarnation = incarnation.max(replica.incarnation + 1);
        }
        let replica = Uuid::from_u128(world.random.u128(..));
        let row = Replica { name: name.to_owned(), incarnation, lease_until: now + lease };
        world.replicas.insert(replica, row);
        Ok(JoinedReplica { replica, incarnation, now: self.clock.now() })
    }

    async fn heart(&self) -> Result<Self, StorageError> {
        Ok(self.clone())
    }

    async fn leave(&self, replica: ReplicaId) -> Result<(), StorageError> {
        self.reach().await?;
        let now = self.lease_time();
        {
            let mut world = self.lock();
            if let Some(row) = world.replicas.get_mut(&replica) {
                row.lease_until = row.lease_until.min(now);
            }
            for row in world.operations.values_mut() {
                if row.held && row.owner == Some(replica) {
                    row.held = false;
                    row.due_at = Some(now);
                }
            }
        }
        self.wake(Wake::Due);
        Ok(())
    }

    async fn reap(&self) -> Result<u64, StorageError> {
        self.reach().await?;
        let (now, lease_now) = (self.clock.now(), self.lease_time());
        let mut world = self.lock();
        let dead: Vec<OperationId> = world
            .operations
            .iter()
            .filter(|(_, row)| {
                row.held && row.owner.is_none_or(|owner| !world.lives(owner, lease_now))
            })
            .map(|(id, _)| *id)
            .collect();
        for id in &dead {
            if let Some(row) = world.operations.get_mut(id) {
                row.held = false;
                row.due_at = row.due_at.map(|due| due.min(now));
            }
        }
        let long_dead = lease_now - Duration::from_secs(24 * 3600);
        world.replicas.retain(|_, replica| replica.lease_until > long_dead);
        if !self.planted.is(PlantedBug::PendingForgotten) {
            let waiting: Vec<String> = world
                .operations
                .values()
                .filter(|row| !row.position.state.is_final() && row.due_at.is_none())
                .map(|row| row.instance.clone())
                .collect();
            for instance in waiting {
                world.admit(&instance, now);
            }
        }
        Ok(dead.len() as u64)
    }

    async fn release(
        &self,
        replica: ReplicaId,
        in_hand: &[OperationId],
    ) -> Result<u64, StorageError> {
        self.reach().await?;
        let mut strays = 0;
        for (id, row) in &mut self.lock().operations {
            if row.held && row.owner == Some(replica) && !in_hand.contains(id) {
                row.held = false;
                strays += 1;
            }
        }
        Ok(strays)
    }

    async fn lost(
        &self,
        replica: ReplicaId,
        in_hand: &[(OperationId, i64)],
    ) -> Result<Vec<(OperationId, i64)>, StorageError> {
        self.reach().await?;
        let world = self.lock();
        let is_own = |(id, epoch): &(OperationId, i64)| {
            let row = world.operations.get(id);
            row.is_some_and(|row| row.epoch == *epoch && row.owner == Some(replica))
        };
        Ok(in_hand.iter().filter(|held| !is_own(held)).copied().collect())
    }

    async fn claim(&self, ask: &ClaimRequest<'_>) -> Result<ClaimResult, StorageError> {
        self.reach().await?;
        let claimed = self.grant(ask);
        self.claims_late.is_off().await;
        claimed
    }

    async fn commit(
        &self,
        replica: ReplicaId,
        batch: &[Commit],
    ) -> Result<Vec<CommitResult>, StorageError> {
        self.reach().await?;
        let (now, lease_now) = (self.clock.now(), self.lease_time());
        let (landed, ended, lost) = {
            let mut world = self.lock();
            let vanished = world.faults.vanished;
            if world.random.f64() < vanished {
                return Err(StorageError::Unknown("simulated: it vanished".into()));
            }
            if let Some(left) = world.faults.late.checked_sub(1) {
                world.faults.late = left;
                world.late.extend(batch.iter().map(|commit| (replica, commit.clone())));
                return Err(StorageError::Unknown("simulated: it is on its way".into()));
            }
            let landed: Vec<_> = batch
                .iter()
                .map(|commit| world.apply(replica, commit, now, lease_now, self.planted))
                .collect();
            let ended = batch.iter().any(|commit| commit.then == AfterCommit::End);
            (landed, ended, world.loses_the_answer())
        };
        if ended {
            self.wake(Wake::Due);
        }
        if lost {
            return Err(StorageError::Unknown("simulated: the answer was lost".into()));
        }
        Ok(landed)
    }

    async fn look(&self, ids: &[OperationId]) -> Result<Vec<Option<OwnershipView>>, StorageError> {
        self.reach().await?;
        let now = self.lease_time();
        let mut world = self.lock();
        let look = |id| {
            let row: &Row = world.operations.get(id)?;
            Some(OwnershipView {
                epoch: row.epoch,
                serial: row.serial,
                owner: row.owner,
                owner_alive: row.owner.is_some_and(|owner| world.lives(owner, now)),
                journal: i64::try_from(row.journal.len()).unwrap_or(i64::MAX),
                cancel: row.cancel.clone(),
            })
        };
        let seen = ids.iter().map(look).collect();
        for (replica, commit) in std::mem::take(&mut world.late) {
            world.apply(replica, &commit, self.clock.now(), now, self.planted);
        }
        Ok(seen)
    }

    async fn accept(
        &self,
        new: NewOperation,
        pairs: &Pairs<'_>,
    ) -> Result<Acceptance, StorageError> {
        self.reach().await?;
        let root = new.id;
        let (acceptance, lost) = {
            let mut world = self.lock();
            (self.insert(&mut world, new, root, Vec::new(), pairs), world.loses_the_answer())
        };
        self.wake(Wake::Due);
        if lost {
            return Err(StorageError::Unknown("simulated: the answer was lost".into()));
        }
        Ok(acceptance)
    }

    async fn request_cancel(&self, id: OperationId, cancel: &Cancel) -> Result<bool, StorageError> {
        self.reach().await?;
        let overwrite = self.planted.is(PlantedBug::FinalOverwritten);
        let asked = self.lock().request_cancel(id, cancel, self.clock.now(), overwrite);
        self.wake(Wake::Due);
        Ok(asked)
    }

    async fn request_skip(&self, id: OperationId, skip: &Skip) -> Result<bool, StorageError> {
        self.reach().await?;
        let asked = self.lock().request_skip(id, skip, self.clock.now());
        self.wake(Wake::Due);
        Ok(asked)
    }

    async fn abandon(&self, id: OperationId, failure: &Failure) -> Result<bool, StorageError> {
        self.reach().await?;
        let ended = self.lock().abandon(id, failure, self.clock.now());
        self.wake(Wake::Due);
        Ok(ended)
    }

    async fn signal(&self, signal: &str) -> Result<(), StorageError> {
        self.reach().await?;
        let now = self.clock.now();
        for row in self.lock().operations.values_mut() {
            if row.awaits.as_deref() == Some(signal) && !row.held {
                row.due_at = row.due_at.map(|due| due.min(now));
            }
        }
        self.wake(Wake::Signal(signal.to_owned()));
        Ok(())
    }

    async fn continue_from(
        &self,
        old: OperationId,
        new: OperationId,
        pairs: &Pairs<'_>,
    ) -> Result<Acceptance, StorageError> {
        self.reach().await?;
        let acceptance = {
            let mut world = self.lock();
            let Some(row) = world.operations.get(&old).cloned() else {
                return Err(StorageError::Refused(format!("operation {old} does not exist")));
            };
            if !row.position.state.is_final() {
                return Err(StorageError::Refused(format!("operation {old} is not final")));
            }
            let reopened = |stage: &String| {
                row.position
                    .incomplete
                    .iter()
                    .any(|at| at.split_once('/').is_some_and(|(s, _)| s == stage))
            };
            let closed =
                row.position.closed.iter().filter(|stage| !reopened(stage)).cloned().collect();
            let new = NewOperation {
                id: new,
                instance: row.instance.clone(),
                kind: row.kind.clone(),
                data_version: row.data_version,
                lane: row.lane.clone(),
                input: row.input.clone(),
                data: row.data.clone(),
                digest: None,
            };
            self.insert(&mut world, new, row.root, closed, pairs)
        };
        self.wake(Wake::Due);
        Ok(acceptance)
    }

    async fn read(&self, id: OperationId) -> Result<Option<Snapshot>, StorageError> {
        self.reach().await?;
        Ok(self.lock().operations.get(&id).map(|row| row.snapshot(id)))
    }

    async fn journal(&self, id: OperationId) -> Result<Vec<Entry>, StorageError> {
        self.reach().await?;
        Ok(self.history(id))
    }

    async fn trim(&self, before: Timestamp, most: u32) -> Result<u64, StorageError> {
        self.reach().await?;
        let mut trimmed = 0;
        for row in self.lock().operations.values_mut() {
            let old = row.position.ended_at.is_some_and(|ended| ended < before);
            if old && !row.journal.is_empty() && trimmed < u64::from(most) {
                row.journal.clear();
                trimmed += 1;
            }
        }
        Ok(trimmed)
    }

    fn wakes(&self) -> broadcast::Receiver<Wake> {
        self.wakes.subscribe()
    }
}
