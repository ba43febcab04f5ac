//! Wakes the operations that wait for a Shoot as soon as something happens to it.
//!
//! One watch for all of them. When it has a gap, nobody is woken: they look again by themselves.

use clients::gardener::{Gardener, Signal};
use engine::Engine;
use store::EngineStore;

use crate::operations::shoot_signal;

/// Goes on until it is dropped.
pub async fn follow(gardener: Gardener, engine: Engine<EngineStore>) {
    let mut signals = gardener.signals();
    while let Some(signal) = signals.next().await {
        let Signal::Shoot(name) = signal else { continue };
        if let Err(error) = engine.signal(&shoot_signal(&name)).await {
            let error = base::failure::chain(&error);
            tracing::warn!(shoot = name, error, "Shoot event: waking operations failed");
        }
    }
}
