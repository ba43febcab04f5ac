//! Knows which Gardener it is before the first step asks, and looks again before what is known gets old.
//!
//! What a reader would get wrong: steps do not depend on it. A garden that does not answer now is asked by the step that
//! needs to know, and one that answers otherwise than it was described is asked anew at once.

use std::time::Duration;

use base::Clock;
use clients::gardener::Gardener;

/// How often it is asked: more often than a description lasts.
const EVERY: Duration = Duration::from_mins(5);

/// Goes on until it is dropped.
pub async fn keep(gardener: Gardener, clock: Clock) {
    loop {
        if let Err(error) = gardener.refresh_features().await {
            let error = base::failure::chain(&error);
            tracing::warn!(error, "gardener: cannot read the fields of Shoots");
        }
        clock.sleep(EVERY).await;
    }
}
