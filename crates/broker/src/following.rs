//! Follows operations of the provisioner for steps that sleep until they change.
//!
//! What a reader would get wrong: no operation needs it. A step that waits is a row with a due time, as ever; following only wakes it
//! earlier. So a place may be missing, a call may fail, the process may die: the step looks by itself when it is due, and is followed
//! again from there.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base::Clock;
use clients::provisioner::{OperationProgress, OperationStatus, Provisioner, Tenant};
use engine::{Storage, step::Waiting, waiting};
use store::EngineStore;
use tokio_util::sync::CancellationToken;

/// How many operations one replica follows at once; the others are polled.
const PLACES: usize = 128;
/// How long one call waits for a change.
const CALL: Duration = Duration::from_secs(20);
/// For how long an operation is followed before its step has to look again: whether the step still sleeps is not known here.
const LONGEST: Duration = Duration::from_secs(90);
/// An answer without a change that comes sooner than this came from a provisioner that does not let us wait.
const SOON: Duration = Duration::from_secs(1);
/// The pauses after a call that failed, or was not let wait.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Follows operations of the provisioner. Clones are the same one.
#[derive(Clone)]
pub struct Follower(Arc<Shared>);

struct Shared {
    provisioner: Provisioner,
    operations: EngineStore,
    clock: Clock,
    followed: Mutex<HashSet<String>>,
    stopping: CancellationToken,
}

/// The place of one operation; given back when it is dropped.
struct FollowPermit {
    shared: Arc<Shared>,
    operation: String,
}

impl Follower {
    /// Follows operations of `provisioner` and wakes the steps that sleep in `operations`.
    pub fn new(provisioner: Provisioner, operations: EngineStore, clock: Clock) -> Self {
        let (followed, stopping) = (Mutex::default(), CancellationToken::new());
        Self(Arc::new(Shared { provisioner, operations, clock, followed, stopping }))
    }

    /// Wakes the steps that wait for this operation as soon as it is not as `status` says any more.
    fn follow(&self, tenant: Tenant<'_>, status: &OperationStatus) {
        let Some(operation) = status.id.clone() else { return };
        let Some(place) = self.place(&operation) else { return };
        let tenant = (tenant.id.to_owned(), tenant.subaccount.map(str::to_owned));
        let seen =
            OperationProgress { operation, state: status.state, message: status.message.clone() };
        tokio::spawn(async move {
            let stopping = place.shared.stopping.clone();
            tokio::select! {
                biased;
                () = stopping.cancelled() => {}
                () = place.follow(&tenant, &seen) => {}
            }
        });
    }

    /// How many operations are followed.
    pub fn following(&self) -> usize {
        self.0.followed().len()
    }

    /// Ends all of it.
    pub fn stop(&self) {
        self.0.stopping.cancel();
    }

    fn place(&self, operation: &str) -> Option<FollowPermit> {
        let mut followed = self.0.followed();
        let free = followed.len() < PLACES && !self.0.stopping.is_cancelled();
        let taken = free && followed.insert(operation.to_owned());
        taken.then(|| FollowPermit { shared: self.0.clone(), operation: operation.to_owned() })
    }
}

impl Shared {
    fn followed(&self) -> MutexGuard<'_, HashSet<String>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FollowPermit {
    async fn follow(
        self,
        (tenant, subaccount): &(String, Option<String>),
        seen: &OperationProgress,
    ) {
        let tenant = Tenant { id: tenant, subaccount: subaccount.as_deref() };
        let clock = self.shared.clock.clone();
        let until = clock.monotonic() + LONGEST;
        let mut pause = FIRST_PAUSE;
        while clock.monotonic() < until {
            let began = clock.monotonic();
            match self.shared.provisioner.follow(tenant, seen, CALL).await {
                Ok(None) => return,
                Ok(Some(status)) if seen.differs(&status) => return self.wake().await,
                Ok(Some(_)) if clock.monotonic().saturating_sub(began) >= SOON => {
                    pause = FIRST_PAUSE;
                    continue;
                }
                Ok(Some(_)) => {}
                Err(error) => {
                    tracing::debug!(%error, operation = self.operation, "an operation is not followed just now");
                }
            }
            clock.sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn wake(self) {
        let (shared, signal) = (self.shared.clone(), signal(&self.operation));
        // The step may want to follow the operation further as soon as it wakes up.
        drop(self);
        if let Err(error) = shared.operations.signal(&signal).await {
            tracing::debug!(%error, signal, "a step could not be woken; it looks by itself");
        }
    }
}

impl Drop for FollowPermit {
    fn drop(&mut self) {
        self.shared.followed().remove(&self.operation);
    }
}

/// The signal that an operation of the provisioner has changed.
fn signal(operation: &str) -> String {
    format!("provisioner/{operation}")
}

/// Waits until an operation of the provisioner changes.
pub fn for_operation(
    follower: Option<&Follower>,
    tenant: Tenant<'_>,
    status: &OperationStatus,
    reason: &str,
) -> Waiting {
    let progress = status.message.as_deref().map(progress).filter(|text| !text.is_empty());
    let wait = match progress {
        Some(progress) => waiting(format!("{reason}: {progress}")),
        None => waiting(reason.to_owned()),
    };
    let (Some(follower), Some(operation)) = (follower, &status.id) else { return wait };
    follower.follow(tenant, status);
    wait.or_signal(signal(operation))
}

/// How far the provisioner is: the percentage and what follows it, or all that it says.
fn progress(message: &str) -> &str {
    let mut from = 0;
    for part in message.split_inclusive(". ") {
        if percentage(part).is_some() {
            return &message[from..];
        }
        from += part.len();
    }
    message
}

/// The percentage with which a text begins: `62 %` of `62 %: waiting until the control plane is ready`.
pub(crate) fn percentage(text: &str) -> Option<&str> {
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let end = digits + " %".len();
    ((1..=3).contains(&digits) && text[digits..].starts_with(" %:")).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentage_is_found_in_what_the_provisioner_says() {
        let said =
            "Operation in progress. Stage WaitingForClusterCreation. 62 %: waiting. For long";

        assert_eq!(progress(said), "62 %: waiting. For long");
        assert_eq!(progress("Provisioning started"), "Provisioning started");
        assert_eq!(percentage(progress(said)), Some("62 %"));
        for without in ["", "%", "1234 %: x", "62 percent", "62 % done", "Shoot c-1"] {
            assert_eq!(percentage(without), None, "{without}");
        }
    }
}
