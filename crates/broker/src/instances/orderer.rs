//! The orderer: the `context` of an order or an update.

use serde_json::Value;

use super::{
    Error,
    requests::{label, storable},
};
use crate::{Context, ContextChange};

const DOING: &str = "while extracting ers context";
/// The longest text in a context.
const LONGEST: usize = 4_096;

/// Reads the context of an order. What it says is not repeated in errors: it may be a credential.
pub(super) fn read(context: Option<&Value>) -> Result<Context, Error> {
    let Some(context) = context.filter(|context| !context.is_null()) else {
        return Err(bad("while decoding context: unexpected end of JSON input"));
    };
    let mut context = decoded(context)?;
    for (name, value) in [
        ("global accountID", &context.globalaccount_id),
        ("subAccountID", &context.subaccount_id),
        ("UserID", &context.user_id),
    ] {
        if value.is_empty() {
            return Err(bad(&format!("{name} parameter cannot be empty")));
        }
    }
    label("context.globalaccount_id", &context.globalaccount_id)?;
    label("context.subaccount_id", &context.subaccount_id)?;
    storable("context.user_id", &context.user_id)?;
    bounded(&context)?;
    context.user_id = context.user_id.to_lowercase();
    Ok(context)
}

/// Reads the context of a change: every field may be missing.
pub(super) fn read_change(context: Option<&Value>) -> Result<ContextChange, Error> {
    let Some(context) = context.filter(|context| !context.is_null()) else {
        return Ok(ContextChange::default());
    };
    let said = decoded(context)?;
    bounded(&said)?;
    if !said.globalaccount_id.is_empty() {
        label("context.globalaccount_id", &said.globalaccount_id)?;
    }
    Ok(ContextChange {
        globalaccount_id: Some(said.globalaccount_id).filter(|account| !account.is_empty()),
        sm_operator_credentials: said.sm_operator_credentials,
        active: said.active,
        commercial_model: said.commercial_model,
        license_type: said.license_type,
        origin: said.origin,
        platform: said.platform,
        region: said.region,
    })
}

fn bad(problem: &str) -> Error {
    Error::Bad(format!("{DOING}: {problem}"))
}

fn decoded(context: &Value) -> Result<Context, Error> {
    let Value::Object(fields) = context else {
        return Err(bad("while decoding context: context is not an object"));
    };
    // `null` says nothing, as if the field were not there.
    let said = fields.iter().filter(|(_, value)| !value.is_null());
    let said: Value = said.map(|(name, value)| (name.clone(), value.clone())).collect();
    serde_path_to_error::deserialize(&said).map_err(|error| {
        let problem = match error.inner().to_string() {
            missing if missing.starts_with("missing field") => missing,
            _ => "has the wrong type".to_owned(),
        };
        bad(&format!("while decoding context: {}: {problem}", error.path()))
    })
}

/// Refuses what else the context says when it is too long to be kept and passed on.
fn bounded(context: &Context) -> Result<(), Error> {
    let credentials = context.sm_operator_credentials.as_ref();
    let texts = [
        ("tenant_id", context.tenant_id.as_deref()),
        ("commercial_model", context.commercial_model.as_deref()),
        ("license_type", context.license_type.as_deref()),
        ("origin", context.origin.as_deref()),
        ("platform", context.platform.as_deref()),
        ("region", context.region.as_deref()),
        ("sm_operator_credentials.clientid", credentials.map(|it| it.clientid.as_str())),
        ("sm_operator_credentials.clientsecret", credentials.map(|it| it.clientsecret.expose())),
        ("sm_operator_credentials.sm_url", credentials.map(|it| it.sm_url.as_str())),
        ("sm_operator_credentials.url", credentials.map(|it| it.url.as_str())),
        ("sm_operator_credentials.xsappname", credentials.map(|it| it.xsappname.as_str())),
    ];
    for (name, text) in texts {
        let text = text.unwrap_or_default();
        if text.len() > LONGEST || text.contains('\0') {
            let problem = format!("is longer than {LONGEST} bytes, or has a NUL");
            return Err(Error::Bad(format!("context.{name} {problem}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(context: &Value) -> String {
        read(Some(context)).unwrap_err().to_string()
    }

    #[test]
    fn accounts_and_the_person_are_needed() {
        let whole = json!({"globalaccount_id": "ga", "subaccount_id": "sa", "user_id": "Jo@Test", "new": 1});
        let without = |field: &str| {
            let mut context = whole.clone();
            context[field] = Value::Null;
            refusal(&context)
        };

        assert_eq!(read(Some(&whole)).unwrap().user_id, "jo@test");
        assert!(
            without("globalaccount_id").ends_with(": global accountID parameter cannot be empty")
        );
        assert!(without("subaccount_id").ends_with(": subAccountID parameter cannot be empty"));
        assert!(without("user_id").ends_with(": UserID parameter cannot be empty"));
        assert!(read(None).unwrap_err().to_string().ends_with("unexpected end of JSON input"));
    }

    #[test]
    fn a_wrong_field_is_named_and_its_value_is_not_repeated() {
        let credentials = refusal(&json!({"sm_operator_credentials": "hush"}));
        let incomplete = refusal(&json!({"sm_operator_credentials": {"clientid": "hush"}}));

        assert!(
            credentials.ends_with("sm_operator_credentials: has the wrong type"),
            "{credentials}"
        );
        assert!(incomplete.ends_with("missing field `clientsecret`"), "{incomplete}");
        assert!(!credentials.contains("hush") && !incomplete.contains("hush"));
        assert!(refusal(&json!({"active": "yes"})).contains("active: has the wrong type"));
    }

    #[test]
    fn accounts_that_no_database_keeps_are_refused() {
        let context =
            |id: &str| json!({"globalaccount_id": id, "subaccount_id": "sa", "user_id": "jo"});

        assert_eq!(refusal(&context("a\0b")), "context.globalaccount_id has control characters");
        assert_eq!(
            refusal(&context(&"x".repeat(256))),
            "context.globalaccount_id is longer than 255 bytes"
        );
    }
}
