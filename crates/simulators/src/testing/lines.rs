//! Captured log lines of a process, to search them for secrets.
//!
//! What a reader would get wrong: everything is kept, at the most talkative level and from every thread, for as long as
//! one test keeps lines. Other tests that run at that time add lines, and no secret may be in theirs either.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use tracing_subscriber::{
    Layer,
    filter::dynamic_filter_fn,
    fmt::{MakeWriter, format::FmtSpan, layer},
    layer::SubscriberExt,
    registry,
};

/// The log, kept until this is dropped.
#[derive(Debug)]
pub struct Lines(&'static Log);

/// The log of the process.
#[derive(Debug, Default)]
struct Log {
    /// How many tests want it. Nothing is written for nobody: it would cost every other test of the process its time.
    keepers: AtomicUsize,
    text: Mutex<Vec<u8>>,
}

impl Lines {
    /// Keeps all that is logged from now on.
    pub fn kept() -> Self {
        static LOG: OnceLock<Arc<Log>> = OnceLock::new();
        let log = LOG.get_or_init(|| {
            let log = Arc::new(Log::default());
            let (writer, wanted) = (Writer(log.clone()), log.clone());
            let lines = layer().with_span_events(FmtSpan::FULL).with_ansi(false);
            let wanted = dynamic_filter_fn(move |_, _| wanted.keepers.load(SeqCst) > 0);
            let subscriber = registry().with(lines.with_writer(writer).with_filter(wanted));
            tracing::subscriber::set_global_default(subscriber)
                .expect("nobody else takes the log of this process");
            log
        });
        let joining = log.bytes();
        log.keepers.fetch_add(1, SeqCst);
        drop(joining);
        Self(log)
    }

    /// All that was logged.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.bytes()).into_owned()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let mut bytes = self.0.bytes();
        if self.0.keepers.fetch_sub(1, SeqCst) == 1 {
            *bytes = Vec::new();
        }
    }
}

impl Log {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone)]
struct Writer(Arc<Log>);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Writer {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The first of `secrets` that is in one of `texts`, and the line that it is in.
pub fn leaked<'a>(
    texts: &'a [String],
    secrets: &'a [impl AsRef<str>],
) -> Option<(&'a str, &'a str)> {
    let lines = texts.iter().flat_map(|text| text.lines());
    let mut pairs = lines.flat_map(|line| secrets.iter().map(move |one| (one.as_ref(), line)));
    pairs.find(|(secret, line)| line.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_logged_anywhere_is_kept_and_a_secret_in_it_is_found() {
        let lines = Lines::kept();

        tracing::trace!(token = "hunter2", "asking");
        std::thread::spawn(|| tracing::debug!("elsewhere")).join().unwrap();

        let texts = [String::new(), Lines::kept().text()];
        assert!(lines.text().contains("elsewhere"));
        assert_eq!(leaked(&texts, &["hunter3"]), None);
        let (secret, line) = leaked(&texts, &["hunter3", "hunter2"]).unwrap();
        assert_eq!(secret, "hunter2");
        assert!(line.contains("asking"), "{line}");
    }
}
