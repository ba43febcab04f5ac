//! The durable state of a simulator: every change is in its log before the response leaves.
//!
//! What a reader would get wrong: no simulator knows of trouble. A call that only pretends (phantom
//! success) comes through [`Store::change`] like any other, and it is here that nothing is kept.

pub(crate) mod log;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::ledger::call::{self, Mark};
use log::Log;

/// How many records a log may hold before it is replaced by a picture of the state.
const COMPACT: u64 = 10_000;
/// How many bytes it may hold; it may also grow as large again as the last picture.
const COMPACT_BYTES: u64 = 4 << 20;

/// The state of one simulator, and how it changes.
pub trait State: Default + Serialize + DeserializeOwned + Send + 'static {
    /// One change; what the log holds.
    type Event: Serialize + DeserializeOwned;

    /// Makes the change. Runs again for every event of the log when it is opened.
    fn apply(&mut self, event: Self::Event);

    /// The object of the change, in the words of the ledger: `registerRuntime runtime/8f21…`.
    fn object(event: &Self::Event) -> String;
}

/// State that cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{} cannot be read or written", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A record before the last one is damaged.
    #[error("{} is damaged at byte {at}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where the damaged record begins.
        at: u64,
    },
    /// A record is whole but says something else than expected.
    #[error("a record cannot be understood")]
    Format(#[from] serde_json::Error),
}

/// State behind a lock, with its log.
#[derive(Debug)]
pub struct Store<S> {
    kept: Mutex<LoggedState<S>>,
    compact: u64,
}

#[derive(Debug)]
struct LoggedState<S> {
    state: S,
    log: Option<Log>,
    found: Option<Change>,
    /// How many bytes the log had after it was compacted the last time.
    compacted: u64,
}

/// A change that a call made, as the log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub(crate) mark: Mark,
    pub(crate) object: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Record<S, E> {
    Snapshot(S),
    /// With the call that made the change, unless the world moved on by itself.
    Event(E, Option<Mark>),
}

impl<S: State> Store<S> {
    /// State that ends with the process.
    pub fn in_memory() -> Self {
        let kept = LoggedState { state: S::default(), log: None, found: None, compacted: 0 };
        Self { kept: Mutex::new(kept), compact: COMPACT }
    }

