//! The files of the ledger: the one that is written to, and older ones, of which the oldest go when there are too many.
//!
//! What a reader would get wrong: only the newest file is read at the start. Its first record carries the sums of all
//! lines before it, so nothing is lost but the lines themselves. The very first file has no such record.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Serialize};

use super::{Entry, Sums};
use crate::store::{
    Error,
    log::{Log, Reader},
};

/// Every so many lines the index remembers a place.
const STRIDE: u64 = 256;

/// How large the ledger may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerLimits {
    /// How many bytes a file holds before the next one is begun.
    pub file: u64,
    /// How many bytes of older files are kept.
    pub older: u64,
}

impl Default for LedgerLimits {
    fn default() -> Self {
        Self { file: 8 << 20, older: 128 << 20 }
    }
}

/// The first record of every file but the first.
#[derive(Serialize, Deserialize)]
struct Head {
    /// The last line before this file.
    before: u64,
    sums: BTreeMap<String, Sums>,
}

/// A file that is not written to any more.
#[derive(Debug, Clone)]
struct ClosedSegment {
    first: u64,
    path: PathBuf,
    bytes: u64,
    index: Arc<OnceLock<Vec<u64>>>,
}

/// All files.
#[derive(Debug)]
pub(super) struct Segments {
    /// The first file; the others have the number of their first line in their names.
    base: PathBuf,
    room: LedgerLimits,
    older: Vec<ClosedSegment>,
    path: PathBuf,
    log: Log,
    first: u64,
    index: Vec<u64>,
    pub(super) last: u64,
    pub(super) sums: BTreeMap<String, Sums>,
}

/// Where to read on.
pub(super) struct ReadPosition {
    path: PathBuf,
    at: u64,
    /// The first line of the next file; nothing for the newest.
    pub(super) until: Option<u64>,
    /// The line at which the file begins.
    pub(super) first: u64,
}

impl Segments {
    /// Opens the files beside `base`, or begins the first.
    pub(super) fn open(base: &Path, room: LedgerLimits) -> Result<Self, Error> {
        let mut older = found(base).map_err(|source| failed(base, source))?;
        let newest = older.pop().map_or_else(|| (1, base.to_owned()), |it| (it.first, it.path));
        let (mut index, mut sums, mut last) = (Vec::new(), BTreeMap::new(), newest.0 - 1);
        let log = Log::open(&newest.1, |at, text| {
            match serde_json::from_slice(text)? {
                Record::Head(head) => (last, sums) = (head.before, head.sums),
                Record::Entry(entry) => {
                    note(&mut index, entry.sequence - newest.0, at);
                    last = entry.sequence;
                    add(&mut sums, &entry);
                }
            }
            Ok(())
        })?;
        let base = base.to_owned();
        let (first, path) = newest;
        Ok(Self { base, room, older, path, log, first, index, last, sums })
    }

    /// Adds a line; its sequence follows the last one.
    pub(super) fn append(&mut self, entry: &Entry) -> Result<(), Error> {
        if self.log.bytes() >= self.room.file {
            // A disk that is full may have room for the line all the same.
            if let Err(error) = self.roll() {
                tracing::warn!(%error, "the ledger cannot begin a new file");
            }
        }
        let at = self.log.append(&serde_json::to_vec(entry)?)?;
        note(&mut self.index, entry.sequence - self.first, at);
        self.last = entry.sequence;
        add(&mut self.sums, entry);
        Ok(())
    }

