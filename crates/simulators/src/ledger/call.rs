//! The call that is being worked on, as the code below it finds it.
//!
//! What a reader would get wrong: a simulator never touches this. The layer around it opens a call,
//! its store enters what was applied.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize};

use super::{About, Ledger, Phase};
use crate::store::Error;

tokio::task_local! {
    static CALL: Arc<Call>;
}

/// One call in the ledger.
#[derive(Debug)]
pub(crate) struct Call {
    ledger: Arc<Ledger>,
    sequence: u64,
    about: About,
    trouble: Option<&'static str>,
    /// How many changes it may make; what it asks for beyond that is answered but not made.
    allowed: u64,
    changes: AtomicU64,
    ended: AtomicBool,
    /// Whether a change of it could not be kept.
    unkept: AtomicBool,
}

/// Which change of which call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The sequence of the line that says `received`.
    pub(crate) call: u64,
    /// Counts the changes of that call, from one.
    pub(crate) change: u64,
}

/// What one line says beside its number and time.
pub(crate) struct Line<'a> {
    pub(crate) phase: Phase,
    pub(crate) about: &'a About,
    pub(crate) object: Option<&'a str>,
    pub(crate) status: Option<u16>,
    pub(crate) trouble: Option<&'a str>,
}

impl Call {
    /// Enters a call that arrived and may make so many changes.
    pub(crate) fn received(
        ledger: Arc<Ledger>,
        about: About,
        trouble: Option<&'static str>,
        allowed: u64,
    ) -> Result<Arc<Self>, Error> {
        let (changes, ended) = (AtomicU64::new(0), AtomicBool::new(true));
        let unkept = AtomicBool::new(false);
        let mut call =
            Self { ledger, sequence: 0, about, trouble, allowed, changes, ended, unkept };
        call.sequence = call.write(Phase::Received, None, None)?;
        call.ended = AtomicBool::new(false);
        Ok(Arc::new(call))
    }

    /// Enters that its answer leaves.
    pub(crate) fn replied(&self, status: u16) -> Result<(), Error> {
        self.ended.store(true, Ordering::Relaxed);
        self.write(Phase::Replied, None, Some(status)).map(drop)
    }

    /// Whether a change of it could not be kept: the disk is full, most likely.
    pub(crate) fn is_unkept(&self) -> bool {
        self.unkept.load(Ordering::Relaxed)
    }

    /// Enters that its answer is cut off.
    pub(crate) fn lost(&self) -> Result<(), Error> {
        self.ended.store(true, Ordering::Relaxed);
        self.write(Phase::Lost, None, None).map(drop)
    }

    /// Runs `work` as this call.
    pub(crate) async fn scope<T>(self: &Arc<Self>, work: impl Future<Output = T>) -> T {
        CALL.scope(self.clone(), work).await
    }

    fn write(&self, phase: Phase, object: Option<&str>, status: Option<u16>) -> Result<u64, Error> {
        let line = Line { phase, about: &self.about, object, status, trouble: self.trouble };
        self.ledger.write(self.sequence, &line)
    }
}

impl Drop for Call {
    /// The caller hung up: nobody gets an answer.
    fn drop(&mut self) {
        if !self.ended.load(Ordering::Relaxed)
            && let Err(error) = self.lost()
        {
            tracing::error!(%error, "the end of a call cannot be entered");
        }
    }
}

/// Whether the present call must change nothing more.
pub(crate) fn pretends() -> bool {
    let spent = |call: &Arc<Call>| call.changes.load(Ordering::Relaxed) >= call.allowed;
    CALL.try_with(spent).unwrap_or(false)
}

/// The next change of the present call.
pub(crate) fn mark() -> Option<Mark> {
    let mark = |call: &Arc<Call>| Mark {
        call: call.sequence,
        change: call.changes.fetch_add(1, Ordering::Relaxed) + 1,
    };
    CALL.try_with(mark).ok()
}

/// Enters what the present call has changed.
pub(crate) fn applied(object: &str) -> Result<(), Error> {
    CALL.try_with(|call| call.write(Phase::Applied, Some(object), None).map(drop)).unwrap_or(Ok(()))
}

/// Says that a change of the present call could not be kept.
pub(crate) fn unkept() {
    let _ = CALL.try_with(|call| call.unkept.store(true, Ordering::Relaxed));
}

/// Whether a call is being worked on.
pub(crate) fn is_open() -> bool {
    CALL.try_with(|_| ()).is_ok()
}

/// The trouble that the present call met.
pub(crate) fn met() -> Option<&'static str> {
    CALL.try_with(|call| call.trouble).ok().flatten()
}