    /// Opens the log in `path` and replays it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::compacting(path, COMPACT)
    }

    fn compacting(path: &Path, compact: u64) -> Result<Self, Error> {
        let mut state = S::default();
        let mut found = None;
        let log = Log::open(path, |_, text| {
            match serde_json::from_slice::<Record<S, S::Event>>(text)? {
                Record::Snapshot(snapshot) => state = snapshot,
                Record::Event(event, mark) => {
                    found = mark.map(|mark| Change { mark, object: S::object(&event) });
                    state.apply(event);
                }
            }
            Ok(())
        })?;
        let kept = LoggedState { state, log: Some(log), found, compacted: 0 };
        Ok(Self { kept: Mutex::new(kept), compact })
    }

    /// The last change in the log as it was opened. It is the only one that the ledger may lack: a
    /// change and its line are written one after the other, under one lock.
    pub(crate) fn last_change(&self) -> Option<Change> {
        self.lock().found.clone()
    }

    /// Looks at the state.
    pub fn read<T>(&self, look: impl FnOnce(&S) -> T) -> T {
        look(&self.lock().state)
    }

    /// Changes the state because a call asks for it: `decide` says what happens and what is
    /// answered. The change is kept, and entered in the ledger, before this comes back.
    pub fn change<T, E: From<Error>>(
        &self,
        decide: impl FnOnce(&S) -> Result<(Option<S::Event>, T), E>,
    ) -> Result<T, E> {
        let mut kept = self.lock();
        let (event, answer) = decide(&kept.state)?;
        if let Some(event) = event
            && !call::pretends()
        {
            let object = S::object(&event);
            self.keep(&mut kept, event, call::mark()).inspect_err(|_| call::unkept())?;
            call::applied(&object)?;
        }
        Ok(answer)
    }

    /// Changes the state because the simulated world moved on, or an operator said so.
    pub fn settle(&self, decide: impl FnOnce(&S) -> Vec<S::Event>) -> Result<(), Error> {
        let mut kept = self.lock();
        for event in decide(&kept.state) {
            self.keep(&mut kept, event, None)?;
        }
        Ok(())
    }

    /// Back to the beginning.
    pub fn reset(&self) -> Result<(), Error> {
        let mut kept = self.lock();
        kept.state = S::default();
        kept.compact()
    }

    /// Compacts before it adds, so that the last change is always found as an event.
    fn keep(
        &self,
        kept: &mut LoggedState<S>,
        event: S::Event,
        mark: Option<Mark>,
    ) -> Result<(), Error> {
        let most = COMPACT_BYTES.max(2 * kept.compacted);
        let grown = |log: &Log| log.records() >= self.compact || log.bytes() >= most;
        if kept.log.as_ref().is_some_and(grown) {
            kept.compact()?;
        }
        if let Some(log) = &mut kept.log {
            log.append(&serde_json::to_vec(&Record::<(), _>::Event(&event, mark))?)?;
        }
        kept.state.apply(event);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, LoggedState<S>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: State> LoggedState<S> {
    fn compact(&mut self) -> Result<(), Error> {
        let Some(log) = &mut self.log else { return Ok(()) };
        log.replace(&serde_json::to_vec(&Record::<_, ()>::Snapshot(&self.state))?)?;
        self.compacted = log.bytes();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Serialize, Deserialize)]
    struct Sum(u64);

    impl State for Sum {
        type Event = u64;
        fn apply(&mut self, event: u64) {
            self.0 += event;
        }
        fn object(event: &u64) -> String {
            event.to_string()
        }
    }

    fn add(store: &Store<Sum>, number: u64) -> u64 {
        store.change::<_, Error>(|sum| Ok((Some(number), sum.0 + number))).unwrap()
    }

    #[test]
    fn state_is_the_same_after_drop_and_reopen_also_when_compacted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sum.log");

        for round in 1..=25 {
            let store = Store::<Sum>::compacting(&path, 10).unwrap();
            assert_eq!(add(&store, 1), round);
        }

        let log = Log::open(&path, |_, _| Ok(())).unwrap();
        assert!(log.records() < 20, "{}", log.records());
    }

    #[test]
    fn reset_holds_after_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sum.log");
        let store = Store::<Sum>::open(&path).unwrap();
        add(&store, 5);

        store.reset().unwrap();
        add(&store, 2);

        assert_eq!(Store::<Sum>::open(&path).unwrap().read(|sum| sum.0), 2);
    }

    #[test]
    fn a_refused_change_leaves_nothing_behind() {
        let store = Store::<Sum>::in_memory();

        let refused = store
            .change(|_| Err::<(Option<u64>, ()), _>(Error::Corrupt { path: "x".into(), at: 0 }));

        assert!(refused.is_err());
        assert_eq!(store.read(|sum| sum.0), 0);
    }

    #[test]
    fn a_full_disk_refuses_changes_loses_none_and_heals_when_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sum.log");
        let store = Store::<Sum>::open(&path).unwrap();
        let fill = |full| store.lock().log.as_mut().unwrap().full = full;
        add(&store, 5);

        fill(true);
        let refused = store.change::<u64, Error>(|_| Ok((Some(100), 0)));
        fill(false);

        assert!(matches!(refused, Err(Error::File { .. })), "{refused:?}");
        assert_eq!(add(&store, 2), 7);
        assert_eq!(Store::<Sum>::open(&path).unwrap().read(|sum| sum.0), 7);
    }

    #[test]
    fn a_log_of_large_records_is_compacted_by_its_size() {
        #[derive(Debug, Default, Serialize, Deserialize)]
        struct Last(String);

        impl State for Last {
            type Event = String;
            fn apply(&mut self, event: String) {
                self.0 = event;
            }
            fn object(_: &String) -> String {
                String::new()
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("last.log");
        let store = Store::<Last>::open(&path).unwrap();
        let large = "x".repeat(100_000);

        for _ in 0..200 {
            store.settle(|_| vec![large.clone()]).unwrap();
        }

        let length = std::fs::metadata(&path).unwrap().len();
        assert!(length < COMPACT_BYTES + 1_000_000, "{length}");
        assert_eq!(Store::<Last>::open(&path).unwrap().read(|last| last.0.len()), 100_000);
    }
}
