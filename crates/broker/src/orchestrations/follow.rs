//! How far an orchestration is, as it changes: for pages and tools that watch.
//!
//! What a reader would get wrong: listeners read nothing. One follower in this process reads for all listeners of an orchestration,
//! begins with the first of them and ends with the last. It reads every two seconds, because upgrades may be run by other replicas.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base::failure::chain;
use domain::orchestration::State;
use tokio::sync::watch;
use uuid::Uuid;

use super::{Orchestrations, Progress};
use crate::instances::Error;

/// How often a follower reads.
const EVERY: Duration = Duration::from_secs(2);

type Shared = Arc<watch::Sender<Arc<Progress>>>;

/// The followers of this process, by orchestration.
#[derive(Default)]
pub struct Followers(Mutex<HashMap<Uuid, Shared>>);

impl Followers {
    /// Listens to the follower of an orchestration; with what it shall tell when there was none before.
    fn join(&self, first: Progress) -> (watch::Receiver<Arc<Progress>>, Option<Shared>) {
        let mut followers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = first.orchestration_id;
        if let Some(known) = followers.get(&id) {
            return (known.subscribe(), None);
        }
        let (sender, receiver) = watch::channel(Arc::new(first));
        let sender = Arc::new(sender);
        followers.insert(id, sender.clone());
        (receiver, Some(sender))
    }

    /// Ends a follower without listeners, or at once. `false`: it has listeners.
    fn leave(&self, id: Uuid, follower: &Shared, at_once: bool) -> bool {
        let mut followers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = at_once || follower.receiver_count() == 0;
        if ends {
            followers.remove(&id);
        }
        ends
    }
}

impl Orchestrations {
    /// How far an orchestration is, now and whenever that changes, until it has ended.
    pub async fn follow(&self, id: &str) -> Result<watch::Receiver<Arc<Progress>>, Error> {
        let first = self.progress(id).await?;
        let (receiver, new) = self.0.followers.join(first);
        if let Some(follower) = new {
            tokio::spawn(self.clone().read_for(follower));
        }
        Ok(receiver)
    }

    async fn read_for(self, follower: Shared) {
        let id = follower.borrow().orchestration_id;
        let clock = &self.0.broker.parts().clock;
        loop {
            let is_final = follower.borrow().state.parse().is_ok_and(State::is_final);
            if self.0.followers.leave(id, &follower, is_final) {
                return;
            }
            tokio::select! {
                () = follower.closed() => continue,
                () = clock.sleep(EVERY) => {}
            }
            match self.progress(&id.to_string()).await {
                Ok(read) => {
                    let changed = |published: &mut Arc<Progress>| {
                        let changed = !published.is_as_far_as(&read);
                        if changed {
                            *published = Arc::new(read);
                        }
                        changed
                    };
                    follower.send_if_modified(changed);
                }
                // Deleted, as listeners find when they ask again.
                Err(Error::NotFound(_)) => {
                    self.0.followers.leave(id, &follower, true);
                    return;
                }
                Err(error) => {
                    let error = chain(&error);
                    tracing::warn!(orchestration = %id, error, "progress not read, trying again");
                }
            }
        }
    }
}
