//! Tells an admission's 403, which is about the request, from that of the authorisation, which is about us.
//!
//! What a reader would get wrong: both have the same status and the same reason; only their texts differ. This holds for
//! writes of all kinds of objects; reads have no admission.

use crate::error::{Error, Kind};

/// The same failure, with the kind that its text says.
pub(super) fn classified(error: Error) -> Error {
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

/// Refusals of admissions that pass: their caches are not filled yet.
fn is_passing(said: &str) -> bool {
    let texts = ["not yet ready to handle request", "because it is being terminated"];
    texts.iter().any(|text| said.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Component;

    fn kind(said: &str) -> Kind {
        classified(Error::new(Component::GARDENER, Kind::Unauthorized, "trying").saying(said)).kind
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
