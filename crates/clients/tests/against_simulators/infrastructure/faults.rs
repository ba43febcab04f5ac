//! Every call of the four clients against every status and every way in which a connection breaks.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use clients::{
    CallLimits, Error, Kind,
    aws::{Aws, Market},
    azure::Azure,
    cis::{self, Edition},
    reconciler::{Reconciler, Status},
};
use futures::future::join_all;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use url::Url;

use super::{
    payload::cluster,
    support::{answering, behaving, nobody, noon},
    world::{self, cis_gates, cis_settings},
};

type CallFuture = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// A call, whether it only looks, and whether a thing that is not there is fine.
struct Call {
    name: &'static str,
    prepared: fn(Url, Url, CallLimits) -> Box<dyn Fn() -> CallFuture>,
    reads: bool,
    absent_is_fine: bool,
}

/// A [`Call`] of a client that `$build` makes, from the addresses of the system and of the issuer.
macro_rules! call {
    ($name:literal, $reads:literal, $fine:literal, $build:ident, |$client:ident| $made:expr) => {
        Call {
            name: $name,
            prepared: |url, issuer, limits| {
                let client = $build(url, issuer, limits);
                Box::new(move || {
                    let $client = client.clone();
                    Box::pin(async move { $made.await.map(|_| ()) })
                })
            },
            reads: $reads,
            absent_is_fine: $fine,
        }
    };
}

fn reconciler(url: Url, _: Url, limits: CallLimits) -> Reconciler {
    world::reconciler(url, limits, &noon())
}

fn azure(url: Url, issuer: Url, limits: CallLimits) -> Azure {
    world::azure(issuer, url, "s", limits, &noon())
}

fn aws(url: Url, _: Url, limits: CallLimits) -> Aws {
    world::aws(url, limits, &noon())
}

fn accounts(url: Url, issuer: Url, limits: CallLimits) -> cis::Accounts {
    let (gate, tokens) = cis_gates(limits, &noon());
    cis::Accounts::through(gate, tokens, &cis_settings(url, issuer, 10)).unwrap()
}

fn entitlements(url: Url, issuer: Url, limits: CallLimits) -> cis::Entitlements {
    let (gate, tokens) = cis_gates(limits, &noon());
    cis::Entitlements::through(gate, tokens, &cis_settings(url, issuer, 10)).unwrap()
}

fn events(url: Url, issuer: Url, limits: CallLimits) -> cis::Events {
    let (gate, tokens) = cis_gates(limits, &noon());
    cis::Events::through(gate, tokens, &cis_settings(url, issuer, 10)).unwrap()
}

const ONCE: cis::Patience = cis::Patience {
    retries: 0,
    pause: Duration::ZERO,
    between: Duration::ZERO,
    total: Duration::from_secs(60),
};

const HOUR: Duration = Duration::from_hours(1);
const NO_TAGS: &BTreeMap<String, String> = &BTreeMap::new();

