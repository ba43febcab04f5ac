//! `adminkubeconfig`: a kubeconfig with all rights in the cluster of a Shoot, for a while.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use cluster::{Answer, Call, Catalog, Cause, Identity, Status, Where};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{kinds, settings::Settings};

/// In seconds: when nothing is asked for, the least, and the most that is given.
const DEFAULT: i64 = 3_600;
const LEAST: i64 = 600;
const MOST: i64 = 86_400;
/// The most that may be asked for.
const ASKED: i64 = 1 << 32;

/// Adds it to a catalog.
pub(super) fn add(catalog: Catalog, place: Where, settings: &Settings) -> Catalog {
    let project = settings.project.clone();
    catalog.subresource(place, kinds::SHOOTS, "adminkubeconfig", move |call| {
        let project = project.clone();
        async move { answer(&project, &call) }
    })
}

fn answer(project: &str, call: &Call) -> Answer {
    let shoot = call.object["metadata"]["name"].as_str().unwrap_or_default();
    let asked = lifetime(shoot, &call.body)?;
    let addresses = call.object["status"]["advertisedAddresses"].as_array();
    let first = addresses.into_iter().flatten().find_map(|address| address["name"].as_str());
    let Some(address) = first else {
        let why =
            "no suitable advertised address: the API server of the shoot is not announced yet";
        return Err(invalid(shoot, Cause::invalid("status.advertisedAddresses", "", why)));
    };
    let who = Identity {
        user: format!("gardener.cloud:admin:{}", call.user.user),
        groups: vec!["system:masters".to_owned(), "gardener.cloud:project:admins".to_owned()],
    };
    let context = format!("garden-{project}--{shoot}-{address}");
    let (kubeconfig, until) = issue(call, shoot, &context, &who, asked.min(MOST))?;
    let mut answer = call.body.clone();
    answer["apiVersion"] = json!("authentication.gardener.cloud/v1alpha1");
    answer["kind"] = json!("AdminKubeconfigRequest");
    answer["metadata"] = json!({"creationTimestamp": null});
    answer["spec"] = json!({"expirationSeconds": asked});
    answer["status"] = json!({
        "kubeconfig": STANDARD.encode(kubeconfig),
        "expirationTimestamp": until.to_string(),
    });
    Ok((201, answer))
}

fn issue(
    call: &Call,
    shoot: &str,
    context: &str,
    who: &Identity,
    seconds: i64,
) -> Result<(String, Timestamp), Status> {
    let valid = SignedDuration::from_secs(seconds);
    // A Shoot with an address but without a cluster has lost its authority.
    let missing = |status: Status| match status.code {
        404 => Status::internal(format!("could not find the CA of shoot {shoot}")),
        _ => status,
    };
    let kubeconfig =
        call.server.kubeconfig_with_certificate(shoot, context, who, valid).map_err(missing)?;
    Ok((kubeconfig, end(call, shoot, who, valid)?))
}

/// When something ends that begins now: by the server's clock, which it tells only in what it issues.
fn end(
    call: &Call,
    shoot: &str,
    who: &Identity,
    valid: SignedDuration,
) -> Result<Timestamp, Status> {
    let token = call.server.token(shoot, who, Some(valid))?;
    let claims = token.split('.').nth(1).and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let claims = claims.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let until = claims.and_then(|claims| Timestamp::from_second(claims["exp"].as_i64()?).ok());
    until.ok_or_else(|| Status::internal("a token without an end was issued"))
}

fn lifetime(shoot: &str, body: &Value) -> Result<i64, Status> {
    let field = "spec.expirationSeconds";
    let asked = match &body["spec"]["expirationSeconds"] {
        Value::Null => return Ok(DEFAULT),
        Value::Number(number) => number.as_i64().unwrap_or(i64::MAX),
        other => {
            let cause = Cause::invalid(field, &other.to_string(), "must be a number of seconds");
            return Err(invalid(shoot, cause));
        }
    };
    let why = match asked {
        ..LEAST => "may not specify a duration less than 10 minutes",
        LEAST..=ASKED => return Ok(asked),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    Err(invalid(shoot, Cause::invalid(field, &asked.to_string(), why)))
}

fn invalid(shoot: &str, cause: Cause) -> Status {
    let kind = cluster::Kind::new(
        "authentication.gardener.cloud",
        "v1alpha1",
        "adminkubeconfigs",
        "AdminKubeconfigRequest",
    );
    Status::invalid(&kind, shoot, &[cause])
}
