//! Shoots: made once, changed field by field, deleted on purpose.

use serde::Serialize;
use serde_json::{Value, json};

use super::{CONFIRMATION_ANNOTATION, Gardener, RUNTIME_ANNOTATION, Shoot};
use crate::error::{Error, Kind};

/// How Gardener words a refusal that no other try can change; it has no code for it.
const QUOTA: &str = "quota limits exceeded";

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
        let there = match self.shoots.create(shoot.name(), shoot).await {
            Err(error) if error.kind == Kind::AlreadyExists => error,
            made => return made.map_err(final_when_over_quota),
        };
        let found = self.shoots.find(shoot.name()).await?;
        let mine = shoot.annotation(RUNTIME_ANNOTATION);
        match found {
            // It went between the two calls: the next run makes it.
            None => Err(Error { kind: Kind::Changed, ..there }),
            Some(found) if found.is_going() => Err(there.saying("it is being deleted")),
            Some(found) if mine.is_some() && found.annotation(RUNTIME_ANNOTATION) == mine => {
                Ok(found)
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

    /// Makes these fields ours and gives them these values. What we had and do not name any more goes;
    /// what others own stays.
    pub async fn apply(&self, name: &str, fields: &impl Serialize) -> Result<Shoot, Error> {
        self.shoots.apply(name, &self.owner, fields).await.map_err(final_when_over_quota)
    }

    /// Changes single fields; null removes one.
    pub async fn merge(&self, name: &str, patch: &Value) -> Result<Shoot, Error> {
        self.shoots.merge(name, patch).await.map_err(final_when_over_quota)
    }

    /// Writes a Shoot as it was read and then changed; fails with [`Kind::Changed`] when somebody else
    /// wrote it in between.
    pub async fn replace(&self, shoot: &Shoot) -> Result<Shoot, Error> {
        self.shoots.replace(shoot.name(), shoot).await.map_err(final_when_over_quota)
    }

    /// Lets a Shoot sleep or wake up.
    pub async fn hibernate(&self, name: &str, enabled: bool) -> Result<Shoot, Error> {
        self.merge(name, &json!({"spec": {"hibernation": {"enabled": enabled}}})).await
    }

    /// Begins to delete a Shoot, after confirming that this is meant. Repeating it changes nothing.
    pub async fn delete(&self, name: &str) -> Result<Deletion, Error> {
        let Some(shoot) = self.shoots.find(name).await? else { return Ok(Deletion::Gone) };
        if shoot.is_going() {
            return Ok(Deletion::Going);
        }
        if shoot.annotation(CONFIRMATION_ANNOTATION) != Some("true") {
            let confirmed = json!({"metadata": {"annotations": {CONFIRMATION_ANNOTATION: "true"}}});
            match self.shoots.merge(name, &confirmed).await {
                Err(error) if error.kind == Kind::NotFound => return Ok(Deletion::Gone),
                confirmed => confirmed?,
            };
        }
        // By its uid: another Shoot may have taken the name meanwhile.
        let was_there = self.shoots.delete(name, shoot.metadata.uid.as_deref()).await?;
        Ok(if was_there { Deletion::Going } else { Deletion::Gone })
    }
}

fn final_when_over_quota(error: Error) -> Error {
    let over = error.said.as_deref().is_some_and(|said| said.contains(QUOTA));
    if over && error.kind == Kind::Unauthorized {
        return Error { kind: Kind::Refused { status: 403 }, ..error };
    }
    error
}
