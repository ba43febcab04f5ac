//! Limits of open event streams: so many of one session, so many in all.
//!
//! A stream that is refused costs nothing: its page says that it is not live, and asks again later.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// How many streams one session may have. A page that is not looked at has none.
const OF_SESSION: usize = 16;
/// How many streams a replica has at most.
const OF_REPLICA: usize = 1_000;

/// The open streams. Clones are the same ones.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<HashMap<String, usize>>>);

/// The place of one stream, given back when it is dropped.
pub(crate) struct StreamPermit {
    streams: Streams,
    session: String,
}

impl Streams {
    /// A place for a stream of a session, or why there is none.
    pub(crate) fn take(&self, session: &str) -> Result<StreamPermit, String> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.values().sum::<usize>() >= OF_REPLICA {
            return Err(format!(
                "{OF_REPLICA} pages are live here already; this one is tried again"
            ));
        }
        let own = open.entry(session.to_owned()).or_default();
        if *own >= OF_SESSION {
            return Err(format!("{OF_SESSION} of your pages are live already: close some of them"));
        }
        *own += 1;
        Ok(StreamPermit { streams: self.clone(), session: session.to_owned() })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.session) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.session);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_so_many_streams_and_gets_a_place_back() {
        let streams = Streams::default();
        let mut places: Vec<StreamPermit> =
            (0..OF_SESSION).map(|_| streams.take("jo").unwrap()).collect();

        assert!(streams.take("jo").is_err_and(|why| why.starts_with("16 of your pages")));
        assert!(streams.take("al").is_ok());
        places.pop();
        assert!(streams.take("jo").is_ok());
        drop(places);
        assert!(streams.0.lock().unwrap().is_empty());
    }

    #[test]
    fn a_replica_has_so_many_streams() {
        let streams = Streams::default();
        let places: Vec<StreamPermit> =
            (0..OF_REPLICA).map(|at| streams.take(&format!("{}", at / 10)).unwrap()).collect();

        assert!(streams.take("another").is_err());
        drop(places);
        assert!(streams.take("another").is_ok());
    }
}
