//! Whether a Shoot is the runtime's own.
//!
//! What a reader would get wrong: a name alone says nothing, because it is free again once a Shoot is gone, and
//! annotations can be edited. The uid that Gardener gave at creation decides. Only where none is stored, as for
//! runtimes of older programs, do the annotations, and then the uid is kept.

use base::Failure;
use clients::{
    error::{Component, Error as ClientError},
    gardener::{RUNTIME_ANNOTATION, Shoot},
};
use engine::{Cx, StepError};
use uuid::Uuid;

use super::{Env, OnRuntime, as_step_error};
use crate::shoots::LEGACY_RUNTIME_ANNOTATION;

/// The object under the name of a runtime's Shoot.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// Nothing.
    Missing,
    /// The runtime's own Shoot.
    Own(Box<Shoot>),
    /// Another one: nothing of it may be read or written for this runtime.
    Foreign(ForeignShoot),
}

/// A Shoot that has the name of a runtime's Shoot and is another one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ForeignShoot {
    name: String,
    /// The other thing that is known of it.
    claim: Claim,
}

/// What a Shoot that is not known as a runtime's own says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// It is another runtime's, or has another uid than the stored one.
    Other,
    /// It has another uid than the stored one, and names the runtime all the same.
    Named,
    /// No uid is stored, and it names no runtime: nobody can tell.
    Unmarked,
}

impl ForeignShoot {
    /// Why it is left alone, for people.
    pub(crate) fn text(&self) -> String {
        let name = &self.name;
        let not = format!("the Shoot {name} is not the one that was made for this runtime");
        match self.claim {
            Claim::Other => not,
            Claim::Named => format!("{not}, although it names the runtime"),
            Claim::Unmarked => format!(
                "nothing tells whether the Shoot {name} was made for this runtime: no uid is stored, and its annotation \
                 {RUNTIME_ANNOTATION} is gone; annotate it with the id of the runtime that it belongs to"
            ),
        }
    }

    /// Whether it may be the runtime's all the same: then a removal must not forget it.
    fn is_doubtful(&self) -> bool {
        self.claim != Claim::Other
    }

    fn failure(&self) -> StepError {
        StepError::fatal(Failure::new(Component::GARDENER.0, "ForeignShoot", self.text()))
    }
}

/// Why a Shoot cannot be found, for people.
pub(crate) fn gone(name: &str) -> String {
    format!("the Shoot {name} is gone: deleted by another client")
}

impl Lookup {
    /// Compares a Shoot with the one that was made for the runtime, by uid.
    fn of(found: Option<Shoot>, runtime: Uuid, uid: Option<&str>) -> Self {
        let Some(shoot) = found else { return Self::Missing };
        let runtime = runtime.to_string();
        let keys = [RUNTIME_ANNOTATION, LEGACY_RUNTIME_ANNOTATION];
        let marks: Vec<&str> = keys.into_iter().filter_map(|key| shoot.annotation(key)).collect();
        let named = marks.contains(&runtime.as_str());
        let own = match uid {
            Some(uid) => shoot.metadata.uid.as_deref() == Some(uid),
            None => named,
        };
        if own {
            return Self::Own(Box::new(shoot));
        }
        let claim = match uid {
            Some(_) if named => Claim::Named,
            None if marks.iter().all(|mark| mark.is_empty()) => Claim::Unmarked,
            _ => Claim::Other,
        };
        Self::Foreign(ForeignShoot { name: shoot.name().to_owned(), claim })
    }
}

impl Env {
    /// Looks for the Shoot called `name` that was made for a runtime; `uid` is the stored one.
    pub(crate) async fn look_up(
        &self,
        runtime: Uuid,
        name: &str,
        uid: Option<&str>,
    ) -> Result<Lookup, ClientError> {
        let lookup = Lookup::of(self.gardener.shoot(name).await?, runtime, uid);
        if uid.is_none()
            && let Lookup::Own(shoot) = &lookup
            && let Some(uid) = &shoot.metadata.uid
            && let Err(error) = self.store.keep_shoot_uid(runtime, uid).await
        {
            let error = base::failure::chain(&error);
            tracing::warn!(runtime.id = %runtime, error, "the uid of a Shoot is not stored");
        }
        Ok(lookup)
    }
}

