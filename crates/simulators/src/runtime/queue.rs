//! The queue of actors: every actor of every runtime at most once at a time, many runtimes side by side.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use base::Clock;
use tokio::{
    sync::{Notify, Semaphore},
    task::JoinSet,
};

use super::{
    Next, Surroundings, WakeReceiver,
    wakes::{Busy, Key},
};

/// How many actors act at the same time; those that wait do not count.
const AT_ONCE: usize = 32;

/// An actor at work in a runtime.
#[derive(Default)]
struct Bell {
    rung: AtomicBool,
    heard: Notify,
}

/// Works until it is dropped.
pub(super) async fn run(around: Arc<Surroundings>, mut woken: WakeReceiver, clock: Clock) {
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut working: HashMap<Key, Arc<Bell>> = HashMap::new();
    let mut tasks: JoinSet<(Key, Busy)> = JoinSet::new();
    loop {
        let (key, busy) = tokio::select! {
            Some(ring) = woken.0.recv() => ring,
            Some(done) = tasks.join_next(), if !tasks.is_empty() => {
                let Ok((key, busy)) = done else { continue };
                let bell = working.remove(&key);
                // It was rung between the last look and the end.
                if !bell.is_some_and(|bell| bell.rung.load(Ordering::Acquire)) {
                    continue;
                }
                (key, busy)
            }
            else => return,
        };
        if let Some(bell) = working.get(&key) {
            // The one at work is busy until it has heard this.
            bell.rung.store(true, Ordering::Release);
            bell.heard.notify_one();
            continue;
        }
        let bell = Arc::new(Bell::default());
        working.insert(key.clone(), bell.clone());
        let working = work(around.clone(), turns.clone(), clock.clone(), key.clone(), bell);
        tasks.spawn(async move {
            working.await;
            (key, busy)
        });
    }
}

/// Acts until there is nothing to do before the next change.
async fn work(
    around: Arc<Surroundings>,
    turns: Arc<Semaphore>,
    clock: Clock,
    key: Key,
    bell: Arc<Bell>,
) {
    loop {
        bell.rung.store(false, Ordering::Release);
        let next = {
            let _turn = turns.acquire().await;
            around.act(&key.0, key.1).await
        };
        match next {
            Next::Woken if bell.rung.load(Ordering::Acquire) => {}
            Next::Woken => return,
            Next::After(delay) => {
                tokio::select! {
                    () = clock.sleep(delay) => {}
                    () = bell.heard.notified() => {}
                }
            }
        }
    }
}
