//! Slows down password guessing, each address on its own.
//!
//! What a reader would get wrong: the right password is never slowed down by wrong ones of other addresses. Behind a proxy,
//! where all have one address, guessing there slows down everybody there.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::extract::Request;
use base::Clock;
use jiff::{SignedDuration, Timestamp};

/// How many wrong passwords in a minute are answered at once.
const FREE: u32 = 10;
/// How long the answer to each further one takes.
const DELAY: Duration = Duration::from_secs(1);
/// How many of them may be waiting for their answer; while so many are, no password is looked at.
const WAITING: u32 = 4;
/// For how long wrong passwords are remembered.
const MEMORY: SignedDuration = SignedDuration::from_mins(1);
/// How many addresses are remembered.
const ADDRESSES: usize = 10_000;

/// The address that a request comes from. The listener puts it into the request's extensions.
#[derive(Debug, Clone, Copy)]
pub struct PeerAddress(pub IpAddr);

/// Failed guesses by peer.
pub(super) struct Guesses {
    clock: Clock,
    wrong: Mutex<HashMap<IpAddr, FailedGuesses>>,
}

struct FailedGuesses {
    since: Timestamp,
    count: u32,
    waiting: u32,
}

impl Guesses {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, wrong: Mutex::default() }
    }

    /// Whether a password of this address may be looked at now.
    pub(super) fn may_try(&self, peer: IpAddr) -> bool {
        self.lock().get(&peer).is_none_or(|wrong| wrong.waiting < WAITING)
    }

    /// Counts a wrong password, and comes back when it may be answered.
    pub(super) async fn wrong(self: &Arc<Self>, peer: IpAddr) {
        if !self.count(peer) {
            return;
        }
        // Also when the caller hangs up: it may not have more tries at once than others.
        let _waiting = GuessDelay { guesses: self.clone(), peer };
        self.clock.sleep(DELAY).await;
    }

    /// Whether its answer has to wait.
    fn count(&self, peer: IpAddr) -> bool {
        let now = self.clock.now();
        let mut all = self.lock();
        if all.len() >= ADDRESSES {
            all.retain(|_, wrong| wrong.waiting > 0 || now.duration_since(wrong.since) < MEMORY);
        }
        if all.len() >= ADDRESSES && !all.contains_key(&peer) {
            forget_oldest(&mut all);
        }
        let fresh = || FailedGuesses { since: now, count: 0, waiting: 0 };
        let wrong = all.entry(peer).or_insert_with(fresh);
        if now.duration_since(wrong.since) >= MEMORY {
            (wrong.since, wrong.count) = (now, 0);
        }
        wrong.count += 1;
        let waits = wrong.count > FREE;
        wrong.waiting += u32::from(waits);
        waits
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, FailedGuesses>> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes room for another address: that of the oldest wrong password, unless a caller waits for its answer.
fn forget_oldest(all: &mut HashMap<IpAddr, FailedGuesses>) {
    let idle = all.iter().filter(|(_, wrong)| wrong.waiting == 0);
    let oldest = idle.min_by_key(|(_, wrong)| wrong.since).map(|(peer, _)| *peer);
    if let Some(oldest) = oldest {
        all.remove(&oldest);
    }
}

struct GuessDelay {
    guesses: Arc<Guesses>,
    peer: IpAddr,
}

impl Drop for GuessDelay {
    fn drop(&mut self) {
        if let Some(wrong) = self.guesses.lock().get_mut(&self.peer) {
            wrong.waiting = wrong.waiting.saturating_sub(1);
        }
    }
}

/// Where a request comes from; all of unknown origin count as one.
pub(super) fn peer(request: &Request) -> IpAddr {
    let address = request.extensions().get::<PeerAddress>();
    address.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |address| address.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(number))
    }

    #[test]
    fn no_more_addresses_are_remembered_than_there_is_room_for() {
        let clock = Clock::held_at(Timestamp::UNIX_EPOCH);
        let guesses = Guesses::new(clock.clone());
        let most = u32::try_from(ADDRESSES).unwrap();
        for _ in 0..=FREE {
            guesses.count(address(0));
        }
        for number in 1..most {
            guesses.count(address(number));
            if number == 1 {
                clock.advance(Duration::from_secs(1));
            }
        }

        for number in most..most + 3 {
            guesses.count(address(number));
            guesses.count(address(number));
        }

        let kept = guesses.lock();
        assert_eq!(kept.len(), ADDRESSES);
        assert!(kept.contains_key(&address(0)), "a caller waits for its answer");
        assert!(!kept.contains_key(&address(1)), "the oldest one makes room");
        assert_eq!(kept[&address(most + 2)].count, 2);
    }
}