/// Looks up the object under the name of the operation's Shoot.
pub(super) async fn look_up<O: OnRuntime>(cx: &Cx<'_, O>) -> Result<Lookup, StepError> {
    let target = &cx.input.target;
    let uid = cx.env.store.shoot_uid(target.runtime).await;
    let uid = uid.map_err(|error| StepError::internal(&error))?;
    cx.env.look_up(target.runtime, &target.shoot, uid.as_deref()).await.map_err(as_step_error)
}

/// The operation's Shoot, if it is there and this runtime's.
pub(super) async fn shoot<O: OnRuntime>(cx: &Cx<'_, O>) -> Result<Option<Shoot>, StepError> {
    Ok(match look_up(cx).await? {
        Lookup::Own(shoot) => Some(*shoot),
        Lookup::Missing | Lookup::Foreign(_) => None,
    })
}

/// The same for a removal, which must not forget a Shoot that may be the runtime's.
pub(super) async fn shoot_to_remove<O: OnRuntime>(
    cx: &Cx<'_, O>,
) -> Result<Option<Shoot>, StepError> {
    match look_up(cx).await? {
        Lookup::Own(shoot) => Ok(Some(*shoot)),
        Lookup::Foreign(foreign) if foreign.is_doubtful() => Err(foreign.failure()),
        Lookup::Missing | Lookup::Foreign(_) => Ok(None),
    }
}

/// The operation's Shoot, without which it cannot succeed.
pub(super) async fn needed_shoot<O: OnRuntime>(cx: &Cx<'_, O>) -> Result<Shoot, StepError> {
    let shoot = own(look_up(cx).await?, &cx.input.target.shoot)?;
    if shoot.is_going() {
        let name = shoot.name();
        let text = format!("the Shoot {name} is being deleted: deleted by another client");
        return Err(StepError::fatal(Failure::new(Component::GARDENER.0, "Deleted", text)));
    }
    Ok(shoot)
}

/// The runtime's own Shoot, or why there is none.
pub(super) fn own(lookup: Lookup, name: &str) -> Result<Shoot, StepError> {
    match lookup {
        Lookup::Own(shoot) => Ok(*shoot),
        Lookup::Foreign(foreign) => Err(foreign.failure()),
        Lookup::Missing => {
            Err(StepError::fatal(Failure::new(Component::GARDENER.0, "NotFound", gone(name))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const RUNTIME: Uuid = Uuid::from_u128(7);

    fn shoot(uid: &str, annotation: Option<(&str, Uuid)>) -> Shoot {
        let annotations = annotation.map(|(key, id)| json!({key: id.to_string()}));
        serde_json::from_value(json!({
            "metadata": {"name": "c-1", "uid": uid, "annotations": annotations},
            "spec": {},
        }))
        .unwrap()
    }

    #[test]
    fn the_uid_decides_and_where_there_is_none_the_annotations_do() {
        let other = Uuid::from_u128(8);
        let named = Some((RUNTIME_ANNOTATION, RUNTIME));
        let table = [
            (Some("u-1"), shoot("u-1", named), "own"),
            (Some("u-1"), shoot("u-1", None), "own"),
            (Some("u-1"), shoot("u-1", Some((RUNTIME_ANNOTATION, other))), "own"),
            (Some("u-1"), shoot("u-2", named), "names the runtime"),
            (Some("u-1"), shoot("u-2", None), "foreign"),
            (None, shoot("u-1", named), "own"),
            (None, shoot("u-1", Some((LEGACY_RUNTIME_ANNOTATION, RUNTIME))), "own"),
            (None, shoot("u-1", Some((RUNTIME_ANNOTATION, other))), "foreign"),
            (None, shoot("u-1", None), "nobody can tell"),
            (None, shoot("u-1", Some(("another", RUNTIME))), "nobody can tell"),
        ];

        for (uid, shoot, expected) in table {
            let found = match Lookup::of(Some(shoot.clone()), RUNTIME, uid) {
                Lookup::Own(_) => "own",
                Lookup::Foreign(foreign) => match foreign.claim {
                    Claim::Other => "foreign",
                    Claim::Named => "names the runtime",
                    Claim::Unmarked => "nobody can tell",
                },
                Lookup::Missing => "missing",
            };
            assert_eq!(found, expected, "{uid:?} {shoot:?}");
        }
        assert!(matches!(Lookup::of(None, RUNTIME, Some("u-1")), Lookup::Missing));
    }
}
