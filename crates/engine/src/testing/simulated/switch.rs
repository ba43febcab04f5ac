//! A fault that is switched on and off.
//!
//! What a reader would get wrong: those that wait go on in the order in which they came. `tokio::sync::watch` wakes its receivers in a
//! random order, and the same seed would not replay the same story.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;

/// One switch; clones are the same one.
#[derive(Clone, Default)]
pub(super) struct Switch(Arc<(AtomicBool, Notify)>);

impl Switch {
    pub(super) fn set(&self, is_on: bool) {
        let (state, changed) = &*self.0;
        state.store(is_on, Ordering::Relaxed);
        changed.notify_waiters();
    }

    /// Returns at once while it is off.
    pub(super) async fn is_off(&self) {
        let (state, changed) = &*self.0;
        loop {
            let mut change = pin!(changed.notified());
            change.as_mut().enable();
            if !state.load(Ordering::Relaxed) {
                return;
            }
            change.await;
        }
    }
}
