//! Who acts when: every actor of every runtime at most once at a time, many runtimes side by side.

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

use super::{Actor, Next, Surroundings, Woken};

/// How many actors act at the same time; those that wait do not count.
const AT_ONCE: usize = 32;

type Key = (String, Actor);

/// An actor at work in a runtime.
#[derive(Default)]
struct Bell {
    rung: AtomicBool,
    heard: Notify,
}

/// Works until it is dropped.
pub(super) async fn run(around: Arc<Surroundings>, mut woken: Woken, clock: Clock) {
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut working: HashMap<Key, Arc<Bell>> = HashMap::new();
    let mut tasks: JoinSet<Key> = JoinSet::new();
    loop {
        let key = tokio::select! {
            Some(key) = woken.0.recv() => key,
            Some(done) = tasks.join_next(), if !tasks.is_empty() => {
                let Ok(key) = done else { continue };
                let bell = working.remove(&key);
                // It was rung between the last look and the end.
                if !bell.is_some_and(|bell| bell.rung.load(Ordering::Acquire)) {
                    continue;
                }
                key
            }
            else => return,
        };
        if let Some(bell) = working.get(&key) {
            bell.rung.store(true, Ordering::Release);
            bell.heard.notify_one();
            continue;
        }
        let bell = Arc::new(Bell::default());
        working.insert(key.clone(), bell.clone());
        tasks.spawn(work(around.clone(), turns.clone(), clock.clone(), key, bell));
    }
}

/// Acts until there is nothing to do before the next change.
async fn work(
    around: Arc<Surroundings>,
    turns: Arc<Semaphore>,
    clock: Clock,
    key: Key,
    bell: Arc<Bell>,
) -> Key {
    loop {
        bell.rung.store(false, Ordering::Release);
        let next = {
            let _turn = turns.acquire().await;
            around.act(&key.0, key.1).await
        };
        match next {
            Next::Woken if bell.rung.load(Ordering::Acquire) => {}
            Next::Woken => return key,
            Next::After(delay) => {
                tokio::select! {
                    () = clock.sleep(delay) => {}
                    () = bell.heard.notified() => {}
                }
            }
        }
    }
}