fn calls() -> Vec<Call> {
    vec![
        call!("apply", false, false, reconciler, |it| it.apply_cluster(&cluster("r-1"))),
        call!("status", true, true, reconciler, |it| it.status("r-1", 1)),
        call!("latest status", true, true, reconciler, |it| it.latest_status("r-1")),
        call!("force status", false, false, reconciler, |it| it
            .force_status("r-1", &Status::Ready)),
        call!("delete cluster", false, true, reconciler, |it| it.delete_cluster("r-1")),
        call!("status changes", true, false, reconciler, |it| it.status_changes("r-1", HOUR)),
        call!("subaccount", true, true, accounts, |it| it.subaccount("sa")),
        call!("entitlement", true, true, entitlements, |it| it.amount("aws", "sa")),
        call!("public", true, false, events, |it| it.deleted_subaccounts(Edition::Public, ONCE)),
        call!("central", true, false, events, |it| it.deleted_subaccounts(Edition::Central, ONCE)),
        call!("cursor", true, false, events, |it| {
            it.deleted_subaccounts(Edition::CentralCursor, ONCE)
        }),
        call!("put group", false, false, azure, |it| it.put_group("g", "west", NO_TAGS)),
        call!("groups", true, false, azure, |it| it.groups()),
        call!("delete group", false, true, azure, |it| it.delete_group("g")),
        call!("put namespace", false, false, azure, |it| {
            it.put_namespace("g", "namespace", "west", NO_TAGS)
        }),
        call!("namespaces", true, false, azure, |it| it.namespaces("g")),
        call!("keys", false, false, azure, |it| it.keys("g", "namespace")),
        call!("azure zones", true, false, azure, |it| it.zones("west", "m")),
        call!("azure clean-up", true, false, azure, |it| it.clean_up()),
        call!("regions", false, false, aws, |it| it.regions("eu-central-1")),
        call!("volumes", false, false, aws, |it| it.volumes("eu-central-1")),
        call!("delete volume", false, true, aws, |it| it.delete_volume("eu-central-1", "vol-1")),
        call!("aws zones", false, false, aws, |it| it.zones("eu-central-1", "m")),
        call!("aws clean-up", false, false, aws, |it| it.clean_up(Market::Global)),
    ]
}

async fn issuer() -> Url {
    answering(|_, _| Json(json!({"access_token": "t", "expires_in": 600})).into_response()).await.0
}

fn plain(status: u16, retry_after: Option<&str>) -> Response {
    let mut headers = HeaderMap::new();
    if let Some(wait) = retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from_str(wait).unwrap());
    }
    (StatusCode::from_u16(status).unwrap(), headers, "<html>no</html>").into_response()
}

#[tokio::test]
async fn every_status_has_its_class_in_every_call() {
    let wait = Some(Duration::from_secs(7));
    let table = [
        (400, None, Kind::Refused { status: 400 }),
        (401, None, Kind::Unauthorized),
        (403, None, Kind::Unauthorized),
        (404, None, Kind::NotFound),
        (408, None, Kind::Unavailable),
        (409, None, Kind::Conflict),
        (422, None, Kind::Refused { status: 422 }),
        (425, None, Kind::Unavailable),
        (429, None, Kind::Throttled { retry_after: None }),
        (429, Some("7"), Kind::Throttled { retry_after: wait }),
        (429, Some("Thu, 01 Jan 2026 12:00:07 GMT"), Kind::Throttled { retry_after: wait }),
        (500, None, Kind::Unavailable),
        (502, None, Kind::Unavailable),
        (503, Some("7"), Kind::Throttled { retry_after: wait }),
        (504, None, Kind::Unavailable),
    ];
    let issuer = issuer().await;
    let next = Arc::new(Mutex::new((200, None)));
    let current = next.clone();
    let (url, heard) = answering(move |_, _| {
        let (status, retry_after) = *current.lock().unwrap();
        plain(status, retry_after)
    })
    .await;

    for call in calls() {
        let made = (call.prepared)(url.clone(), issuer.clone(), CallLimits::DEFAULT);
        for (status, retry_after, kind) in table {
            // A refusal in between: the system is alive, and calls are not held back.
            *next.lock().unwrap() = (400, None);
            made().await.expect_err(call.name);
            *next.lock().unwrap() = (status, retry_after);
            let before = heard.len();
            let called = made().await;

            assert!(heard.len() > before, "{} was not made", call.name);
            if kind == Kind::NotFound && call.absent_is_fine {
                called.unwrap_or_else(|error| panic!("{}: {error}", call.name));
                continue;
            }
            let error = called.expect_err(call.name);
            assert_eq!(error.kind, kind, "{} {status}", call.name);
            assert!(!error.doing.is_empty());
        }
    }
}

/// How a connection breaks.
#[derive(Debug, Clone, Copy)]
enum Breaks {
    AtOnce,
    InTheHeaders,
    InTheBody,
    Never,
}

