//! Every call that any simulator receives, in the order of arrival.
//!
//! What a reader would get wrong: nothing of it is held in memory but a sparse index and sums. The
//! files are the ledger; pages and streams are read from them. The oldest lines go when there are too many.

pub(crate) mod call;
mod entry;
mod segments;
mod stream;

use std::{
    io,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use base::Clock;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::store::{Change, Error};
use segments::Segments;

pub use entry::{About, Entry, Filter, Phase};
pub use segments::LedgerLimits;
pub(crate) use stream::follow;

/// How many lines are looked at for one page.
const LOOK: usize = 20_000;
/// How many lines a page holds at most.
pub const LARGEST_PAGE: usize = 1_000;

#[derive(Debug)]
pub struct Ledger {
    clock: Clock,
    book: Mutex<Segments>,
    last: watch::Sender<u64>,
}

/// How many lines of each phase a system has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// Calls that arrived.
    pub received: u64,
    /// Changes that were made.
    pub applied: u64,
    /// Answers that left.
    pub replied: u64,
    /// Answers that were cut off.
    pub lost: u64,
}

/// Some lines, and where to go on.
#[derive(Debug, Clone, Serialize)]
pub struct Page {
    /// The lines.
    pub entries: Vec<Entry>,
    /// The last line that was looked at: pass it as `after` to go on.
    pub next: u64,
    /// Whether there are lines behind it.
    pub more: bool,
}

impl Ledger {
    /// Opens the ledger whose first file is `path`, or begins one.
    pub fn open(path: &Path, clock: Clock) -> Result<Self, Error> {
        Self::with_room(path, clock, LedgerLimits::default())
    }

    /// The same, with so much room.
    pub fn with_room(path: &Path, clock: Clock, room: LedgerLimits) -> Result<Self, Error> {
        let book = Segments::open(path, room)?;
        let last = watch::Sender::new(book.last);
        Ok(Self { clock, book: Mutex::new(book), last })
    }

    /// Writes one line; `call` is zero for the first line of a call. Comes back with its sequence.
    pub(crate) fn write(&self, call: u64, line: &call::Line<'_>) -> Result<u64, Error> {
        let mut book = self.book();
        let sequence = book.last + 1;
        let entry = Entry {
            sequence,
            at: self.clock.now(),
            phase: line.phase,
            call: if call == 0 { sequence } else { call },
            about: line.about.clone(),
            object: line.object.map(str::to_owned),
            status: line.status,
            trouble: line.trouble.map(str::to_owned),
        };
        book.append(&entry)?;
        self.last.send_replace(sequence);
        Ok(sequence)
    }

    /// The lines behind `after` that fit and are kept.
    pub fn page(&self, after: u64, filter: &Filter, limit: usize) -> Result<Page, Error> {
        let limit = limit.clamp(1, LARGEST_PAGE);
        let last = self.book().last;
        let mut page = Page { entries: Vec::new(), next: after.min(last), more: false };
        let mut looked = 0;
        while page.next < last && page.entries.len() < limit && looked < LOOK {
            let place = self.book().place(page.next)?;
            page.next = page.next.max(place.first - 1);
            let mut reader = match place.reader() {
                // Its lines went while we looked: go on with what is kept.
                Err(Error::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                    continue;
                }
                reader => reader?,
            };
            let end = place.until.map_or(last, |next| next - 1);
            while page.next < end && page.entries.len() < limit && looked < LOOK {
                let Some(text) = reader.next()? else { break };
                let Some(entry) = segments::entry(text)?.filter(|it| it.sequence > page.next)
                else {
                    continue;
                };
                looked += 1;
                page.next = entry.sequence;
                if filter.fits(&entry) {
                    page.entries.push(entry);
                }
            }
            if place.until.is_none() {
                break;
            }
        }
        page.more = page.next < last;
        Ok(page)
    }

    /// Every line that fits: for tests of small ledgers.
    pub fn all(&self, filter: &Filter) -> Result<Vec<Entry>, Error> {
        self.all_after(0, filter)
    }

    fn all_after(&self, mut after: u64, filter: &Filter) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        loop {
            let page = self.page(after, filter, LARGEST_PAGE)?;
            entries.extend(page.entries);
            after = page.next;
            if !page.more {
                return Ok(entries);
            }
        }
    }

    /// Enters a change that was kept right before the process died, unless it is here.
    pub(crate) fn make_good(&self, change: &Change) -> Result<(), Error> {
        let call = change.mark.call;
        let lines = self.all_after(call.saturating_sub(1), &Filter::default())?;
        let Some(received) = lines.first().filter(|line| line.sequence == call) else {
            return Ok(());
        };
        let applied = |line: &&Entry| line.call == call && line.phase == Phase::Applied;
        if lines.iter().filter(applied).count() as u64 >= change.mark.change {
            return Ok(());
        }
        let line = call::Line {
            phase: Phase::Applied,
            about: &received.about,
            object: Some(&change.object),
            status: None,
            trouble: received.trouble.as_deref(),
        };
        self.write(call, &line).map(drop)
    }

    /// The sums of one system.
    pub fn sums(&self, system: &str) -> Sums {
        self.book().sums.get(system).copied().unwrap_or_default()
    }

    /// The sequence of the last line, as it grows.
    pub fn last(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    fn book(&self) -> MutexGuard<'_, Segments> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sums {
    fn add(&mut self, phase: Phase) {
        match phase {
            Phase::Received => self.received += 1,
            Phase::Applied => self.applied += 1,
            Phase::Replied => self.replied += 1,
            Phase::Lost => self.lost += 1,
        }
    }
}

#[cfg(test)]
mod tests;
