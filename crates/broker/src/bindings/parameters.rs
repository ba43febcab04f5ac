//! The parameters of a bind: `expiration_seconds`, and nothing else.

use std::time::Duration;

use serde_json::Value;

use crate::{catalog::BindingOffer, instances::Error};

const EXPIRATION: &str = "expiration_seconds";

/// How long a binding is to be valid. What is not known is refused where the catalog is `closed`.
pub(super) fn lifetime(
    parameters: Option<&Value>,
    offer: &BindingOffer,
    closed: bool,
) -> Result<Duration, Error> {
    let bad = |problem: String| Err(Error::Bad(problem));
    let Some(Value::Object(fields)) = parameters else { return Ok(offer.usual) };
    let unknown = fields.keys().find(|name| *name != EXPIRATION);
    if let Some(unknown) = unknown.filter(|_| closed) {
        return bad(format!(
            "parameter \"{unknown}\" is not known: bindings take {EXPIRATION} only"
        ));
    }
    let seconds = match fields.get(EXPIRATION) {
        None | Some(Value::Null) => return Ok(offer.usual),
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => {
            // Whatever is below zero is below every bound, too.
            Duration::from_secs(number.as_u64().unwrap_or_default())
        }
        Some(other) => {
            let found = match other {
                Value::String(_) => "a string",
                Value::Number(_) => "a fraction",
                Value::Bool(_) => "a boolean",
                Value::Array(_) => "an array",
                _ => "an object",
            };
            return bad(format!("{EXPIRATION} is {found}, it must be an integer"));
        }
    };
    let (shortest, longest) = (offer.shortest.as_secs(), offer.longest.as_secs());
    if seconds > offer.longest {
        return bad(format!(
            "{EXPIRATION} cannot be greater than {longest}: it must be between {shortest} and {longest}"
        ));
    }
    if seconds < offer.shortest {
        return bad(format!(
            "{EXPIRATION} cannot be less than {shortest}: it must be between {shortest} and {longest}"
        ));
    }
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(parameters: &Value) -> Result<u64, String> {
        let offer = BindingOffer::default();
        let read = lifetime(Some(parameters), &offer, true);
        read.map(|it| it.as_secs()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_lifetime_is_between_the_bounds_and_an_error_names_both() {
        let bounds = "it must be between 600 and 7200";
        let refused = |why: &str| Err(format!("expiration_seconds cannot be {why}: {bounds}"));

        assert_eq!(read(&json!({})), Ok(600));
        assert_eq!(read(&json!({"expiration_seconds": null})), Ok(600));
        assert_eq!(read(&json!({"expiration_seconds": 600})), Ok(600));
        assert_eq!(read(&json!({"expiration_seconds": 7200})), Ok(7200));
        assert_eq!(read(&json!({"expiration_seconds": 7201})), refused("greater than 7200"));
        assert_eq!(read(&json!({"expiration_seconds": u64::MAX})), refused("greater than 7200"));
        for less in [json!(599), json!(0), json!(-1), json!(i64::MIN)] {
            assert_eq!(read(&json!({"expiration_seconds": less})), refused("less than 600"));
        }
    }

    #[test]
    fn what_is_no_integer_or_not_known_is_refused_by_name() {
        for (value, found) in [
            (json!("600"), "a string"),
            (json!(600.5), "a fraction"),
            (json!(true), "a boolean"),
            (json!([600]), "an array"),
            (json!({"s": 600}), "an object"),
        ] {
            let problem = format!("expiration_seconds is {found}, it must be an integer");
            assert_eq!(read(&json!({"expiration_seconds": value})), Err(problem));
        }
        let unknown = read(&json!({"expirationSeconds": 600})).unwrap_err();
        assert!(unknown.contains("\"expirationSeconds\" is not known"), "{unknown}");
        let open = lifetime(Some(&json!({"other": 1})), &BindingOffer::default(), false);
        assert_eq!(open.unwrap(), Duration::from_secs(600));
    }
}
