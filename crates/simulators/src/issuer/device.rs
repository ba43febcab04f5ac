//! The device flow of RFC 8628: a program without a browser waits while a person logs in elsewhere.

use std::{sync::Arc, time::Duration};

use aws_lc_rs::digest::{SHA256, digest};
use axum::{
    Json,
    extract::{Form, Query, State, rejection::FormRejection},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use jiff::SignedDuration;
use serde_json::json;

use super::{
    Grant, Issuer,
    credentials::{client, person},
    error::TokenError,
    grants::{Fields, granted_to},
    pages,
    records::{Decision, Device, Event, GrantRecord, digest_of, secret},
    registered_clients::RegisteredClient,
};

/// How long a person may take.
const LIFETIME: Duration = Duration::from_mins(10);
/// How often a device may ask at first, and by how much it must slow down; in seconds.
const INTERVAL: u64 = 5;
const TITLE: &str = "Log in for a device";
/// Letters that cannot be mistaken for each other and form no words.
const LETTERS: &[u8] = b"BCDFGHJKLMNPQRSTVWXZ";

/// Begins: the device gets a code for itself and one to show.
pub(super) async fn ask(
    State(issuer): State<Arc<Issuer>>,
    headers: HeaderMap,
    form: Result<Form<Vec<(String, String)>>, FormRejection>,
) -> Result<impl IntoResponse, TokenError> {
    let fields = Fields::new(form)?;
    let client = client(&issuer, &headers, &fields)?;
    if !client.grants.contains(&Grant::Device) {
        return Err(TokenError::UnauthorizedClient);
    }
    let (device_code, user_code) = (secret(), user_code());
    let now = issuer.clock.now();
    let device = Device {
        user_code: user_code.clone(),
        client: client.id.clone(),
        scope: fields.get("scope").map(str::to_owned),
        decision: Decision::Open,
        interval: INTERVAL,
        polled_at: None,
        given_at: now,
        until: now + LIFETIME,
    };
    let digest = digest_of(&device_code);
    issuer
        .known
        .change(|_| Ok::<_, TokenError>((Some(Event::DeviceAsked { digest, device }), ())))?;
    let page = format!("{}/device", issuer.url());
    let answer = json!({
        "device_code": device_code,
        "user_code": user_code,
        "verification_uri": page,
        "verification_uri_complete": format!("{page}?user_code={user_code}"),
        "expires_in": LIFETIME.as_secs(),
        "interval": INTERVAL,
    });
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)))
}

/// Shows the page on which the person logs in.
pub(super) async fn page(Query(pairs): Query<Vec<(String, String)>>) -> Response {
    let code = pairs.iter().find(|(name, _)| name == "user_code");
    let code = code.map(|(_, value)| value.as_str()).unwrap_or_default();
    pages::login(StatusCode::OK, TITLE, None, &[], &pages::user_code(code))
}

/// Takes what the person decided.
pub(super) async fn decide(
    State(issuer): State<Arc<Issuer>>,
    Form(pairs): Form<Vec<(String, String)>>,
) -> Response {
    let again = |status, reason: &str, code: &str| {
        pages::login(status, TITLE, Some(reason), &[], &pages::user_code(code))
    };
    let fields = match Fields::from_pairs(pairs) {
        Ok(fields) => fields,
        Err(error) => return again(StatusCode::BAD_REQUEST, &error.to_string(), ""),
    };
    let code = fields.get("user_code").unwrap_or_default().to_owned();
    match decided(&issuer, &fields, &code) {
        Ok(true) => {
            pages::message(StatusCode::OK, TITLE, "The device is logged in. You can go back to it.")
        }
        Ok(false) => pages::message(StatusCode::OK, TITLE, "The device is not let in."),
        Err(error @ TokenError::InvalidGrant(_)) => {
            again(StatusCode::UNAUTHORIZED, &error.to_string(), &code)
        }
        Err(error) => again(StatusCode::BAD_REQUEST, &error.to_string(), &code),
    }
}

fn decided(issuer: &Issuer, fields: &Fields, code: &str) -> Result<bool, TokenError> {
    let user = person(issuer, fields)?;
    let allowed = fields.get("decision") != Some("deny");
    let code = code.trim().to_ascii_uppercase();
    let now = issuer.clock.now();
    issuer.known.change(|known| {
        let open = known.devices.iter().find(|(_, device)| {
            device.user_code == code && device.decision == Decision::Open && now < device.until
        });
        let (digest, device) =
            open.ok_or(TokenError::InvalidRequest("no device waits with this code"))?;
        let client =
            issuer.find_client(known, &device.client).ok_or(TokenError::UnauthorizedClient)?;
        let decision = if allowed {
            Decision::Allowed(GrantRecord {
                client: client.id.clone(),
                user: user.name.clone(),
                scopes: granted_to(&client, &user, device.scope.as_deref())?,
                nonce: None,
            })
        } else {
            Decision::Denied
        };
        Ok((Some(Event::DeviceDecided { digest: digest.clone(), decision }), allowed))
    })
}

/// Answers a device that asks whether the person has decided.
pub(super) fn redeem(
    issuer: &Issuer,
    client: &RegisteredClient,
    fields: &Fields,
) -> Result<GrantRecord, TokenError> {
    let digest = digest_of(fields.required("device_code")?);
    let now = issuer.clock.now();
    // A refusal that is remembered, such as asking too often, is inside of the answer.
    issuer.known.change(|known| {
        let device = known.devices.get(&digest).filter(|device| device.client == client.id);
        let device = device.ok_or(TokenError::InvalidGrant("the device code is not known"))?;
        if now >= device.until {
            return Err(TokenError::ExpiredToken);
        }
        let used = Event::DeviceUsed { digest: digest.clone() };
        match &device.decision {
            Decision::Allowed(granted) => Ok((Some(used), Ok(granted.clone()))),
            Decision::Denied => Ok((Some(used), Err(TokenError::AccessDenied))),
            Decision::Open => {
                let pause = SignedDuration::from_secs(device.interval.cast_signed());
                let early = device.polled_at.is_some_and(|at| now.duration_since(at) < pause);
                let interval = device.interval + if early { INTERVAL } else { 0 };
                let polled = Event::DevicePolled { digest: digest.clone(), at: now, interval };
                let pending =
                    if early { TokenError::SlowDown } else { TokenError::AuthorizationPending };
                Ok((Some(polled), Err(pending)))
            }
        }
    })?
}

fn user_code() -> String {
    let random = digest(&SHA256, secret().as_bytes());
    let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
    let letters: String = random.as_ref()[..8].iter().map(letter).collect();
    let (first, second) = letters.split_at(4);
    format!("{first}-{second}")
}
