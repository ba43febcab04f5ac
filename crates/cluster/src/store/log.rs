//! The write-ahead log: `log-N` files, and snapshots that take the place of older ones.
//!
//! `snapshot-N` says everything that was said in the files before `log-N`. It may also contain later
//! changes, because writes go on while it is made; replaying those again is skipped by version.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;

use super::Record;

/// Why the log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The folder or a file in it cannot be read or written.
    #[error("cannot use {path}")]
    Unusable {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file that should be whole is not.
    #[error("{0} is damaged")]
    Damaged(PathBuf),
}

/// The open log.
pub(crate) struct Log {
    folder: PathBuf,
    sync: bool,
    compact_after: u64,
    open: Mutex<Open>,
    /// Notified when the newest file has grown enough to be worth a snapshot.
    pub(crate) grown: Notify,
    /// A disk without room, in tests.
    full: AtomicBool,
}

struct Open {
    /// Another process may have the folder now.
    closed: bool,
    number: u64,
    file: File,
    length: u64,
    /// How large the latest snapshot is.
    snapshot: u64,
}

impl Log {
    /// Opens the folder and hands every record in it to `replay`; the flag says whether it comes from
    /// a snapshot.
    pub(crate) fn open(
        folder: &Path,
        sync: bool,
        compact_after: u64,
        mut replay: impl FnMut(Record, bool),
    ) -> Result<Self, LogError> {
        let unusable = |path: &Path| {
            let path = path.to_owned();
            |source| LogError::Unusable { path, source }
        };
        fs::create_dir_all(folder).map_err(unusable(folder))?;
        let start = numbers(folder, "snapshot-").map_err(unusable(folder))?.pop().unwrap_or(0);
        let mut snapshot = 0;
        if start > 0 {
            let path = folder.join(format!("snapshot-{start}"));
            let bytes = fs::read(&path).map_err(unusable(&path))?;
            snapshot = bytes.len() as u64;
            if read(&bytes, &mut |record| replay(record, true)) != bytes.len() {
                return Err(LogError::Damaged(path));
            }
        }
        let mut logs = numbers(folder, "log-").map_err(unusable(folder))?;
        logs.retain(|number| *number >= start);
        let newest = logs.last().copied().unwrap_or(start.max(1));
        let mut length = 0;
        for number in logs {
            let path = folder.join(format!("log-{number}"));
            let bytes = fs::read(&path).map_err(unusable(&path))?;
            let whole = read(&bytes, &mut |record| replay(record, false));
            if whole != bytes.len() && number != newest {
                return Err(LogError::Damaged(path));
            }
            length = whole as u64;
        }
        let path = folder.join(format!("log-{newest}"));
        let file = append_to(&path).map_err(unusable(&path))?;
        // What follows the last whole record was never answered.
        file.set_len(length).map_err(unusable(&path))?;
        let open = Mutex::new(Open { closed: false, number: newest, file, length, snapshot });
        Ok(Self {
            folder: folder.to_owned(),
            sync,
            compact_after,
            open,
            grown: Notify::new(),
            full: AtomicBool::new(false),
        })
    }

    /// Where the next record will be; never the same twice.
    pub(crate) fn position(&self) -> String {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        format!("{}:{}", open.number, open.length)
    }

    /// Writes one record; when this returns, the operating system has it.
    pub(crate) fn append(&self, record: &Record) -> io::Result<()> {
        let bytes = record.encode()?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.closed {
            return Err(io::Error::other("the log is closed"));
        }
        let written = self
            .write(&mut open.file, &bytes)
            .and_then(|()| if self.sync { open.file.sync_data() } else { Ok(()) });
        if let Err(error) = written {
            // Half a record must not stand before the next one.
            open.file.set_len(open.length)?;
            return Err(error);
        }
        open.length += bytes.len() as u64;
        if open.length >= self.compact_after.max(open.snapshot) {
            self.grown.notify_one();
        }
        Ok(())
    }