async fn broken(mut stream: TcpStream, breaks: Breaks) {
    let _ = stream.read(&mut [0; 8_192]).await;
    match breaks {
        Breaks::AtOnce => {}
        Breaks::InTheHeaders => drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-le").await),
        Breaks::InTheBody => {
            let text = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"a\":";
            drop(stream.write_all(text).await);
        }
        Breaks::Never => std::future::pending().await,
    }
}

#[tokio::test]
async fn every_broken_connection_is_worth_another_try() {
    let issuer = issuer().await;
    let next = Arc::new(Mutex::new(Breaks::AtOnce));
    let current = next.clone();
    let url = behaving(move |stream| broken(stream, *current.lock().unwrap())).await;
    let calls = calls();
    let limits = CallLimits { call: Duration::from_secs(2), ..CallLimits::DEFAULT };
    let prepare = |url: &Url| -> Vec<_> {
        calls.iter().map(|call| (call.prepared)(url.clone(), issuer.clone(), limits)).collect()
    };

    let nowhere = prepare(&nobody().await);
    for (call, refused) in calls.iter().zip(join_all(nowhere.iter().map(|made| made())).await) {
        assert_eq!(refused.expect_err(call.name).kind, Kind::Unavailable, "{}", call.name);
    }
    let made = prepare(&url);
    // One less than what makes a client hold back.
    for breaks in [Breaks::AtOnce, Breaks::InTheHeaders, Breaks::InTheBody, Breaks::Never] {
        *next.lock().unwrap() = breaks;
        let called = join_all(made.iter().map(|made| made())).await;

        for (call, called) in calls.iter().zip(called) {
            let kind = if call.reads { Kind::Unavailable } else { Kind::AnswerLost };
            assert_eq!(called.expect_err(call.name).kind, kind, "{} {breaks:?}", call.name);
        }
    }
}

#[tokio::test]
async fn bodies_that_make_no_sense_or_never_end_are_malformed() {
    let issuer = issuer().await;
    let bodies = ["{\"half\":", "[]", "<html>", "null", "{\"value\": 5, \"events\": 5}"];
    let large = "x".repeat(100_000);
    let limits = CallLimits { body: 50_000, ..CallLimits::DEFAULT };

    let next = Arc::new(Mutex::new(String::new()));
    let current = next.clone();
    let (url, _) = answering(move |_, _| current.lock().unwrap().clone().into_response()).await;
    for call in calls() {
        let made = (call.prepared)(url.clone(), issuer.clone(), limits);
        for body in bodies.into_iter().chain([large.as_str()]) {
            body.clone_into(&mut next.lock().unwrap());
            // Nobody reads what a deletion answers, and what has no fields says nothing.
            let unread = matches!(call.name, "delete cluster" | "delete group");
            let optional = matches!(call.name, "subaccount" | "keys");
            let fieldless = optional && (body == "[]" || body.contains("value"));
            let ignored = (unread || fieldless) && body.len() < 50_000;
            match made().await {
                Ok(()) => assert!(ignored, "{} {body}", call.name),
                Err(error) => assert_eq!(error.kind, Kind::Malformed, "{} {error}", call.name),
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_its_turn_to_the_next() {
    let (came, mut coming) = tokio::sync::mpsc::unbounded_channel();
    let stalled = behaving(move |stream| {
        let came = came.clone();
        async move {
            came.send(()).unwrap();
            let _stream = stream;
            std::future::pending::<()>().await;
        }
    })
    .await;
    let limits = CallLimits { at_once: 1, call: Duration::from_mins(10), ..CallLimits::DEFAULT };
    let client = world::reconciler(stalled, limits, &noon());

    // Only a call that has its turn connects.
    for _ in 0..20 {
        tokio::select! {
            ended = client.latest_status("r-1") => panic!("{ended:?}"),
            called = coming.recv() => called.unwrap(),
        }
    }
}
