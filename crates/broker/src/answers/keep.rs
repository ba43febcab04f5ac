//! Keeps the answers: adds ended operations to the sums, samples the pool once an hour, and computes the numbers of the metrics.
//!
//! What a reader would get wrong: every replica does it and none is elected. An operation is added once and an hour has one sample,
//! whichever replica is first; the numbers are each replica's own.

use std::{sync::PoisonError, time::Duration};

use base::failure::chain;
use serde::Deserialize;
use store::broker::PoolSample;

use super::{Answers, Error, Gauges, capacity::WINDOW};

/// How often ended operations are added.
const PAUSE: Duration = Duration::from_secs(5);
/// After how many pauses the numbers are computed again: twice a minute.
const PAUSES: u32 = 6;
/// After how many pauses old sums are deleted: once an hour.
const PAUSES_TO_FORGET: u32 = 720;
/// How long samples are kept.
const KEPT: Duration = Duration::from_hours(8 * 24);

/// The plan that an operation was accepted with, from its input.
pub fn plan_of(input: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Input {
        order: Order,
    }
    #[derive(Deserialize)]
    struct Order {
        plan_name: String,
    }
    serde_json::from_slice::<Input>(input).ok().map(|input| input.order.plan_name)
}

impl Answers {
    /// Goes on until it is stopped.
    pub async fn keep(self) {
        let mut turn: u32 = 0;
        loop {
            self.count_ended().await;
            if turn.is_multiple_of(PAUSES)
                && let Err(error) = self.compute().await
            {
                tracing::warn!(error = chain(&error), "numbers for metrics cannot be computed");
            }
            if turn.is_multiple_of(PAUSES_TO_FORGET)
                && let Err(error) = self.forget().await
            {
                tracing::warn!(error = chain(&error), "old sums cannot be deleted");
            }
            turn = turn.wrapping_add(1);
            self.0.clock.sleep(PAUSE).await;
        }
    }

    /// Adds all ended operations to the sums.
    pub async fn count_ended(&self) {
        loop {
            match self.0.operations.count_ended(plan_of).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    let error = chain(&error);
                    tracing::warn!(error, "ended operations cannot be counted, trying again later");
                    return;
                }
            }
        }
    }

    /// Computes the numbers of the metrics, and samples the pool. A garden that cannot be read takes nothing else away.
    pub async fn compute(&self) -> Result<(), Error> {
        let operations = &self.0.operations;
        let present = self.present().await?;
        let mut computed = Gauges::of_operations(operations, &present).await?;
        match self.sample().await {
            Ok(()) => {
                computed.accounts = self.pool().await?.accounts;
                computed.capacity = self.capacity().await?.capacity;
            }
            Err(error @ Error::Garden(_)) => {
                tracing::warn!(error = chain(&error), "pool of accounts cannot be read");
            }
            Err(error) => return Err(error),
        }
        *self.0.gauges.lock().unwrap_or_else(PoisonError::into_inner) = computed;
        Ok(())
    }

    /// Keeps how many accounts are in use, unless it is known for this hour.
    async fn sample(&self) -> Result<(), Error> {
        let reading = self.pool().await?;
        let hour = PoolSample::hour_of(reading.at);
        let samples: Vec<PoolSample> = reading
            .accounts
            .iter()
            .map(|it| PoolSample {
                hour,
                hyperscaler: it.hyperscaler.clone(),
                eu_access: it.eu_access,
                used: it.used(),
            })
            .collect();
        Ok(self.0.store.note_pool(&samples).await?)
    }

    async fn forget(&self) -> Result<(), Error> {
        self.0.operations.forget_sums().await?;
        Ok(self.0.store.forget_pool(self.now() - KEPT.max(WINDOW)).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_is_read_from_what_was_ordered() {
        let ordered = br#"{"order": {"plan_name": "aws", "other": 1}, "temporary": true}"#;

        assert_eq!(plan_of(ordered).as_deref(), Some("aws"));
        assert_eq!(plan_of(br#"{"job": "expiry", "dry_run": false}"#), None);
    }
}
