//! The chores of a service: what it does beside operations, each under its name.
//!
//! What a reader would get wrong: a chore that is not started here is not missed by anything else, so a test compares the names.

use tokio::task::JoinSet;

/// Chores that go on until the service stops.
#[derive(Default)]
pub(crate) struct Chores {
    names: Vec<&'static str>,
    running: JoinSet<()>,
}

impl Chores {
    /// Starts one.
    pub(crate) fn start(
        &mut self,
        name: &'static str,
        chore: impl Future<Output = ()> + Send + 'static,
    ) {
        self.names.push(name);
        self.running.spawn(chore);
    }

    /// The names of those that were started.
    #[cfg(all(test, feature = "landscape"))]
    pub(crate) fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Ends them all.
    pub(crate) fn stop(&mut self) {
        tracing::debug!(chores = ?self.names, "chores stop");
        self.running.abort_all();
    }
}
