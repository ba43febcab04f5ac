//! How many steps run at once, shared fairly between lanes.
//!
//! A free place goes to the next lane in circular order that wants one. A few places are kept for
//! lanes that have none, so that one tenant's slow steps cannot take them all.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::oneshot;

/// Hands out places.
#[derive(Clone)]
pub(crate) struct Lanes(Arc<Mutex<LaneTable>>);

struct LaneTable {
    all: usize,
    kept_free: usize,
    taken: usize,
    lanes: BTreeMap<Arc<str>, Lane>,
    last: Arc<str>,
    fair: bool,
}

#[derive(Default)]
struct Lane {
    running: usize,
    waiting: VecDeque<oneshot::Sender<LanePermit>>,
}

/// The right to run one step; given back when dropped.
pub(crate) struct LanePermit {
    lanes: Option<Lanes>,
    lane: Arc<str>,
}

impl Lanes {
    pub(crate) fn new(all: usize, fair: bool) -> Self {
        let all = all.max(1);
        let kept_free = if fair && all >= 4 { (all / 10).max(1) } else { 0 };
        let last: Arc<str> = Arc::from("");
        Self(Arc::new(Mutex::new(LaneTable {
            all,
            kept_free,
            taken: 0,
            lanes: BTreeMap::new(),
            last,
            fair,
        })))
    }

    /// Waits for a place.
    pub(crate) async fn place(&self, lane: &Arc<str>) -> LanePermit {
        let (grant, granted) = oneshot::channel();
        {
            let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let key = if places.fair { lane.clone() } else { Arc::from("") };
            places.lanes.entry(key).or_default().waiting.push_back(grant);
            self.hand_out(&mut places);
        }
        match granted.await {
            Ok(place) => place,
            // Cannot happen while `self` lives; a place of its own does no harm.
            Err(_) => LanePermit { lanes: None, lane: lane.clone() },
        }
    }

    /// How many steps run right now.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).taken
    }

    fn hand_out(&self, places: &mut LaneTable) {
        while let Some(key) = places.next() {
            let Some(lane) = places.lanes.get_mut(&key) else { break };
            let Some(waiting) = lane.waiting.pop_front() else { break };
            let place = LanePermit { lanes: Some(self.clone()), lane: key.clone() };
            match waiting.send(place) {
                Ok(()) => {
                    lane.running += 1;
                    places.taken += 1;
                    places.last = key;
                }
                // The waiting task is gone: the place was never taken.
                Err(mut place) => {
                    place.lanes = None;
                    places.forget_if_idle(&key);
                }
            }
        }
    }
}

impl LaneTable {
    /// The next lane in circular order that wants a place and may have one.
    fn next(&self) -> Option<Arc<str>> {
        let wants = |(_, lane): &(&Arc<str>, &Lane)| {
            let keep = if lane.running > 0 { self.kept_free } else { 0 };
            !lane.waiting.is_empty() && self.taken + keep < self.all
        };
        let after = (Bound::Excluded(self.last.clone()), Bound::Unbounded);
        let wrapped = (Bound::Unbounded, Bound::Included(self.last.clone()));
        self.lanes
            .range(after)
            .find(wants)
            .or_else(|| self.lanes.range(wrapped).find(wants))
            .map(|(key, _)| key.clone())
    }

    fn forget_if_idle(&mut self, key: &Arc<str>) {
        if self.lanes.get(key).is_some_and(|lane| lane.running == 0 && lane.waiting.is_empty()) {
            self.lanes.remove(key);
        }
    }
}

impl Drop for LanePermit {
    fn drop(&mut self) {
        let Some(lanes) = self.lanes.take() else { return };
        let mut places = lanes.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.taken -= 1;
        if let Some(lane) = places.lanes.get_mut(&self.lane) {
            lane.running -= 1;
        }
        places.forget_if_idle(&self.lane);
        lanes.hand_out(&mut places);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn lane(name: &str) -> Arc<str> {
        Arc::from(name)
    }

    /// Ten of lane a and one of lane b want the only place; after how many does b get it?
    fn turn_of_b(fair: bool) -> usize {
        let lanes = Lanes::new(1, fair);
        let mut running = lanes.place(&lane("a")).now_or_never().map(|place| ("a", place));
        let mut queue: Vec<_> = std::iter::repeat_n("a", 10)
            .chain(["b"])
            .map(|name| {
                let (lanes, key) = (lanes.clone(), lane(name));
                let mut wants = Box::pin(async move { lanes.place(&key).await });
                assert!(wants.as_mut().now_or_never().is_none());
                (name, wants)
            })
            .collect();
        for turn in 1.. {
            drop(running.take());
            let ready = queue.iter_mut().position(|(_, wants)| {
                let place = wants.as_mut().now_or_never();
                let got = place.is_some();
                if let Some(place) = place {
                    running = Some(("", place));
                }
                got
            });
            let (name, _) = queue.remove(ready.unwrap());
            if name == "b" {
                return turn;
            }
        }
        unreachable!()
    }

    #[test]
    fn p19_a_lane_with_a_backlog_does_not_starve_another() {
        assert_eq!(turn_of_b(true), 1);
        assert_eq!(turn_of_b(false), 11, "the planted bug `Unfair` turns this red");
    }

    #[test]
    fn places_are_kept_for_lanes_that_have_none() {
        let lanes = Lanes::new(10, true);
        let slow: Vec<_> =
            (0..10).map_while(|_| lanes.place(&lane("slow")).now_or_never()).collect();

        assert_eq!(slow.len(), 9);
        assert!(lanes.place(&lane("other")).now_or_never().is_some());
    }

    #[test]
    fn a_waiter_that_left_does_not_keep_its_place() {
        let lanes = Lanes::new(1, true);
        let first = lanes.place(&lane("a")).now_or_never().unwrap();
        let left = lanes.place(&lane("a")).now_or_never();
        assert!(left.is_none());

        drop(first);

        assert_eq!(lanes.taken(), 0);
        assert!(lanes.place(&lane("a")).now_or_never().is_some());
    }
}
