//! The name of a call in its idempotency key.
//!
//! What a reader would get wrong: a name is stored by the other side and does not change once it is released. Calls of releases
//! before names went under their number in the run; such a call keeps its number, because operations that are in flight may have
//! sent it, and a replica of the older release may take over and send it again.

use std::{
    fmt,
    future::Future,
    sync::atomic::{AtomicU32, Ordering},
};

tokio::task_local! {
    static SCOPE: Scope;
}

/// Names one call of a step. Two calls of a step never have the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a name counts for the calls in its scope"]
pub struct Key {
    name: &'static str,
    nth: Option<usize>,
    number: Option<usize>,
}

struct Scope {
    key: Key,
    calls: AtomicU32,
}

impl Key {
    /// A call by its name, which begins with a letter: numbers are the keys of calls without a name.
    pub const fn named(name: &'static str) -> Self {
        assert!(
            !name.is_empty() && name.as_bytes()[0].is_ascii_alphabetic(),
            "a name begins with a letter"
        );
        Self { name, nth: None, number: None }
    }

    /// The n-th call of this name, where a step repeats an order as a new one.
    pub const fn nth(mut self, nth: usize) -> Self {
        self.nth = Some(nth);
        self
    }

    /// The number that the call had in its run when calls had no names. It stays the key, so that operations in flight and replicas
    /// of the older release agree with this one. Calls that come new do not have it.
    pub const fn formerly(mut self, number: usize) -> Self {
        self.number = Some(number);
        self
    }

    /// Makes the calls of `work` under this name. A second one has a key of its own.
    pub fn scope<T>(self, work: impl Future<Output = T>) -> impl Future<Output = T> {
        // On the heap: every step that orders something would be larger by what an order needs.
        SCOPE.scope(Scope { key: self, calls: AtomicU32::new(0) }, Box::pin(work))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.number, self.nth) {
            (Some(number), _) => write!(f, "{number}"),
            (None, Some(nth)) => write!(f, "{}/{nth}", self.name),
            (None, None) => f.write_str(self.name),
        }
    }
}

/// The last part of the next call's key. Calls without a name, and those that once had none, count in the run.
pub(super) fn of_next_call(next_number: impl Fn() -> u32) -> String {
    let named = SCOPE.try_with(|scope| {
        if scope.key.number.is_some() {
            next_number();
        }
        match scope.calls.fetch_add(1, Ordering::Relaxed) + 1 {
            1 => scope.key.to_string(),
            later => format!("{}/call-{later}", scope.key),
        }
    });
    named.unwrap_or_else(|_| next_number().to_string())
}
