//! Connections: their limits, and which one is closed to make room for another.
//!
//! What a reader would get wrong: at a limit nobody waits. The connection that has been idle longest is closed for
//! the new one; when none is idle, the new one gets one of a few reserved places, where health is answered and everything
//! else is sent away with 503.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use base::Clock;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::ConnectionLimits;

/// How many connections there may be beyond the limits, for health and for answers that say to come back later.
const RESERVE: usize = 16;
/// Marks a time that is not running.
const NONE: u64 = u64::MAX;

/// The connections of one listener.
pub(super) struct Crowd {
    limits: ConnectionLimits,
    clock: Clock,
    members: Mutex<Members>,
}

#[derive(Default)]
struct Members {
    next: u64,
    all: BTreeMap<u64, Arc<Member>>,
}

/// One connection, as far as others see it. Times are microseconds of the clock.
pub(super) struct Member {
    pub(super) peer: IpAddr,
    /// Whether it has one of the reserved places.
    pub(super) reserved: bool,
    /// Since when no request is being answered.
    idle_since: AtomicU64,
    /// Since when the head of a request is being read.
    head_since: AtomicU64,
    /// Since when the other side has not taken what is written.
    blocked_since: AtomicU64,
    clock: Clock,
    /// Another connection needs its place.
    pub(super) closed: CancellationToken,
    /// One of the times has begun to run.
    pub(super) changed: Notify,
}

/// A connection's place, until it is dropped.
pub(super) struct Seat {
    crowd: Arc<Crowd>,
    id: u64,
    pub(super) member: Arc<Member>,
}

impl Crowd {
    pub(super) fn new(limits: ConnectionLimits, clock: Clock) -> Arc<Self> {
        Arc::new(Self { limits, clock, members: Mutex::default() })
    }

