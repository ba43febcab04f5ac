//! Every call that any simulator receives, in the order of arrival, for good.
//!
//! What a reader would get wrong: nothing of it is held in memory but a sparse index and sums. The
//! file is the ledger; pages and streams are read from it.

pub(crate) mod call;
mod entry;
mod stream;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use base::Clock;
use serde::Serialize;
use tokio::sync::watch;

use crate::store::{
    Change, Error,
    log::{Log, Reader},
};

pub use entry::{About, Entry, Filter, Phase};
pub(crate) use stream::follow;

/// Every so many lines the index remembers a place.
const STRIDE: u64 = 256;
/// How many lines are looked at for one page.
const LOOK: usize = 20_000;
/// How many lines a page holds at most.
pub const LARGEST_PAGE: usize = 1_000;

/// See the module.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    clock: Clock,
    book: Mutex<Book>,
    last: watch::Sender<u64>,
}

#[derive(Debug)]
struct Book {
    log: Log,
    written: Written,
}

#[derive(Debug, Default)]
struct Written {
    last: u64,
    index: Vec<u64>,
    sums: BTreeMap<String, Sums>,
}

/// How many lines of each phase a system has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
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
    /// Opens the ledger in `path`, or begins one.
    pub fn open(path: &Path, clock: Clock) -> Result<Self, Error> {
        let mut written = Written::default();
        let log = Log::open(path, |at, text| {
            let entry: Entry = serde_json::from_slice(text)?;
            written.add(&entry, at);
            Ok(())
        })?;
        let last = watch::Sender::new(written.last);
        Ok(Self { path: path.to_owned(), clock, book: Mutex::new(Book { log, written }), last })
    }

    /// Writes one line; `call` is zero for the first line of a call. Comes back with its sequence.
    pub(crate) fn write(&self, call: u64, line: &call::Line<'_>) -> Result<u64, Error> {
        let mut book = self.book();
        let sequence = book.written.last + 1;
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
        let at = book.log.append(&serde_json::to_vec(&entry)?)?;
        book.written.add(&entry, at);
        self.last.send_replace(sequence);
        Ok(sequence)
    }

    /// The lines behind `after` that fit.
    pub fn page(&self, after: u64, filter: &Filter, limit: usize) -> Result<Page, Error> {
        let limit = limit.clamp(1, LARGEST_PAGE);
        let (at, last) = {
            let book = self.book();
            (book.written.place(after), book.written.last)
        };
        let mut page = Page { entries: Vec::new(), next: after.min(last), more: false };
        if after >= last {
            return Ok(page);
        }
        let mut reader = Reader::open(&self.path, at)?;
        let mut looked = 0;
        while page.next < last && page.entries.len() < limit && looked < LOOK {
            let Some(text) = reader.next()? else { break };
            let entry: Entry = serde_json::from_slice(text)?;
            if entry.sequence <= after {
                continue;
            }
            looked += 1;
            page.next = entry.sequence;
            if filter.fits(&entry) {
                page.entries.push(entry);
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
        self.book().written.sums.get(system).copied().unwrap_or_default()
    }

    /// The sequence of the last line, as it grows.
    pub fn last(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Written {
    fn add(&mut self, entry: &Entry, at: u64) {
        if self.last.is_multiple_of(STRIDE) {
            self.index.push(at);
        }
        self.last = entry.sequence;
        let sums = self.sums.entry(entry.about.system.clone()).or_default();
        match entry.phase {
            Phase::Received => sums.received += 1,
            Phase::Applied => sums.applied += 1,
            Phase::Replied => sums.replied += 1,
            Phase::Lost => sums.lost += 1,
        }
    }

    /// A place at or before the line behind `after`.
    fn place(&self, after: u64) -> u64 {
        let slot = usize::try_from(after / STRIDE).unwrap_or(usize::MAX);
        let slot = slot.min(self.index.len().saturating_sub(1));
        self.index.get(slot).copied().unwrap_or_default()
    }
}
