//! Which calls meet which trouble, and until when.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Kind;
use crate::store::State;

/// One piece of trouble.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its number; given when it is added.
    #[serde(default)]
    pub id: u64,
    /// Of this system only.
    #[serde(default)]
    pub system: Option<String>,
    /// With this method only.
    #[serde(default)]
    pub method: Option<String>,
    /// With a path that begins like this only.
    #[serde(default)]
    pub path: Option<String>,
    /// How likely a call meets it; every call does if it is not given.
    #[serde(default)]
    pub probability: Option<f64>,
    /// How many more calls meet it.
    #[serde(default)]
    pub calls: Option<u64>,
    /// When it ends.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// What happens.
    pub trouble: Kind,
}

/// Trouble that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Nonsense {
    /// It would never end.
    #[error("trouble needs an end: a number of calls or a time")]
    Endless,
    /// The probability is not one.
    #[error("a probability lies above 0 and not above 1")]
    Probability,
    /// The status is not an error's.
    #[error("a status of trouble lies between 400 and 599")]
    Status,
}

impl Rule {
    /// Trouble that the next `calls` calls meet, whatever they call.
    pub fn next(calls: u64, trouble: Kind) -> Self {
        Self {
            id: 0,
            system: None,
            method: None,
            path: None,
            probability: None,
            calls: Some(calls),
            until: None,
            trouble,
        }
    }

    /// Only for calls of this system.
    pub fn of(mut self, system: &str) -> Self {
        self.system = Some(system.into());
        self
    }

    /// Only for calls with this method and a path that begins like this.
    pub fn on(mut self, method: &str, path: &str) -> Self {
        (self.method, self.path) = (Some(method.into()), Some(path.into()));
        self
    }

    /// Only for this share of the calls.
    pub fn for_a_share(mut self, probability: f64) -> Self {
        self.probability = Some(probability);
        self
    }

    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), Nonsense> {
        if self.calls.is_none() && self.until.is_none() {
            return Err(Nonsense::Endless);
        }
        if self.probability.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
            return Err(Nonsense::Probability);
        }
        match self.trouble {
            Kind::Status { status, .. } | Kind::LostAnswer { status: Some(status) }
                if !(400..600).contains(&status) =>
            {
                Err(Nonsense::Status)
            }
            _ => Ok(()),
        }
    }

    /// Whether it has not ended.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.calls != Some(0) && self.until.is_none_or(|until| now < until)
    }

    /// Whether a call is among those that may meet it.
    pub fn fits(&self, system: &str, method: &str, path: &str) -> bool {
        self.system.as_deref().is_none_or(|wanted| wanted == system)
            && self.method.as_deref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(method))
            && self.path.as_deref().is_none_or(|prefix| path.starts_with(prefix))
    }
}

/// All rules, in the order in which they were added.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Rules {
    pub(super) added: u64,
    pub(super) rules: Vec<Rule>,
}

/// A change of the rules.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Event {
    Added(Rule),
    Removed(u64),
    Met(u64),
}

impl State for Rules {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::Added(rule) => {
                self.added = rule.id;
                self.rules.push(rule);
            }
            Event::Removed(id) => self.rules.retain(|rule| rule.id != id),
            Event::Met(id) => {
                let rule = self.rules.iter_mut().find(|rule| rule.id == id);
                if let Some(calls) = rule.and_then(|rule| rule.calls.as_mut()) {
                    *calls = calls.saturating_sub(1);
                }
                self.rules.retain(|rule| rule.calls != Some(0));
            }
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::Added(Rule { id, .. }) | Event::Removed(id) | Event::Met(id) => {
                format!("trouble/{id}")
            }
        }
    }
}
