//! Signals that were given lately: closes the gap between a step's look and the commit of its wait.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use jiff::Timestamp;

const MOST: usize = 10_000;

/// The newest signals, with the time each was given.
#[derive(Default)]
pub(crate) struct Signals(Mutex<Recent>);

#[derive(Default)]
struct Recent {
    given: HashMap<String, Timestamp>,
    order: VecDeque<String>,
}

impl Signals {
    pub(crate) fn note(&self, signal: &str, now: Timestamp) {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.given.insert(signal.to_owned(), now).is_none() {
            recent.order.push_back(signal.to_owned());
        }
        if recent.order.len() > MOST
            && let Some(oldest) = recent.order.pop_front()
        {
            recent.given.remove(&oldest);
        }
    }

    pub(crate) fn given_since(&self, signal: &str, since: Timestamp) -> bool {
        let recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.given.get(signal).is_some_and(|given| *given >= since)
    }
}
