//! Shoots: made once, changed field by field, deleted on purpose.

use serde::Serialize;
use serde_json::{Value, json};

use super::{CONFIRMATION_ANNOTATION, Gardener, RUNTIME_ANNOTATION, Shoot, returned};
use crate::error::{Component, Error, Kind};

/// How far a deletion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// Gardener is at it.
    Going,
    /// There is no such Shoot.
    Gone,
}

impl Gardener {
    /// Makes a Shoot, or finds the one that an earlier run made: it has the same runtime's annotation.
    pub async fn create(&self, shoot: &Shoot) -> Result<Shoot, Error> {
        let doing = format!("creating Shoot {}", shoot.name());
        let sent = serde_json::to_value(&shoot.spec).unwrap_or_default();
        let there = match self.shoots.create_warned(shoot.name(), shoot).await {
            Err(error) if error.kind == Kind::AlreadyExists => error,
            made => return self.kept(&sent, made, &doing),
        };
        let found = self.shoots.find(shoot.name()).await?;
        let mine = shoot.annotation(RUNTIME_ANNOTATION);
        match found {
            // It went between the two calls: the next run makes it.
            None => Err(Error { kind: Kind::Changed, ..there }),
            Some(found) if found.is_going() => Err(there.saying("it is being deleted")),
            Some(found) if mine.is_some() && found.annotation(RUNTIME_ANNOTATION) == mine => {
                self.kept(&sent, Ok((found, Vec::new())), &doing)
            }
            Some(_) => Err(there.saying("it belongs to another runtime")),
        }
    }

    /// The Shoot, if there is one.
    pub async fn shoot(&self, name: &str) -> Result<Option<Shoot>, Error> {
        self.shoots.find(name).await
    }

    /// All Shoots with matching labels; an empty selector matches all.
    pub async fn shoots(&self, selector: &str) -> Result<Vec<Shoot>, Error> {
        self.shoots.list(selector).await
    }

    /// Hands over each Shoot with matching labels; one page of them at a time is in memory.
    pub async fn each_shoot(
        &self,
        selector: &str,
        take: impl FnMut(Shoot) + Send,
    ) -> Result<(), Error> {
        self.shoots.each(selector, take).await
    }

    /// Makes these fields ours and gives them these values. What we had and do not name any more goes;
    /// what others own stays.
    pub async fn apply(&self, name: &str, fields: &impl Serialize) -> Result<Shoot, Error> {
        self.shoots.apply(name, &self.owner, fields).await
    }

    /// Changes single fields; null removes one.
    pub async fn merge(&self, name: &str, patch: &Value) -> Result<Shoot, Error> {
        let doing = format!("changing Shoot {name}");
        let sent = patch.get("spec").cloned().unwrap_or_default();
        let changed = self.shoots.merge_warned(name, patch).await;
        self.kept(&sent, changed, &doing)
    }

    /// The Shoot that Gardener answered with and what it warned of, provided that it has every field that was sent. What
    /// shows that the garden is not what it was has its description read again.
    fn kept(
        &self,
        sent: &Value,
        written: Result<(Shoot, Vec<String>), Error>,
        doing: &str,
    ) -> Result<Shoot, Error> {
        let (mut shoot, warnings) = match written {
            Ok(written) => written,
            Err(error) => {
                if matches!(error.kind, Kind::Refused { .. }) {
                    self.forget_features();
                }
                return Err(error);
            }
        };
        let answered = serde_json::to_value(&shoot.spec).unwrap_or_default();
        let missing = returned::missing(sent, &answered, "spec");
        if !missing.is_empty() || warnings.iter().any(|text| text.starts_with("unknown field")) {
            self.forget_features();
        }
        if !missing.is_empty() {
            let error = Error::new(Component::GARDENER, Kind::Dropped, doing);
            return Err(error.saying(format!("it did not keep {}", missing.join(", "))));
        }
        shoot.warnings = warnings;
        Ok(shoot)
    }

    /// Writes a Shoot as it was read and then changed; fails with [`Kind::Changed`] when another client
    /// wrote it in between.
    pub async fn replace(&self, shoot: &Shoot) -> Result<Shoot, Error> {
        self.shoots.replace(shoot.name(), shoot).await
    }

    /// Lets a Shoot sleep or wake up.
    pub async fn hibernate(&self, name: &str, enabled: bool) -> Result<Shoot, Error> {
        self.merge(name, &json!({"spec": {"hibernation": {"enabled": enabled}}})).await
    }

    /// Begins to delete a Shoot, after confirming that this is meant. Repeating it changes nothing.
    pub async fn delete(&self, name: &str) -> Result<Deletion, Error> {
        self.delete_exactly(name, None).await
    }

    /// The same for the Shoot with this uid; another one of the same name is left alone.
    pub async fn delete_exactly(&self, name: &str, uid: Option<&str>) -> Result<Deletion, Error> {
        Ok(self.delete_warned(name, uid).await?.0)
    }

    /// The same, with what Gardener warned of.
    pub async fn delete_warned(
        &self,
        name: &str,
        uid: Option<&str>,
    ) -> Result<(Deletion, Vec<String>), Error> {
        let gone = || Ok((Deletion::Gone, Vec::new()));
        let Some(shoot) = self.shoots.find(name).await? else { return gone() };
        if uid.is_some() && shoot.metadata.uid.as_deref() != uid {
            return gone();
        }
        if shoot.is_going() {
            return Ok((Deletion::Going, Vec::new()));
        }
        let mut warnings = Vec::new();
        if shoot.annotation(CONFIRMATION_ANNOTATION) != Some("true") {
            let confirmed = json!({"metadata": {"annotations": {CONFIRMATION_ANNOTATION: "true"}}});
            match self.shoots.merge_warned(name, &confirmed).await {
                Err(error) if error.kind == Kind::NotFound => return gone(),
                confirmed => warnings = confirmed?.1,
            }
        }
        // By its uid: another Shoot may have taken the name meanwhile.
        let uid = shoot.metadata.uid.as_deref();
        let deleted = self.shoots.delete_warned(name, uid).await;
        let (was_there, more) = deleted.map_err(unless_confirmed)?;
        warnings.extend(more);
        Ok((if was_there { Deletion::Going } else { Deletion::Gone }, warnings))
    }
}

/// A deletion that Gardener refuses for want of the confirmation: another client took it back, and the next try confirms again.
fn unless_confirmed(error: Error) -> Error {
    let said = error.said.as_deref().unwrap_or_default();
    if error.kind == (Kind::Refused { status: 403 }) && said.contains("confirm") {
        return Error { kind: Kind::Changed, ..error };
    }
    error
}
