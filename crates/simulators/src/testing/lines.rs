//! What a process logs, kept to be looked through for what must not be in it.
//!
//! What a reader would get wrong: everything is kept, at the most talkative level and from every thread. Other tests of
//! the same process may add lines, and no secret may be in theirs either.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tracing::Level;
use tracing_subscriber::fmt::{MakeWriter, format::FmtSpan};

#[derive(Debug, Clone, Default)]
pub struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// Keeps all that is logged from now on.
    pub fn kept() -> Self {
        static KEPT: OnceLock<Lines> = OnceLock::new();
        let keep = || {
            let lines = Self::default();
            let subscriber = tracing_subscriber::fmt()
                .with_max_level(Level::TRACE)
                .with_span_events(FmtSpan::FULL)
                .with_ansi(false)
                .with_writer(lines.clone())
                .finish();
            tracing::subscriber::set_global_default(subscriber)
                .expect("nobody else takes the log of this process");
            lines
        };
        KEPT.get_or_init(keep).clone()
    }

    /// All that was logged.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
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
