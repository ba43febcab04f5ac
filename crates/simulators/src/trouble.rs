//! Switches for trouble: what a call meets on its way to a simulator and back.
//!
//! What a reader would get wrong: the first rule that fits and whose dice fall decides. Rules do not
//! add up, so the order in which they were added matters.

mod answer_log;
mod cut;
mod delivery;
mod kind;
mod layer;
mod matching;
mod reply;
mod rule;
pub mod wire;

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base::Clock;
use fastrand::Rng;

use crate::{
    issuer::Issuer,
    landscape::SCOPES,
    store::{Error, Store},
};
use rule::{Event, Rules};

pub use kind::{Cut, Kind};
pub use layer::around;
pub use matching::Incoming;
pub use rule::{Rule, RuleError};

/// All trouble of a landscape.
#[derive(Debug)]
pub struct Troubles {
    rules: Store<Rules>,
    dice: Mutex<Rng>,
    clock: Clock,
    issuer: Option<Arc<Issuer>>,
}

/// Trouble that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum TroubleError {
    /// It makes no sense.
    #[error(transparent)]
    Nonsense(#[from] RuleError),
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] Error),
}

impl Troubles {
    /// The trouble kept in `path`; the same `seed` throws the same dice.
    pub fn open(path: &Path, seed: u64, clock: Clock) -> Result<Self, Error> {
        let dice = Mutex::new(Rng::with_seed(seed));
        Ok(Self { rules: Store::open(path)?, dice, clock, issuer: None })
    }

    /// With the issuer whose tokens some trouble is about; without one that trouble does nothing.
    pub fn with_issuer(mut self, issuer: Arc<Issuer>) -> Self {
        self.issuer = Some(issuer);
        self
    }

    /// Adds a rule behind the others; comes back with its number.
    pub fn add(&self, mut rule: Rule) -> Result<Rule, TroubleError> {
        rule = rule.completed(self.clock.now());
        rule.check()?;
        self.rules.change(|rules| {
            rule.id = rules.added + 1;
            Ok((Some(Event::Added(Box::new(rule.clone()))), rule))
        })
    }

    /// The rules that have not ended.
    pub fn active(&self) -> Vec<Rule> {
        let now = self.clock.now();
        self.rules
            .read(|rules| rules.rules.iter().filter(|rule| rule.is_active(now)).cloned().collect())
    }

    /// Takes a rule away; says whether there was one.
    pub fn remove(&self, id: u64) -> Result<bool, Error> {
        self.rules.change(|rules| {
            let found = rules.rules.iter().any(|rule| rule.id == id);
            Ok((found.then_some(Event::Removed(id)), found))
        })
    }

    /// Takes away all rules, or those of one system.
    pub fn clear(&self, system: Option<&str>) -> Result<(), Error> {
        self.rules.settle(|rules| {
            let fits = |rule: &&Rule| system.is_none() || rule.system.as_deref() == system;
            rules.rules.iter().filter(fits).map(|rule| Event::Removed(rule.id)).collect()
        })
    }

    /// The trouble that a call meets.
    pub(crate) fn meet(&self, call: &Incoming<'_>) -> Result<Option<Kind>, Error> {
        let now = self.clock.now();
        self.rules.change(|rules| {
            let fitting = rules.rules.iter().filter(|rule| rule.is_on(now) && rule.fits(call));
            let (mut waiting, mut met) = (Vec::new(), None);
            for rule in fitting {
                if rule.nth.is_some_and(|nth| nth > 1) {
                    waiting.push(rule.id);
                } else if self.falls(rule) {
                    met = Some(rule);
                    break;
                }
            }
            let spent = met.filter(|rule| rule.calls.is_some()).map(|rule| rule.id);
            let event = match (waiting.is_empty(), spent) {
                (false, met) => Some(Event::Counted { waiting, met }),
                (true, spent) => spent.map(Event::Met),
            };
            Ok((event, met.map(|rule| rule.trouble.clone())))
        })
    }

    /// Ends every token of the issuer.
    async fn expire_tokens(&self) {
        let Some(issuer) = self.issuer.clone() else { return };
        // A key is made for it, which takes a while.
        let done = tokio::task::spawn_blocking(move || issuer.expire_tokens()).await;
        if !matches!(done, Ok(Ok(()))) {
            tracing::error!("the tokens cannot be made to end");
        }
    }

    /// A token that opens every system.
    fn good_token(&self) -> Option<String> {
        let issuer = self.issuer.as_ref()?;
        let scopes = SCOPES.map(str::to_owned);
        issuer.sign(&issuer.claims("landscape", "landscape", &scopes, &[])).ok()
    }

    fn falls(&self, rule: &Rule) -> bool {
        rule.probability.is_none_or(|share| self.dice().f64() < share)
    }

    fn between(&self, from_ms: u64, to_ms: u64) -> Duration {
        Duration::from_millis(self.dice().u64(from_ms..=to_ms.max(from_ms)))
    }

    fn dice(&self) -> MutexGuard<'_, Rng> {
        self.dice.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
