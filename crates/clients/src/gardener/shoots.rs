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
        self.shoots.apply(name, &self.owner, fields).await.map_err(admission)
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
                return Err(admission(error));
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

    /// Writes a Shoot as it was read and then changed; fails with [`Kind::Changed`] when somebody else
    /// wrote it in between.
    pub async fn replace(&self, shoot: &Shoot) -> Result<Shoot, Error> {
        self.shoots.replace(shoot.name(), shoot).await.map_err(admission)
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
        let Some(shoot) = self.shoots.find(name).await? else { return Ok(Deletion::Gone) };
        if uid.is_some() && shoot.metadata.uid.as_deref() != uid {
            return Ok(Deletion::Gone);
        }
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

/// Tells an admission's 403, which is about the request, from that of the authorisation, which is about us.
/// Both have the same status and the same reason; only their texts differ.
fn admission(error: Error) -> Error {
    let said = error.said.as_deref().unwrap_or_default();
    if error.kind != Kind::Unauthorized || !is_refusal(said) {
        return error;
    }
    let kind = if is_passing(said) { Kind::Unavailable } else { Kind::Refused { status: 403 } };
    Error { kind, ..error }
}

/// Whether a text is that of an admission. RBAC says `… is forbidden: User "…" cannot …`; a 401 has neither text.
fn is_refusal(said: &str) -> bool {
    let by_webhook = said.starts_with("admission webhook ") && said.contains("denied the request");
    let by_quota = said.contains("quota limits exceeded");
    match said.split_once("forbidden: ") {
        Some((_, why)) => !(why.starts_with("User ") && why.contains(" cannot ")),
        None => by_webhook || by_quota,
    }
}

/// What admissions refuse only for a moment: they have not read what they decide by.
fn is_passing(said: &str) -> bool {
    let texts = ["not yet ready to handle request", "because it is being terminated"];
    texts.iter().any(|text| said.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(said: &str) -> Kind {
        admission(Error::new(Component::GARDENER, Kind::Unauthorized, "trying").saying(said)).kind
    }

    #[test]
    fn what_an_admission_refuses_is_final_and_what_rbac_refuses_is_not() {
        let refused = [
            r#"shoots.core.gardener.cloud "c-1" is forbidden: spec.secretBindingName: secretbinding "garden-kyma/nope" not found"#,
            r#"shoots.core.gardener.cloud "c-1" is forbidden: secretbinding.core.gardener.cloud "nope" not found"#,
            r#"shoots.core.gardener.cloud "c-1" is forbidden: [spec.provider.workers[0].machine.type: Unsupported value: "x"]"#,
            r#"admission webhook "validator.admission-aws.extensions.gardener.cloud" denied the request: networks.vpc"#,
            "quota limits exceeded. Unable to allocate further cpu",
            // As Gardener 1.65 and 1.117 write them.
            r#"shoots.core.gardener.cloud "eh02" is forbidden: [spec.provider.workers[0].machine.type: Unsupported value: "x.large": supported values: "m5.large"]"#,
            r#"shoots.core.gardener.cloud "eh02" is forbidden: spec.provider.workers[0].machine.type: Unsupported value: "x.large": supported values: "m5.large""#,
            r#"shoots.core.gardener.cloud "c-1" is forbidden: failed to resolve structured authentication config map reference: configmaps "nope" not found"#,
            r#"shoots.core.gardener.cloud "c-1" is forbidden: given Shoot uses non-registered extension type: spec.extensions[0].type ("foo")"#,
            r#"shoots.core.gardener.cloud "c-1" is forbidden: spec.seedName cannot be changed by patching the shoot, please use the shoots/binding subresource"#,
            r#"shoots.core.gardener.cloud "c-1" is forbidden: quota limits exceeded. Unable to allocate further cpu"#,
            r#"admission webhook "validator.provider-aws.example" denied the request: [networks.zones: Required value] is forbidden: User input"#,
        ];
        let credentials = [
            r#"shoots.core.gardener.cloud "c-1" is forbidden: User "system:serviceaccount:garden-kyma:kcp" cannot patch resource "shoots""#,
            r#"forbidden: User "kcp" cannot get path "/version""#,
            "",
            "Forbidden",
        ];
        let passing =
            [r#"shoots.core.gardener.cloud "c-1" is forbidden: not yet ready to handle request"#];

        for said in refused {
            assert_eq!(kind(said), Kind::Refused { status: 403 }, "{said}");
        }
        for said in credentials {
            assert_eq!(kind(said), Kind::Unauthorized, "{said}");
        }
        for said in passing {
            assert_eq!(kind(said), Kind::Unavailable, "{said}");
        }
    }
}
