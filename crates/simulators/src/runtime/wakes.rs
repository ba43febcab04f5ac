//! The bell: says which actor should look at which runtime.

use tokio::sync::mpsc;

/// Somebody who works in runtimes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// Connects the runtime to the Director.
    Agent,
    /// Installs Kyma.
    Installer,
    /// Looks after service instances and bindings.
    BtpOperator,
}

/// Rings the bell; never waits.
#[derive(Debug, Clone)]
pub struct Wakes(mpsc::UnboundedSender<(String, Actor)>);

/// Hears it.
#[derive(Debug)]
pub struct Woken(pub(super) mpsc::UnboundedReceiver<(String, Actor)>);

impl Wakes {
    /// A new bell.
    pub fn new() -> (Self, Woken) {
        let (send, receive) = mpsc::unbounded_channel();
        (Self(send), Woken(receive))
    }

    /// Wakes one actor of a runtime.
    pub fn wake(&self, runtime: &str, actor: Actor) {
        // Nobody listens any more: the landscape is stopping.
        let _ = self.0.send((runtime.to_owned(), actor));
    }
}
