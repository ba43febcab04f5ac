//! A replica that works by hand: it joins, claims, commits and ends, as the engine would.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fmt::Display, time::Duration};

use ::engine::{
    Position, ReplicaId, State, Storage as _,
    storage::{
        AfterCommit, Change, ClaimRequest, Commit, CommitResult, HeldOperation, Outcome, Run,
    },
};
use base::Clock;
use serde_json::Value;
use uuid::Uuid;

use crate::EngineStore;

const LEASE: Duration = Duration::from_secs(600);

#[derive(Clone)]
pub struct ManualReplica {
    /// The store.
    pub engine: EngineStore,
    /// The clock.
    pub clock: Clock,
    /// The kind of operations it claims.
    pub kind: &'static str,
    /// The topic of the changes its steps make.
    pub topic: &'static str,
}

impl ManualReplica {
    /// A new replica.
    ///
    /// # Panics
    /// As all of these, when the store fails.
    pub async fn join(&self) -> ReplicaId {
        let name = Uuid::new_v4().to_string();
        self.engine.join(&name, LEASE).await.unwrap().replica
    }

    /// Claims the operation of an instance that is due.
    ///
    /// # Panics
    /// When there is none.
    pub async fn claim(&self, replica: ReplicaId, instance: impl Display) -> HeldOperation {
        self.try_claim(replica, instance).await.unwrap()
    }

    /// Claims the operation of an instance, if one is due and the replica still lives.
    ///
    /// # Panics
    /// When the store fails.
    pub async fn try_claim(
        &self,
        replica: ReplicaId,
        instance: impl Display,
    ) -> Option<HeldOperation> {
        let instance = instance.to_string();
        let kinds = [(self.kind.to_owned(), 1)];
        let ask = ClaimRequest { replica, kinds: &kinds, room: 100, crowded: &[], after_lane: "" };
        let claimed = self.engine.claim(&ask).await.unwrap().operations;
        claimed.into_iter().find(|held| held.instance == instance)
    }

    /// A step is done, with a change to its row unless it is null.
    pub fn done(&self, held: &HeldOperation, change: Value) -> Commit {
        let now = self.clock.now();
        let (stage, step) = (String::from("create"), String::from("Ask"));
        let position = Position {
            state: State::InProgress,
            stage: Some(stage.clone()),
            step: Some(step.clone()),
            started_at: Some(now),
            ..held.position.clone()
        };
        let run = Run {
            stage,
            step,
            number: held.runs + 1,
            began_at: now,
            ended_at: now,
            outcome: Outcome::Done,
            reason: None,
            failure: None,
            next_at: None,
            repeats: None,
        };
        let change = Some(change).filter(|body| !body.is_null());
        let change = change.map(|body| Change { topic: self.topic.into(), body });
        Commit {
            id: held.id,
            epoch: held.epoch,
            serial: held.serial,
            position,
            then: AfterCommit::Hold,
            run: Some(run),
            data: None,
            data_version: held.data_version,
            changes: change.into_iter().collect(),
        }
    }

    /// The last step is done.
    pub fn ends(&self, held: &HeldOperation, change: Value) -> Commit {
        let mut commit = self.done(held, change);
        commit.position.state = State::Succeeded;
        commit.position.stage = None;
        commit.position.step = None;
        commit.position.ended_at = Some(self.clock.now());
        commit.then = AfterCommit::End;
        commit
    }

    /// Commits one.
    ///
    /// # Panics
    /// When the store fails.
    pub async fn commit(&self, replica: ReplicaId, commit: Commit) -> CommitResult {
        self.engine.commit(replica, &[commit]).await.unwrap().remove(0)
    }

    /// Claims the operation of an instance, and ends it.
    ///
    /// # Panics
    /// When it cannot be ended.
    pub async fn end(&self, replica: ReplicaId, instance: impl Display, change: Value) {
        let held = self.claim(replica, instance).await;
        let landed = self.commit(replica, self.ends(&held, change)).await;
        assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    }
}