    /// A place for a connection from this address; none when there is no room at all.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Seat> {
        let peer = peer(address);
        let mut members = self.lock();
        let of_peer = |member: &Member| !member.reserved && member.peer == peer;
        let reserved = !(members.room(self.limits.per_peer, of_peer)
            && members.room(self.limits.total, |member| !member.reserved));
        if reserved && !members.room(RESERVE, |member| member.reserved) {
            return None;
        }
        let now = micros(&self.clock);
        let member = Arc::new(Member {
            peer,
            reserved,
            idle_since: AtomicU64::new(now),
            head_since: AtomicU64::new(now),
            blocked_since: AtomicU64::new(NONE),
            clock: self.clock.clone(),
            closed: CancellationToken::new(),
            changed: Notify::new(),
        });
        let id = members.next;
        members.next += 1;
        members.all.insert(id, member.clone());
        Some(Seat { crowd: self.clone(), id, member })
    }

    /// Closes the connection that has been idle longest.
    pub(super) fn close_longest_idle(&self) {
        self.lock().close_longest_idle(|_| true);
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Members {
    /// Whether there may be one more of a kind, after one that is idle was closed for it if need be.
    fn room(&mut self, most: usize, kind: impl Fn(&Member) -> bool) -> bool {
        let count = self.all.values().filter(|member| kind(member)).count();
        count < most || self.close_longest_idle(kind)
    }

    fn close_longest_idle(&mut self, kind: impl Fn(&Member) -> bool) -> bool {
        let idle = self.all.iter().filter(|(_, member)| kind(member)).filter_map(|(id, member)| {
            let since = member.idle_since.load(Ordering::Relaxed);
            (since != NONE).then_some((since, *id))
        });
        let Some((_, id)) = idle.min() else { return false };
        if let Some(member) = self.all.remove(&id) {
            member.closed.cancel();
        }
        true
    }
}

impl Member {
    /// A request is being answered.
    pub(super) fn busy(&self) {
        self.head_since.store(NONE, Ordering::Relaxed);
        self.idle_since.store(NONE, Ordering::Relaxed);
    }

    /// The request has been answered.
    pub(super) fn idle(&self) {
        self.idle_since.store(micros(&self.clock), Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Bytes have come.
    pub(super) fn received(&self) {
        let idle = self.idle_since.load(Ordering::Relaxed) != NONE;
        if idle && self.head_since.load(Ordering::Relaxed) == NONE {
            self.head_since.store(micros(&self.clock), Ordering::Relaxed);
            self.changed.notify_one();
        }
    }

    /// The other side takes what is written, or does not.
    pub(super) fn written(&self, taken: bool) {
        if taken {
            self.blocked_since.store(NONE, Ordering::Relaxed);
        } else if self.blocked_since.load(Ordering::Relaxed) == NONE {
            self.blocked_since.store(micros(&self.clock), Ordering::Relaxed);
            self.changed.notify_one();
        }
    }

    /// How long the connection may go on like this; nothing while a request is being answered.
    pub(super) fn time_left(&self, limits: &ConnectionLimits) -> Option<Duration> {
        let (idle, head) = (&self.idle_since, &self.head_since);
        let times = [
            (head, limits.header_time),
            (idle, limits.idle_time.max(limits.header_time)),
            (&self.blocked_since, limits.idle_time),
        ];
        let now = micros(&self.clock);
        let left = times.into_iter().filter_map(|(since, limit)| {
            let since = since.load(Ordering::Relaxed);
            let passed = Duration::from_micros(now.saturating_sub(since));
            (since != NONE).then(|| limit.saturating_sub(passed))
        });
        left.min()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.crowd.lock().all.remove(&self.id);
    }
}

/// The address that counts as one peer: for IPv6, the network that a host chooses its addresses from.
fn peer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = address.to_bits() >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
    }
}

fn micros(clock: &Clock) -> u64 {
    u64::try_from(clock.monotonic().as_micros()).unwrap_or(NONE - 1)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    const LIMITS: ConnectionLimits =
        ConnectionLimits { total: 3, per_peer: 2, ..ConnectionLimits::DEFAULT };

    fn crowd() -> (Arc<Crowd>, Clock) {
        let clock = Clock::held_at(Timestamp::UNIX_EPOCH);
        (Crowd::new(LIMITS, clock.clone()), clock)
    }

    fn from(crowd: &Arc<Crowd>, clock: &Clock, last: u8) -> Option<Seat> {
        clock.advance(Duration::from_secs(1));
        crowd.enter([10, 0, 0, last].into())
    }

    fn all_busy(seats: &[Seat]) {
        for seat in seats {
            seat.member.busy();
        }
    }

    #[test]
    fn at_a_limit_the_longest_idle_connection_makes_room() {
        let (crowd, clock) = crowd();
        let [first, second] = [1, 1].map(|last| from(&crowd, &clock, last).unwrap());

        let third = from(&crowd, &clock, 1).unwrap();
        assert!(first.member.closed.is_cancelled() && !second.member.closed.is_cancelled());

        let others = [2, 3].map(|last| from(&crowd, &clock, last).unwrap());
        assert!(second.member.closed.is_cancelled(), "the longest idle one of all peers");
        assert!(!third.member.closed.is_cancelled());
        assert!(others.iter().all(|seat| !seat.member.reserved));
    }

    #[test]
    fn a_connection_with_a_request_is_never_closed_for_another() {
        let (crowd, clock) = crowd();
        let busy: Vec<Seat> = [1, 1, 2].map(|last| from(&crowd, &clock, last).unwrap()).into();
        all_busy(&busy);

        let reserved: Vec<Seat> = (0..RESERVE).map(|_| from(&crowd, &clock, 1).unwrap()).collect();
        assert!(reserved.iter().all(|seat| seat.member.reserved));
        assert!(busy.iter().all(|seat| !seat.member.closed.is_cancelled()));

        all_busy(&reserved[1..]);
        let last = from(&crowd, &clock, 9).unwrap();
        assert!(reserved[0].member.closed.is_cancelled());
        last.member.busy();
        assert!(from(&crowd, &clock, 9).is_none(), "there is no room at all");
    }

    #[test]
    fn a_place_is_free_again_when_its_connection_has_ended() {
        let (crowd, clock) = crowd();
        let seats = [1, 1].map(|last| from(&crowd, &clock, last).unwrap());
        all_busy(&seats);

        drop(seats);

        assert!(!from(&crowd, &clock, 1).unwrap().member.reserved);
    }

    #[test]
    fn hosts_of_one_ipv6_network_are_one_peer_and_mapped_addresses_are_themselves() {
        let same =
            |one: &str, other: &str| peer(one.parse().unwrap()) == peer(other.parse().unwrap());

        assert!(same("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"));
        assert!(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(!same("10.0.0.1", "10.0.0.2"));
    }
}