    /// Begins a new file and removes the oldest.
    fn roll(&mut self) -> Result<(), Error> {
        let first = self.last + 1;
        let path = self.base.with_file_name(format!("{}{first:020}.log", prefix(&self.base)));
        let head = Record::Head(Head { before: self.last, sums: self.sums.clone() });
        let log = Log::begin(&path, &serde_json::to_vec(&head)?)?;
        self.older.push(ClosedSegment {
            first: self.first,
            path: std::mem::replace(&mut self.path, path),
            bytes: self.log.bytes(),
            index: Arc::new(std::mem::take(&mut self.index).into()),
        });
        (self.log, self.first) = (log, first);
        let mut bytes: u64 = self.older.iter().map(|older| older.bytes).sum();
        while bytes > self.room.older && !self.older.is_empty() {
            let gone = self.older.remove(0);
            bytes -= gone.bytes;
            fs::remove_file(&gone.path).map_err(|source| failed(&gone.path, source))?;
        }
        Ok(())
    }

    /// A place at or before the line behind `after`, or the oldest line that is kept.
    pub(super) fn place(&self, after: u64) -> Result<ReadPosition, Error> {
        let older = self.older.iter().rposition(|older| older.first <= after + 1);
        let (first, path, index, until) = match older {
            _ if after + 1 >= self.first => (self.first, &self.path, &self.index, None),
            None if self.older.is_empty() => (self.first, &self.path, &self.index, None),
            found => {
                let at = found.unwrap_or(0);
                let older = &self.older[at];
                let until = self.older.get(at + 1).map_or(self.first, |next| next.first);
                (older.first, &older.path, older.index()?, Some(until))
            }
        };
        let slot = usize::try_from((after + 1).saturating_sub(first) / STRIDE);
        let slot = slot.unwrap_or(usize::MAX).min(index.len().saturating_sub(1));
        let at = index.get(slot).copied().unwrap_or_default();
        Ok(ReadPosition { path: path.clone(), at, until, first })
    }
}

impl ReadPosition {
    /// Reads from there.
    pub(super) fn reader(&self) -> Result<Reader, Error> {
        Reader::open(&self.path, self.at)
    }
}

impl ClosedSegment {
    /// Where its lines are; read on the first request.
    fn index(&self) -> Result<&Vec<u64>, Error> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let mut index = Vec::new();
        let mut reader = Reader::open(&self.path, 0)?;
        let (mut at, mut count) = (0, 0);
        while let Some((text, length)) = reader.next_with_length()? {
            if count > 0 || serde_json::from_slice::<Entry>(text).is_ok() {
                note(&mut index, count, at);
                count += 1;
            }
            at += length;
        }
        Ok(self.index.get_or_init(|| index))
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Record {
    Entry(Box<Entry>),
    Head(Head),
}

/// Reads a line; nothing for the first record of a file.
pub(super) fn entry(text: &[u8]) -> Result<Option<Entry>, Error> {
    match serde_json::from_slice(text)? {
        Record::Entry(entry) => Ok(Some(*entry)),
        Record::Head(_) => Ok(None),
    }
}

fn note(index: &mut Vec<u64>, count: u64, at: u64) {
    if count.is_multiple_of(STRIDE) {
        index.push(at);
    }
}

fn add(all: &mut BTreeMap<String, Sums>, entry: &Entry) {
    all.entry(entry.about.system.clone()).or_default().add(entry.phase);
}

/// All files that are there, oldest first.
fn found(base: &Path) -> std::io::Result<Vec<ClosedSegment>> {
    let mut all = Vec::new();
    let folder = base.parent().unwrap_or(Path::new("."));
    let (prefix, index) = (prefix(base), Arc::<OnceLock<Vec<u64>>>::default);
    for file in fs::read_dir(folder)? {
        let file = file?;
        let (path, bytes, name) = (file.path(), file.metadata()?.len(), file.file_name());
        let number = |name: &str| name.strip_prefix(&prefix)?.strip_suffix(".log")?.parse().ok();
        let first = if path == base { Some(1) } else { name.to_str().and_then(number) };
        all.extend(first.map(|first| ClosedSegment { first, path, bytes, index: index() }));
    }
    all.sort_by_key(|older| older.first);
    Ok(all)
}

fn prefix(base: &Path) -> String {
    format!("{}-", base.file_stem().unwrap_or_default().to_string_lossy())
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::File { path: path.to_owned(), source }
}