    fn write(&self, file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        if self.full.load(Ordering::Relaxed) {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.write_all(bytes)
    }

    /// Refuses every record from now on.
    pub(crate) fn close(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
    }

    /// Starts a new file, lets `everything` say all there is, and removes what that replaces.
    pub(crate) fn compact(
        &self,
        everything: impl FnOnce(&mut dyn FnMut(&Record) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<()> {
        let number = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let number = open.number + 1;
            let file = append_to(&self.folder.join(format!("log-{number}")))?;
            *open = Open { closed: open.closed, number, file, length: 0, snapshot: open.snapshot };
            number
        };
        let unfinished = self.folder.join("unfinished");
        let length = self.snapshot(&unfinished, everything).inspect_err(|_| {
            // The disk may be full: half a snapshot is of no use, and its room is.
            let _ = fs::remove_file(&unfinished);
        })?;
        fs::rename(&unfinished, self.folder.join(format!("snapshot-{number}")))?;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).snapshot = length;
        for prefix in ["log-", "snapshot-"] {
            for old in numbers(&self.folder, prefix)?.into_iter().filter(|old| *old < number) {
                fs::remove_file(self.folder.join(format!("{prefix}{old}")))?;
            }
        }
        Ok(())
    }

    /// Writes a whole snapshot to the disk; says how large it is.
    fn snapshot(
        &self,
        path: &Path,
        everything: impl FnOnce(&mut dyn FnMut(&Record) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<u64> {
        let mut file =
            io::BufWriter::new(private(path, OpenOptions::new().truncate(true).write(true))?);
        everything(&mut |record| self.write(&mut file, &record.encode()?))?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(file.metadata()?.len())
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    private(path, OpenOptions::new().append(true))
}

/// Opens or makes a file that only its owner can read: Secrets are in it.
fn private(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.create(true).open(path)
}

/// Hands over every whole record and says how many bytes those are.
fn read(bytes: &[u8], replay: &mut dyn FnMut(Record)) -> usize {
    let mut at = 0;
    while let Some((record, length)) = Record::decode(&bytes[at..]) {
        replay(record);
        at += length;
    }
    at
}

fn numbers(folder: &Path, prefix: &str) -> io::Result<Vec<u64>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number: Option<u64> =
            name.to_str().and_then(|name| name.strip_prefix(prefix)?.parse().ok());
        found.extend(number);
    }
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str) -> Record {
        Record::Removed { name: name.to_owned(), uid: String::new() }
    }

    fn names(folder: &Path) -> Vec<(String, bool)> {
        let mut names = Vec::new();
        let note = |record, old| {
            if let Record::Removed { name, .. } = record {
                names.push((name, old));
            }
        };
        Log::open(folder, false, u64::MAX, note).unwrap();
        names
    }

    #[test]
    fn what_was_appended_is_there_again_and_a_torn_end_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::open(folder.path(), true, u64::MAX, |_, _| {}).unwrap();
        log.append(&record("a")).unwrap();
        log.append(&record("b")).unwrap();
        let path = folder.path().join("log-1");
        let length = fs::metadata(&path).unwrap().len();
        OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 1).unwrap();

        let after_the_crash = names(folder.path());
        Log::open(folder.path(), false, u64::MAX, |_, _| {}).unwrap().append(&record("c")).unwrap();

        assert_eq!(after_the_crash, [("a".to_owned(), false)]);
        assert_eq!(names(folder.path()), [("a".to_owned(), false), ("c".to_owned(), false)]);
    }

    #[test]
    fn a_snapshot_takes_the_place_of_what_was_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::open(folder.path(), false, u64::MAX, |_, _| {}).unwrap();
        log.append(&record("a")).unwrap();

        log.compact(|say| say(&record("all"))).unwrap();
        log.append(&record("b")).unwrap();

        assert_eq!(names(folder.path()), [("all".to_owned(), true), ("b".to_owned(), false)]);
        assert!(!folder.path().join("log-1").exists());
    }

    #[test]
    fn a_kill_at_any_point_of_compacting_loses_nothing() {
        let (folder, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let log = Log::open(folder.path(), false, u64::MAX, |_, _| {}).unwrap();
        for name in ["a", "b", "c"] {
            log.append(&record(name)).unwrap();
        }
        let killed = |at: usize| {
            let copy = copies.path().join(at.to_string());
            fs::create_dir(&copy).unwrap();
            for file in fs::read_dir(folder.path()).unwrap() {
                let file = file.unwrap();
                fs::copy(file.path(), copy.join(file.file_name())).unwrap();
            }
            names(&copy).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };

        let mut found = Vec::new();
        log.compact(|say| {
            for (at, name) in ["a", "b", "c"].into_iter().enumerate() {
                log.append(&record("later"))?;
                say(&record(name))?;
                found.push(killed(at));
            }
            Ok(())
        })
        .unwrap();
        found.push(killed(3));

        for (at, found) in found.iter().enumerate() {
            assert_eq!(found[..3], ["a", "b", "c"], "after {at} records of the snapshot");
            assert_eq!(found.len(), 4 + at.min(2), "after {at} records of the snapshot");
        }
    }

    #[test]
    fn a_full_disk_refuses_records_loses_none_and_heals_when_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::open(folder.path(), false, u64::MAX, |_, _| {}).unwrap();
        log.append(&record("a")).unwrap();

        log.full.store(true, Ordering::Relaxed);
        let refused = log.append(&record("lost")).unwrap_err();
        let uncompacted = log.compact(|say| say(&record("all"))).unwrap_err();
        log.full.store(false, Ordering::Relaxed);
        log.append(&record("b")).unwrap();

        for error in [refused, uncompacted] {
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
        assert!(!folder.path().join("unfinished").exists());
        assert_eq!(names(folder.path()), [("a".to_owned(), false), ("b".to_owned(), false)]);
        log.compact(|say| say(&record("all"))).unwrap();
        assert_eq!(names(folder.path()), [("all".to_owned(), true)]);
    }
}
