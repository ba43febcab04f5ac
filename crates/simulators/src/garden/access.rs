//! `adminkubeconfig` and `viewerkubeconfig`: a kubeconfig for the cluster of a Shoot with all rights, or with those to
//! look at things, for a while.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use cluster::{Answer, Call, Catalog, Cause, Identity, Status, Where};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{kinds, settings::Settings, version::Version};

/// In seconds: when nothing is asked for, the least, and the most that is given.
const DEFAULT: i64 = 3_600;
const LEAST: i64 = 600;
const MOST: i64 = 86_400;
/// The most that may be asked for.
const ASKED: i64 = 1 << 32;

/// One of the two: the subresource, the kind of its requests, and the group that its users are in.
#[derive(Clone, Copy)]
struct Sort {
    name: &'static str,
    kind: &'static str,
    group: &'static str,
}

const ADMIN: Sort =
    Sort { name: "adminkubeconfig", kind: "AdminKubeconfigRequest", group: "system:masters" };
const VIEWER: Sort = Sort {
    name: "viewerkubeconfig",
    kind: "ViewerKubeconfigRequest",
    group: "gardener.cloud:system:viewers",
};

/// Adds them to a catalog, as far as the version has them.
pub(super) fn add(catalog: Catalog, place: &Where, settings: &Settings) -> Catalog {
    let newer = settings.version >= Version::V1_117;
    let sorts = [ADMIN].into_iter().chain(newer.then_some(VIEWER));
    sorts.fold(catalog, |catalog, sort| {
        let project = settings.project.clone();
        catalog.subresource(place.clone(), kinds::SHOOTS, sort.name, move |call| {
            let project = project.clone();
            async move { answer(sort, &project, &call) }
        })
    })
}

fn answer(sort: Sort, project: &str, call: &Call) -> Answer {
    let shoot = call.object["metadata"]["name"].as_str().unwrap_or_default();
    let asked = lifetime(sort, shoot, &call.body)?.min(MOST);
    let addresses = call.object["status"]["advertisedAddresses"].as_array();
    let first = addresses.into_iter().flatten().find_map(|address| address["name"].as_str());
    let Some(address) = first else {
        let why = "no suitable advertised address for kube-apiserver found in .status.advertisedAddresses";
        return Err(invalid(sort, shoot, Cause::invalid("status.status", "null", why)));
    };
    let who = Identity { user: call.user.user.clone(), groups: vec![sort.group.to_owned()] };
    let context = format!("garden-{project}--{shoot}-{address}");
    let (kubeconfig, until) = issue(call, shoot, &context, &who, asked)?;
    let mut answer = call.body.clone();
    answer["apiVersion"] = json!("authentication.gardener.cloud/v1alpha1");
    answer["kind"] = json!(sort.kind);
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

fn lifetime(sort: Sort, shoot: &str, body: &Value) -> Result<i64, Status> {
    let field = "spec.expirationSeconds";
    let asked = match &body["spec"]["expirationSeconds"] {
        Value::Null => return Ok(DEFAULT),
        Value::Number(number) => number.as_i64().unwrap_or(i64::MAX),
        other => {
            let cause = Cause::invalid(field, &other.to_string(), "must be a number of seconds");
            return Err(invalid(sort, shoot, cause));
        }
    };
    let why = match asked {
        ..LEAST => "may not specify a duration less than 10 minutes",
        LEAST..=ASKED => return Ok(asked),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    Err(invalid(sort, shoot, Cause::invalid(field, &asked.to_string(), why)))
}

fn invalid(sort: Sort, shoot: &str, cause: Cause) -> Status {
    let kind =
        cluster::Kind::new("authentication.gardener.cloud", "v1alpha1", sort.name, sort.kind);
    Status::invalid(&kind, shoot, &[cause])
}
