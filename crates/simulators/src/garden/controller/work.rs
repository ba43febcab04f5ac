//! One Shoot: look, wait, make the next move, look again.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use kube::{ResourceExt, api::DynamicObject};
use tokio::sync::watch;

use super::{
    super::shoot::Shoot,
    Shared,
    decide::{Act, Move, decide},
};

/// How long to wait before the API server is asked again after it failed.
const PAUSE: Duration = Duration::from_secs(1);

/// The newest version of a Shoot, from the one watch that all share.
pub(super) type ShootWatch = watch::Receiver<Arc<DynamicObject>>;

/// Works on a Shoot until it is gone.
pub(super) async fn work(shared: Arc<Shared>, mut seen: ShootWatch) {
    let mut current = seen.borrow_and_update().clone();
    let shoot = Shoot(&current);
    if shoot.has_addresses() {
        // The server of the clusters may have been restarted.
        shared.runtimes.set_reachable(shoot.name(), !shoot.sleeps());
    }
    let mut awaited: Option<(Act, Timestamp)> = None;
    loop {
        let next = decide(Shoot(&current), shared.view());
        let due = next.map(|next| {
            let due = shared.due(&next, awaited.as_ref());
            (next.act, due)
        });
        awaited = due;
        let Ok(is_due) = wait(&shared, &mut seen, awaited.as_ref()).await else { return };
        if take_newer(&mut current, &mut seen) || !is_due {
            // The same move stays due when it was, so that changes do not put it off for ever.
            continue;
        }
        let Some((act, _)) = awaited.take() else { continue };
        match shared.perform(&current, &act).await {
            Ok(Some(written)) => current = Arc::new(written),
            Ok(None) => {}
            Err(error) => {
                tracing::debug!(shoot = current.name_any(), %error, ?act, "a move did not land");
                match shared.look_again(&current, &error).await {
                    Some(found) => current = Arc::new(found),
                    None if seen.changed().await.is_err() => return,
                    None => current = seen.borrow_and_update().clone(),
                }
            }
        }
    }
}

/// Waits for the next move to be due, or for news, and says which; an error means that the Shoot is gone.
async fn wait(
    shared: &Shared,
    seen: &mut ShootWatch,
    awaited: Option<&(Act, Timestamp)>,
) -> Result<bool, watch::error::RecvError> {
    match awaited {
        None => seen.changed().await.map(|()| false),
        Some((_, due)) if *due <= shared.clock.now() => Ok(true),
        Some((_, due)) => tokio::select! {
            () = shared.clock.sleep_until(*due) => Ok(true),
            changed = seen.changed() => changed.map(|()| false),
        },
    }
}

/// Takes over what the watch has seen, unless we have written something newer ourselves.
fn take_newer(current: &mut Arc<DynamicObject>, seen: &mut ShootWatch) -> bool {
    let latest = seen.borrow_and_update().clone();
    let version = |object: &DynamicObject| object.resource_version()?.parse::<u64>().ok();
    let newer = match (version(&latest), version(current)) {
        (Some(latest), Some(current)) => latest > current,
        _ => latest.resource_version() != current.resource_version(),
    };
    if newer {
        *current = latest;
    }
    newer
}

impl Shared {
    fn due(&self, next: &Move, awaited: Option<&(Act, Timestamp)>) -> Timestamp {
        let due = self.clock.now() + self.pace.scaled(next.after).max(next.least);
        match awaited {
            // The same move may have become more urgent, but never less.
            Some((act, before)) if *act == next.act => due.min(*before),
            _ => due,
        }
    }

    /// The Shoot as it is after a write that failed; nothing if it is gone.
    async fn look_again(
        &self,
        object: &DynamicObject,
        error: &kube::Error,
    ) -> Option<DynamicObject> {
        // A conflict is nobody's fault and no reason to wait.
        let mut pause = !matches!(error, kube::Error::Api(status) if status.code == 409);
        loop {
            if pause {
                self.clock.sleep(PAUSE).await;
            }
            match self.shoots.get_opt(&object.name_any()).await {
                Ok(found) => return found,
                Err(error) => {
                    tracing::warn!(shoot = object.name_any(), %error, "cannot read the shoot");
                    pause = true;
                }
            }
        }
    }
}
