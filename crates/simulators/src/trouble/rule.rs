//! Which calls meet which trouble, and until when.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Incoming, Kind};
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
    /// With a path that begins like this only; `*` stands for anything, `$` at the end for the end,
    /// and with a `?` the query counts too.
    #[serde(default)]
    pub path: Option<String>,
    /// With this text in the body only.
    #[serde(default)]
    pub body: Option<String>,
    /// From this step of an operation only.
    #[serde(default)]
    pub step: Option<String>,
    /// The number, among the calls that fit, of the first one that meets it; counts down.
    #[serde(default)]
    pub nth: Option<u64>,
    /// How likely a call meets it; every call does if it is not given.
    #[serde(default)]
    pub probability: Option<f64>,
    /// How many more calls meet it.
    #[serde(default)]
    pub calls: Option<u64>,
    /// When it begins; at once if it is not given.
    #[serde(default)]
    pub from: Option<Timestamp>,
    /// When it ends.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// It comes and goes: there for so long, gone for so long, and so on.
    #[serde(default)]
    pub flap_ms: Option<u64>,
    /// The kind of trouble.
    pub trouble: Kind,
}

/// Trouble that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// It would never end.
    #[error("trouble needs an end: a number of calls or a time")]
    Endless,
    /// The probability is not one.
    #[error("a probability lies above 0 and not above 1")]
    Probability,
    /// The status is none that trouble has.
    #[error(
        "a status of trouble lies between 400 and 599, or from 200 on for a gateway's own answer"
    )]
    Status,
    /// Calls are counted from one.
    #[error("calls are counted from 1")]
    Nth,
    /// It would end before it begins.
    #[error("after_seconds must be less than seconds")]
    Backwards,
    /// A time that is none.
    #[error("a period or a delay is longer than nothing and has its ends in order")]
    Period,
}

impl Rule {
    /// Trouble that the next `calls` calls meet, whatever they call.
    pub fn next(calls: u64, trouble: Kind) -> Self {
        Self {
            id: 0,
            system: None,
            method: None,
            path: None,
            body: None,
            step: None,
            nth: None,
            probability: None,
            calls: Some(calls),
            from: None,
            until: None,
            flap_ms: None,
            trouble,
        }
    }

    /// Only for calls of this system.
    pub fn of(mut self, system: &str) -> Self {
        self.system = Some(system.into());
        self
    }

    /// Trouble that every call meets until a time.
    pub fn until(until: Timestamp, trouble: Kind) -> Self {
        Self { calls: None, until: Some(until), ..Self::next(0, trouble) }
    }

    /// Only for calls with this method and a path that begins like this.
    pub fn on(mut self, method: &str, path: &str) -> Self {
        (self.method, self.path) = (Some(method.into()), Some(path.into()));
        self
    }

    /// Only for calls with this text in their body.
    pub fn holding(mut self, text: &str) -> Self {
        self.body = Some(text.into());
        self
    }

    /// Only for calls from this step of an operation.
    pub fn from_step(mut self, step: &str) -> Self {
        self.step = Some(step.into());
        self
    }

    /// Not before the `nth` call that fits, counted from one.
    pub fn from_call(mut self, nth: u64) -> Self {
        self.nth = Some(nth);
        self
    }

    /// There for `period`, gone for `period`, and so on.
    pub fn flapping(mut self, period: Duration) -> Self {
        self.flap_ms = Some(u64::try_from(period.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Only for this share of the calls.
    pub fn for_a_share(mut self, probability: f64) -> Self {
        self.probability = Some(probability);
        self
    }

    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), RuleError> {
        if self.calls.is_none() && self.until.is_none() {
            return Err(RuleError::Endless);
        }
        if self.probability.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
            return Err(RuleError::Probability);
        }
        // A proxy may well answer 200 with a page of its own, or send callers elsewhere.
        let least = if matches!(self.trouble, Kind::Status { .. }) { 200 } else { 400 };
        if self.trouble.status().is_some_and(|status| !(least..600).contains(&status)) {
            return Err(RuleError::Status);
        }
        if self.nth == Some(0) {
            return Err(RuleError::Nth);
        }
        if self.from.zip(self.until).is_some_and(|(from, until)| until <= from) {
            return Err(RuleError::Backwards);
        }
        let uneven = matches!(self.trouble, Kind::Uneven { from_ms, to_ms } if to_ms < from_ms);
        if uneven || self.flap_ms == Some(0) {
            return Err(RuleError::Period);
        }
        Ok(())
    }

    /// The same with what goes without saying.
    pub(super) fn completed(mut self, now: Timestamp) -> Self {
        // The n-th call is one call.
        if self.nth.is_some() && self.calls.is_none() && self.until.is_none() {
            self.calls = Some(1);
        }
        // What comes and goes needs a beginning to count from.
        if self.flap_ms.is_some() && self.from.is_none() {
            self.from = Some(now);
        }
        self
    }

    /// Whether it has not ended.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.calls != Some(0) && self.until.is_none_or(|until| now < until)
    }

    /// Whether calls can meet it right now: it has begun, has not ended, and is not gone for a while.
    pub fn is_on(&self, now: Timestamp) -> bool {
        let Some(from) = self.from else { return self.is_active(now) };
        let Ok(since) = Duration::try_from(now.duration_since(from)) else { return false };
        let there = |period: u64| (since.as_millis() / u128::from(period.max(1))).is_multiple_of(2);
        self.is_active(now) && self.flap_ms.is_none_or(there)
    }

    /// Whether every call of its system meets it right now.
    pub fn is_for_all(&self, now: Timestamp) -> bool {
        let some = [&self.method, &self.path, &self.body, &self.step].iter().any(|it| it.is_some());
        let waits = self.nth.is_some_and(|nth| nth > 1);
        self.is_on(now) && self.probability.is_none() && !some && !waits
    }

    /// Whether a call is among those that may meet it.
    pub fn fits(&self, call: &Incoming<'_>) -> bool {
        self.system.as_deref().is_none_or(|wanted| wanted == call.system)
            && self.method.as_deref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(call.method))
            && self.path.as_deref().is_none_or(|pattern| call.is_at(pattern))
            && self.body.as_deref().is_none_or(|text| call.holds(text))
            && self.step.as_deref().is_none_or(|wanted| call.step == Some(wanted))
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
    Added(Box<Rule>),
    Removed(u64),
    Met(u64),
    /// A call that some rules only count, and that another one may have met.
    Counted {
        waiting: Vec<u64>,
        met: Option<u64>,
    },
}

impl State for Rules {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::Added(rule) => {
                self.added = rule.id;
                self.rules.push(*rule);
            }
            Event::Removed(id) => self.rules.retain(|rule| rule.id != id),
            Event::Met(id) => self.spend(id),
            Event::Counted { waiting, met } => {
                for rule in self.rules.iter_mut().filter(|rule| waiting.contains(&rule.id)) {
                    rule.nth = rule.nth.map(|nth| nth.saturating_sub(1));
                }
                if let Some(id) = met {
                    self.spend(id);
                }
            }
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::Added(rule) => format!("trouble/{}", rule.id),
            Event::Removed(id) | Event::Met(id) => format!("trouble/{id}"),
            Event::Counted { .. } => "trouble".into(),
        }
    }
}

impl Rules {
    fn spend(&mut self, id: u64) {
        let rule = self.rules.iter_mut().find(|rule| rule.id == id);
        if let Some(calls) = rule.and_then(|rule| rule.calls.as_mut()) {
            *calls = calls.saturating_sub(1);
        }
        self.rules.retain(|rule| rule.calls != Some(0));
    }
}
