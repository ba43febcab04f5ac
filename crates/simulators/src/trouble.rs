//! Switches for trouble: what a call meets on its way to a simulator and back.
//!
//! What a reader would get wrong: the first rule that fits and whose dice fall decides. Rules do not
//! add up, so the order in which they were added matters.

mod cut;
mod kind;
mod layer;
mod rule;

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use base::Clock;
use fastrand::Rng;

use crate::store::{Error, Store};
use rule::{Event, Rules};

pub use kind::{Cut, Kind};
pub(crate) use layer::around;
pub use rule::{Nonsense, Rule};

/// All trouble of a landscape.
#[derive(Debug)]
pub struct Troubles {
    rules: Store<Rules>,
    dice: Mutex<Rng>,
    clock: Clock,
}

/// Trouble that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It makes no sense.
    #[error(transparent)]
    Nonsense(#[from] Nonsense),
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] Error),
}

impl Troubles {
    /// The trouble kept in `path`; the same `seed` throws the same dice.
    pub fn open(path: &Path, seed: u64, clock: Clock) -> Result<Self, Error> {
        let dice = Mutex::new(Rng::with_seed(seed));
        Ok(Self { rules: Store::open(path)?, dice, clock })
    }

    /// Adds a rule behind the others; comes back with its number.
    pub fn add(&self, mut rule: Rule) -> Result<Rule, Refused> {
        rule.check()?;
        self.rules.change(|rules| {
            rule.id = rules.added + 1;
            Ok((Some(Event::Added(rule.clone())), rule))
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

    /// What a call meets.
    pub(crate) fn meet(
        &self,
        system: &str,
        method: &str,
        path: &str,
    ) -> Result<Option<Kind>, Error> {
        let now = self.clock.now();
        self.rules.change(|rules| {
            let met = rules.rules.iter().find(|rule| {
                rule.is_active(now) && rule.fits(system, method, path) && self.falls(rule)
            });
            let spent = met.filter(|rule| rule.calls.is_some());
            Ok((spent.map(|rule| Event::Met(rule.id)), met.map(|rule| rule.trouble.clone())))
        })
    }

    fn falls(&self, rule: &Rule) -> bool {
        let Some(share) = rule.probability else { return true };
        self.dice.lock().unwrap_or_else(PoisonError::into_inner).f64() < share
    }
}
